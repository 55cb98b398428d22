#!/usr/bin/env bash
# Make sure that there is a Chromium: a configured or installed one, else Playwright's own, else apt. Says which.
set -euo pipefail
cd "$(dirname "$0")/.."
found() { .venv/bin/python -c '
from harness.envs.chromium import find_chromium
from harness.errors import NotReadyError
import sys
try:
    browser = find_chromium()
except NotReadyError as error:
    sys.exit(1)
print(f"browser: {browser.name} ({browser.origin}: {browser.path})")'; }

found && exit 0
if [ -n "${HARNESS_CHROMIUM:-}" ]; then
  echo "browser: HARNESS_CHROMIUM=$HARNESS_CHROMIUM is no working Chromium; unset it or mend it" >&2; exit 3
fi
echo "browser: none installed, trying Playwright's own"
if timeout 300 .venv/bin/playwright install chromium >/dev/null 2>&1 && found; then exit 0; fi
if command -v apt-get >/dev/null; then
  sudo=""; [ "$(id -u)" = 0 ] || sudo="sudo -n"
  # Ubuntu's `chromium` is a snap wrapper; the headless shell is Debian's and the faster of the two.
  for package in chromium-headless-shell chromium; do
    echo "browser: trying apt install $package"
    if { $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package"; } >/dev/null 2>&1 && found; then exit 0; fi
  done
fi
echo "browser: no Chromium to be had; install one and set HARNESS_CHROMIUM=/path/to/chromium" >&2
exit 3
