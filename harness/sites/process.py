"""Server processes that outlive the command that started them, and are never mistaken for others.

start(…) → Server (pid, when it started, port)     kept in server.json
alive(server, data)                                 the very process, or not: a reused pid is never touched
stop(server, data)                                  the process and its children, and nothing else
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from harness.types import Record

STOP_SECONDS = 5.0
CLOCK_TOLERANCE = 2.0
"""Seconds by which two readings of one process's start may differ."""
MAX_LOG_BYTES = 5_000_000
LAST_BYTES = 64_000


class Server(Record):
    """A server process that was started and has not been stopped."""

    pid: int
    started: float
    """Seconds from the machine's start to the process's: does not move with the clock."""
    port: int


def start(command: Sequence[str], *, port: int, log: Path, environment: Mapping[str, str]) -> Server:
    """Start `command` in a session of its own, its output appended to `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.replace(log.with_name(f"{log.name}.1"))
    appending = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawn(
        command[0],
        list(command),
        dict(environment),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), appending, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    return Server(pid=pid, started=_started(psutil.Process(pid)), port=port)


def alive(server: Server, data: Path) -> bool:
    """Is the process that was started still there? Another one with its pid, and a zombie, are not it."""
    return _find(server, data) is not None


def stop(server: Server, data: Path) -> bool:
    """End the process and its children: politely, then by force. False if it was gone already."""
    if (process := _find(server, data)) is None:
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(server.pid, number)
        with suppress(psutil.TimeoutExpired):
            process.wait(STOP_SECONDS)
            break
    return True


def memory_bytes(server: Server, data: Path) -> int:
    """Resident memory; 0 if it is gone."""
    process = _find(server, data)
    try:
        return int(process.memory_info().rss) if process else 0
    except psutil.Error:
        return 0


def last_lines(log: Path, count: int) -> list[str]:
    """The end of a log, as text; empty if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - LAST_BYTES))
            return file.read().decode("utf-8", "replace").splitlines()[-count:]
    except OSError:
        return []


def _find(server: Server, data: Path) -> psutil.Process | None:
    try:
        process = psutil.Process(server.pid)
        if abs(_started(process) - server.started) > CLOCK_TOLERANCE:
            return None
        if process.status() == psutil.STATUS_ZOMBIE:
            _bury(process.pid)
            return None
        return process if str(data) in process.cmdline() else None
    except psutil.Error:
        return None


def _bury(pid: int) -> None:
    """Take note of a dead child, which else stays in the process table; init does it for a server of another command."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _started(process: psutil.Process) -> float:
    return float(process.create_time() - psutil.boot_time())
