"""A file system so small that a test can fill it: a tmpfs of its own, since a quota on the real disk would hit everybody."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """`size` as mount takes it: 256k, 2m. Skips the test where this user may not mount."""
    mount = folder / "disk"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(mount)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"a disk to fill needs the right to mount a tmpfs, run as root: {made.stderr.strip()}")
    try:
        yield mount
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=True)  # lazily: a server of the test may still be there
