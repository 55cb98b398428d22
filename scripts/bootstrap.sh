#!/usr/bin/env bash
# Make .venv in this clone and install the package with the given extras: scripts/bootstrap.sh [extra …]
# Does nothing when the same request was fulfilled before. Needs Python >= 3.11; on Debian/Ubuntu as root it adds python3-venv.
set -euo pipefail
cd "$(dirname "$0")/.."
extras=$(IFS=,; echo "$*")
stamp=.venv/.bootstrapped

python=""
for candidate in "${PYTHON:-}" python3.12 python3.11 python3.13 python3; do
  [ -n "$candidate" ] && command -v "$candidate" >/dev/null &&
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || { echo "bootstrap: no Python >= 3.11 found; install one or set PYTHON=/path/to/python" >&2; exit 3; }

want="$extras $("$python" -V) $(cat pyproject.toml scripts/overrides.txt scripts/bootstrap.sh | sha256sum | cut -d' ' -f1)"
if [ -x .venv/bin/harness ] && grep -qxF "$want" "$stamp" 2>/dev/null; then exit 0; fi

if [ ! -x .venv/bin/python ]; then
  echo "bootstrap: $("$python" -V) → .venv"
  if ! "$python" -m venv .venv >/dev/null 2>&1; then
    # Debian and Ubuntu ship venv apart from Python.
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
      echo "bootstrap: adding python3-venv with apt"
      { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv; } >/dev/null 2>&1
      rm -rf .venv && "$python" -m venv .venv
    else
      echo "bootstrap: this Python has no venv; install it (Debian/Ubuntu: apt install python3-venv)" >&2; exit 3
    fi
  fi
fi
echo "bootstrap: installing dynaweb-harness${extras:+ [$extras]}"
.venv/bin/python -m pip install --quiet --disable-pip-version-check uv 2>/dev/null ||
  .venv/bin/python -m pip install --disable-pip-version-check uv
# Overrides only where a pin of browsergym-core cannot be met (see the file).
override=()
.venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 13))' && override=(--override scripts/overrides.txt)
# pip takes a CPU build of torch where the machine offers one (as here); uv would fetch 3 GB of CUDA.
if [[ ",$extras," == *,train,* ]] && ! .venv/bin/python -c 'import torch' 2>/dev/null; then
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "$(sed -n 's/^ *"\(torch==[^"]*\)".*/\1/p' pyproject.toml)"
fi
.venv/bin/uv pip install --quiet --python .venv/bin/python "${override[@]}" -e ".${extras:+[$extras]}"
echo "$want" >> "$stamp"
