"""Where the published WebVoyager files are on this machine, if they are: they are not part of this repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.benchmarks.webvoyager.data import DATA_FILE, DATA_VARIABLE

_BESIDE_THE_CLONE = Path(__file__).resolve().parents[3] / "shared" / "data" / "webvoyager"
DIRECTORY = Path(os.environ.get(DATA_VARIABLE) or _BESIDE_THE_CLONE)

needs_published_files = pytest.mark.skipif(
    not (DIRECTORY / DATA_FILE).is_file(),
    reason=f"the published WebVoyager files are not here: run `harness fetch webvoyager` and set {DATA_VARIABLE}",
)
