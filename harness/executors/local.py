"""One worker = one process = one browser. The parent talks to it over a socket pair and kills it with everything it started.

Spawned, never forked: Playwright's sync API must not share a process with another loop or thread, and WebArena reads its site
URLs from the environment at import. The child leads its own session, so Ctrl-C in a terminal reaches the parent alone; if the
parent dies, the socket closes and PR_SET_PDEATHSIG takes the child along even out of an endless call.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

_PR_SET_PDEATHSIG = 1
LOG_TAIL_BYTES = 1500
MESSAGE_SECONDS = 10


class LocalWorker:
    """A running worker process. `connection` carries pickled messages between this program and its own child only."""

    def __init__(self, name: str, module: str, *, environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self._log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log_start = log.stat().st_size if log.exists() else 0
        ours, theirs = socket.socketpair()
        # A worker frozen in the middle of a message must not freeze the parent: recv then raises BlockingIOError.
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", MESSAGE_SECONDS, 0))
        with theirs, log.open("ab") as output:
            self._process = subprocess.Popen(
                # -P: the working directory must not shadow modules of ours
                [sys.executable, "-P", "-m", module, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: Any) -> bool:
        """False if the worker is gone."""
        try:
            self.connection.send(message)
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """End the process and all its descendants, now."""
        kill_tree(self._process.pid)
        self._process.wait(timeout=10)
        self.connection.close()

    def join(self, timeout: float) -> None:
        """Wait for a worker that was told to stop; kill it if it does not."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=timeout)
        self.kill()

    def post_mortem(self) -> str:
        """How it died, and the last line of its log: what a person needs to see of a crash."""
        how = _exit(self._process.poll())
        with contextlib.suppress(OSError), self._log.open("rb") as log:
            log.seek(max(self._log_start, log.seek(0, os.SEEK_END) - LOG_TAIL_BYTES))  # not what an earlier worker wrote
            tail = log.read().decode("utf-8", errors="replace").strip()
            return f"{how}; {tail.splitlines()[-1]}" if tail else how
        return how


def kill_tree(pid: int) -> None:
    """End a process and all its descendants, now. Browsers lead process groups of their own, so a group is not enough."""
    victims = []
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        victims = [*parent.children(recursive=True), parent]
    for victim in victims:
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.kill()
    psutil.wait_procs(victims, timeout=10)


def _exit(code: int | None) -> str:
    if code is None:
        return "still running"
    if code >= 0:
        return f"exit code {code}"
    known = {number.value: number.name for number in signal.Signals}
    return f"signal {known.get(-code, -code)}"


def connect_to_parent(descriptor: int) -> Connection:
    """In the child: open the socket, and die with the parent."""
    with contextlib.suppress(OSError, AttributeError):  # Linux only; elsewhere the closed socket ends the worker
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return Connection(descriptor)
