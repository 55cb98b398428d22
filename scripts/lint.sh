#!/usr/bin/env bash
# Style, types and import contracts, as CI checks them.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
.venv/bin/lint-imports --no-cache # a cached graph misses packages that were added since
