"""What this machine and this checkout are, for the manifest: versions, commit, hardware. No host or user names."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

import psutil

import harness
from results.manifest import Environment

PACKAGES = (
    "dynaweb-harness", "browsergym-core", "browsergym-miniwob", "browsergym-webarena", "miniwob", "playwright",
    "pydantic", "webarena-verified", "numpy", "pandas", "scipy", "statsmodels",
)  # fmt: skip
"""Distributions whose version may change a number."""


def collect_environment(browser: str = "", browser_version: str = "") -> Environment:
    """This process's environment. The caller names the browser, because only it knows which one it launched."""
    commit, dirty = git_state(Path(harness.__file__).resolve().parent)
    return Environment(
        python=platform.python_version(),
        packages=package_versions(PACKAGES),
        browser=browser,
        browser_version=browser_version,
        commit=commit,
        dirty=dirty,
        system=f"{platform.system()} {platform.machine()}",
        cpu=cpu_model(),
        cores=os.cpu_count() or 0,
        ram_gib=round(psutil.virtual_memory().total / 2**30, 1),
    )


def package_versions(names: tuple[str, ...]) -> dict[str, str]:
    """Versions of the installed ones among `names`."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_state(directory: Path) -> tuple[str | None, bool | None]:
    """(commit, whether tracked files differ from it) of the checkout that holds `directory`; Nones if there is none."""
    commit = _git(directory, "rev-parse", "HEAD")
    if commit is None:
        return None, None
    if _git(directory, "ls-files", "--error-unmatch", ".") is None:
        return None, None  # an installed copy inside somebody else's repository
    changes = _git(directory, "status", "--porcelain", "--untracked-files=no")
    return commit, None if changes is None else bool(changes)


def cpu_model() -> str:
    """The processor's name, as Linux gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _git(directory: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(directory), *arguments], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
