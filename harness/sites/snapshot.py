"""Files of a first state, and how others are made equal to them while a server runs.

    finish(files) → Manifest           after a build: databases checked and closed, every file listed
    restore(golden, manifest, data)    databases through SQLite's own backup, files by replacing those that differ

A database is not copied as a file: SQLite's backup takes its locks, so that a request in flight sees the old state or the
first one, never half of each, and open connections notice. Other files are equal when size and modification time are, as
copies keep the time. What is not in the manifest is removed.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from harness.types import Record

_MAGIC = b"SQLite format 3\x00"
_SIDECARS = ("-journal", "-wal", "-shm")
LOCK_SECONDS = 10.0
"""How long a restore waits for a request that is writing."""
_RETRY_SECONDS = 0.005


class Manifest(Record):
    """What a first state consists of. Paths are relative to its folder, with slashes."""

    folders: tuple[str, ...]
    databases: tuple[str, ...]
    files: dict[str, tuple[int, int]]
    """path → (bytes, modification time in ns), databases aside."""


def finish(files: Path) -> Manifest:
    """List a freshly built state. Its databases are put into rollback-journal mode, checked, and left as one file each."""
    databases = sorted(path for path in _walk(files) if _is_database(files / path))
    for database in databases:
        with closing(sqlite3.connect(files / database)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
            (word,) = connection.execute("PRAGMA quick_check").fetchone()
            if word != "ok":
                raise sqlite3.DatabaseError(f"{database}: {word}")
    folders = sorted(path.relative_to(files).as_posix() for path in files.rglob("*") if path.is_dir())
    return Manifest(
        folders=tuple(folders),
        databases=tuple(databases),
        files={path: known for path, known in sorted(_walk(files).items()) if path not in databases},
    )


def restore(golden: Path, manifest: Manifest, data: Path) -> None:
    """Make `data` equal to `golden`. An interrupted or failed restore is completed by the next one."""
    data.mkdir(parents=True, exist_ok=True)
    for folder in manifest.folders:
        if not os.path.isdir(f"{data}/{folder}"):  # noqa: PTH112  (as in _walk)
            (data / folder).mkdir(parents=True, exist_ok=True)
    keep = {*manifest.files, *manifest.databases, *(name + end for name in manifest.databases for end in _SIDECARS)}
    present = _walk(data)
    for path in present.keys() - keep:
        (data / path).unlink(missing_ok=True)
    for path, known in manifest.files.items():
        if present.get(path) != known:
            _replace(golden / path, data / path)
    for path in manifest.databases:
        _restore_database(golden / path, data / path)


def _restore_database(golden: Path, live: Path) -> None:
    try:
        _backup(golden, live)
    except sqlite3.DatabaseError as error:
        # Not a database any more: nothing in it can be rescued by SQLite, so nobody is using it well either.
        if isinstance(error, sqlite3.OperationalError):
            raise
        for end in ("", *_SIDECARS):
            live.with_name(live.name + end).unlink(missing_ok=True)
        _backup(golden, live)


def _backup(golden: Path, live: Path) -> None:
    deadline = time.monotonic() + LOCK_SECONDS

    def watch(*_: int) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{live.name} has been locked for {LOCK_SECONDS:g} s")

    # immutable: the golden file is never written, so it needs no locks and gets no sidecar files.
    source = sqlite3.connect(f"{golden.as_uri()}?mode=ro&immutable=1", uri=True)
    with closing(source), closing(sqlite3.connect(live, timeout=LOCK_SECONDS)) as target:
        target.execute("PRAGMA synchronous=OFF")  # a crash of the machine costs nothing: the golden state is there
        source.backup(target, progress=watch, sleep=_RETRY_SECONDS)


def _replace(source: Path, target: Path) -> None:
    """Copy beside the target and rename: a request reads the old file or the new one."""
    if target.is_dir():
        shutil.rmtree(target)
    scratch = target.with_name(f".{target.name}.restoring")
    try:
        shutil.copy2(source, scratch)
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)


def _walk(root: Path) -> dict[str, tuple[int, int]]:
    """Relative path → (bytes, modification time in ns) of all files. Plain strings: a reset is mostly this.

    Files may vanish while we look: a server works here.
    """
    found, pending = {}, [""]
    while pending:
        folder = pending.pop()
        with suppress(FileNotFoundError), os.scandir(f"{root}/{folder}") as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{folder}{entry.name}/")
                else:
                    with suppress(FileNotFoundError):
                        stat = entry.stat(follow_symlinks=False)
                        found[folder + entry.name] = (stat.st_size, stat.st_mtime_ns)
    return found


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
