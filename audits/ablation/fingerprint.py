"""What an input holds, as one SHA-256: equal content gives equal keys, wherever it lies and whenever it was made.

Left out are hidden files, locks and a run's index: the index is a cache of its episodes (results.index).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.errors import UsageError
from results.files import LOCK
from results.reader import INDEX

_LEFT_OUT = frozenset({INDEX, LOCK})


def fingerprints(inputs: Mapping[str, str], *, absent: str | None = None) -> dict[str, str]:
    """Name → hash. A path that is not there gets `absent`, to plan with; without it, raises `UsageError`."""
    found = {}
    for name, path in inputs.items():
        if absent is not None and not Path(path).exists():
            found[name] = absent
            continue
        try:
            found[name] = fingerprint(Path(path))
        except OSError as error:
            raise UsageError(
                f"input {name}: cannot read {error.filename or path}: {error.strerror or error}",
                fix=f"make it first, or --input {name}=PATH",
            ) from None
    return found


def fingerprint(path: Path) -> str:
    """Hash of a file's bytes, or of the names and bytes of all files below a directory. Raises `OSError`."""
    if path.is_file():
        return _digest(path)
    total = hashlib.sha256()
    for name, file in _files(path):
        total.update(f"{name}\0{_digest(file)}\n".encode())
    return total.hexdigest()


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.iterdir()):
        if path.name.startswith(".") or path.name in _LEFT_OUT:
            continue
        if path.is_dir():
            yield from ((f"{path.name}/{name}", file) for name, file in _files(path))
        elif path.is_file():
            yield path.name, path


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
