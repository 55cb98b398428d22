"""Durable writes and bounded reads: the only place where run data touches the disk.

A write is finished when it survives a power cut: the bytes, the name and the directory that holds the name are fsync'd.
A write that fails leaves nothing behind and becomes one `NotReadyError` that says what to do.
"""

from __future__ import annotations

import errno
import fcntl
import gzip
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.errors import NotReadyError

MAX_STORED_BYTES = 512 * 2**20
"""Most bytes that one stored file may unpack to: a damaged or hostile file must not fill the memory."""

LOCK = "lock"
"""The file that whoever writes to a directory holds."""

_PIECE_BYTES = 2**20

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("the disk quota is used up", "free some space"),
    errno.EFBIG: ("the file size limit is reached", "raise it (ulimit -f)"),
    errno.EROFS: ("the file system is read-only", "choose another --run-dir"),
    errno.EACCES: ("permission denied", "choose another --run-dir"),
    errno.EIO: ("the disk reports an I/O error", "check the disk"),
}


class Unreadable(Exception):
    """A stored file that cannot be read; `str()` says why in a few words."""


@contextmanager
def disk_errors(what: str) -> Iterator[None]:
    """Turn an OSError while writing `what` into a one-line `NotReadyError`."""
    try:
        yield
    except OSError as error:
        reason, fix = _REASONS.get(error.errno or 0, (error.strerror or str(error), "check the disk"))
        raise NotReadyError(
            f"cannot write {what}: {reason}",
            fix=f"{fix}, then give the same command again: finished episodes are kept",
        ) from error


def fsync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file and its bytes through to the disk (not yet its name)."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def replace_file(path: Path, data: bytes) -> None:
    """Replace `path` atomically: readers see the old or the new bytes, never a mixture."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(missing_ok=True)
        write_synced(temporary, data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_directory(path.parent)


def write_directory(path: Path, files: Mapping[str, bytes]) -> None:
    """Make directory `path` with `files` in it, atomically and durably. Raises FileExistsError if it exists."""
    if path.exists():
        raise FileExistsError(errno.EEXIST, "exists already", str(path))
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{path.name}.{os.getpid()}")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        for name, data in files.items():
            write_synced(temporary / name, data)
        fsync_directory(temporary)
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    fsync_directory(path.parent)


TEMPORARY_PREFIX = ".tmp-"


def gzipped(text: str) -> bytes:
    """Compressed UTF-8. No time stamp: equal data gives equal bytes."""
    return gzip.compress(text.encode("utf-8"), compresslevel=6, mtime=0)


def read_gzipped(path: Path, limit: int = MAX_STORED_BYTES) -> str:
    """The text of a gzip file. Raises `Unreadable` where it is missing, truncated, damaged or too large."""
    try:
        data = bytearray()
        with gzip.open(path) as file:
            # In pieces: asked for `limit` bytes at once, Python sets aside that much memory before it reads.
            while piece := file.read(_PIECE_BYTES):
                data += piece
                if len(data) > limit:
                    raise Unreadable(f"unpacks to more than {limit // 2**20} MiB")
        return data.decode("utf-8")
    except FileNotFoundError:
        raise Unreadable(f"no {path.name}") from None
    except EOFError:
        raise Unreadable("truncated") from None
    except (gzip.BadGzipFile, zlib.error):
        raise Unreadable("damaged: not valid gzip data") from None
    except UnicodeDecodeError:
        raise Unreadable("damaged: not UTF-8") from None
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """Make `directory`, and keep other processes from writing to it. Raises `NotReadyError` where one does already.

    Of the processes of one launch (torchrun, accelerate) the first holds it for all.
    """
    if os.environ.get("RANK", "0") != "0":
        yield
        return
    with disk_errors(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
    handle = lock_file(directory / LOCK)
    try:
        yield
    finally:
        os.close(handle)


def lock_file(path: Path) -> int:
    """Take the exclusive lock `path` and return its open file descriptor; closing it frees the lock.

    The kernel drops the lock when the process ends, however it ends. Raises `NotReadyError` naming the holder's pid.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.read(handle, 32).decode("ascii", "replace").strip() or "unknown"
        os.close(handle)
        raise NotReadyError(
            f"another process (pid {pid}) is writing to {path.parent}",
            fix="wait until it has finished, end it, or choose another directory",
        ) from None
    except OSError as error:
        os.close(handle)
        raise NotReadyError(f"cannot lock {path}: {error.strerror}", fix="put --run-dir on a local file system") from error
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle
