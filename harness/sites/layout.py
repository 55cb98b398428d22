"""Where the sites keep their files, and who may touch them.

STATE/lock                                     held by `up` and `down`
STATE/golden/<app>-<key>/files …               first state of an application, shared by all instance sets, never written again
                        /manifest.json, world.json
STATE/instances/<set>/<app>/data/ …            what a server works on
                           /state.json         which golden state, which reset epoch
                           /server.json        the server process, while there should be one
                           /server.log         what it says
                           /lock               held while data/ is being replaced
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from harness.errors import NotReadyError
from harness.sites.definition import AppName
from harness.types import Record

DEFAULT_STATE = Path("data/sites")
POLL_SECONDS = 0.02
FREE_SPACE = "free some space, or put the sites elsewhere with --state DIR"

Stored = TypeVar("Stored", bound=Record)


class Layout:
    """Paths below one state directory. Absolute: servers are started with them and recognised by them."""

    def __init__(self, state_dir: Path = DEFAULT_STATE) -> None:
        self.root = state_dir.resolve()
        self.lock = self.root / "lock"
        self.goldens = self.root / "golden"

    def golden(self, name: str) -> Path:
        return self.goldens / name

    def place(self, instance: int, app: AppName) -> Place:
        return Place(self.root / "instances" / str(instance) / app)

    def instances(self) -> tuple[int, ...]:
        """Instance sets that have ever been brought up here, in order."""
        folder = self.root / "instances"
        return tuple(sorted(int(path.name) for path in folder.iterdir() if path.name.isdigit())) if folder.is_dir() else ()


class Place:
    """The files of one application in one instance set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.state = folder / "state.json"
        self.server = folder / "server.json"
        self.log = folder / "server.log"
        self.lock = folder / "lock"


def read_record(path: Path, kind: type[Stored]) -> Stored | None:
    """The record in a file; None where there is none, or where a crash or a person left something else."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def write_record(path: Path, record: Record) -> None:
    """Whole or not at all: a reader never sees half a file."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        scratch.write_text(record.model_dump_json(), encoding="utf-8")
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold `path` against other processes and threads. The kernel lets go of it when a process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + seconds
    with path.open("a") as file:
        while not _try_lock(file.fileno()):
            if time.monotonic() > deadline:
                raise NotReadyError(f"{path} is held by another `harness sites`", fix="wait until it is done, or end it")
            time.sleep(POLL_SECONDS)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def explained(root: Path) -> Iterator[None]:
    """Turn the operating system's and SQLite's complaints about files into one line that says what to do."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT) or "disk is full" in str(error):
            raise NotReadyError(f"no space left on the disk of {root}", fix=FREE_SPACE) from error
        where = getattr(error, "filename", None) or root
        raise NotReadyError(f"cannot use {where}: {error}", fix="see to its owner and rights, or use --state DIR") from error
