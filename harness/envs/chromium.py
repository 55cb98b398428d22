"""Find a Chromium: the configured path, else an installed one, else Playwright's own.

`chromium-headless-shell` comes first among the installed: it starts and resets about twice as fast as the full browser and
needs two thirds of the memory (docs/performance.md). Installing one is scripts/ensure_chromium.sh's job, not ours.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Literal

from harness.errors import NotReadyError
from harness.types import Record

INSTALLED = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ENVIRONMENT_VARIABLE = "HARNESS_CHROMIUM"
FIX = (
    "run scripts/ensure_chromium.sh (it tries apt, then Playwright), install the `chromium` package, "
    f"or set [browser] executable_path / {ENVIRONMENT_VARIABLE}"
)


class Chromium(Record):
    """A browser binary, where it was found, and the version it reports."""

    path: str
    origin: Literal["config", "environment", "installed", "playwright"]
    version: str

    @property
    def name(self) -> str:
        return f"{Path(self.path).name} {self.version}"


def find_chromium(configured: str = "") -> Chromium:
    """The Chromium to use. Raises NotReadyError if there is none, or if the one asked for does not start."""
    if configured:
        return _asked_for(configured, "config")
    if from_environment := os.environ.get(ENVIRONMENT_VARIABLE):
        return _asked_for(from_environment, "environment")
    for name in INSTALLED:
        if (path := shutil.which(name)) and (version := _version(path)):
            return Chromium(path=path, origin="installed", version=version)
    if (path := _playwright_chromium()) and (version := _version(path)):
        return Chromium(path=path, origin="playwright", version=version)
    raise NotReadyError("no Chromium found", fix=FIX)


def _asked_for(path: str, origin: Literal["config", "environment"]) -> Chromium:
    resolved = shutil.which(path)
    if not resolved:
        raise NotReadyError(f"no executable browser at {path!r} (from {origin})", fix=FIX)
    version = _version(resolved)
    if not version:
        raise NotReadyError(f"{path!r} (from {origin}) does not answer --version like a Chromium", fix=FIX)
    return Chromium(path=resolved, origin=origin, version=version)


def _version(path: str) -> str:
    """`156.0.8078.73` of `Chromium 156.0.8078.73 built on …`; empty if the binary does not run or is something else."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = answer.stdout.split()
    return next((word for word in words if word[:1].isdigit() and word.count(".") == 3), "")


def _playwright_chromium() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        path = driver.chromium.executable_path
    return path if Path(path).exists() else ""
