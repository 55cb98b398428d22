"""The repository as tests of its files see it."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("harness", "training", "audits", "results", "dashboards")


def files(*patterns: str) -> list[Path]:
    """Files of the repository that match, relative to `ROOT`: all that git knows or would add."""
    # safe.directory: a container often runs the tests as another user than the checkout's owner
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return sorted({Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()})


def text_of(path: Path) -> str | None:
    """The file's text; None for a binary one."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
