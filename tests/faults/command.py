"""`harness` as a user starts it, in a process of its own, with every process it starts marked so that none can hide."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from results.index import EpisodeRow
from results.reader import RunReader
from tests.support.fault_tasks import SITE_VARIABLE
from tests.support.web import Page, Reply

ROOT = Path(__file__).parents[2]
MARK = "FAULT_TEST_RUN"
LOOK_SECONDS = 0.5
TASKS = "tests.support.fault_tasks"
CONFIG = """
[gym]
packages = ["tests.support.fault_tasks"]
[policy]
name = "tests.support.fault_tasks:FaultyPolicy"
[limits]
max_steps = 4
reset_seconds = 40
"""


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def one_line_with_a_fix(self) -> bool:
        """A complaint for a person: one line and what to do, not a traceback."""
        lines = self.err.strip().splitlines()
        return len(lines) == 2 and lines[0].startswith("harness: ") and lines[1].startswith("   fix: ")


class Command:
    """A started `harness` command. Everything below it inherits a mark in its environment."""

    def __init__(self, *arguments: str, site: str = "") -> None:
        self.mark = uuid.uuid4().hex
        self._seen: set[psutil.Process] = set()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "harness.cli.main", *arguments],
            cwd=ROOT,
            env={**os.environ, MARK: self.mark, SITE_VARIABLE: site, "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, timeout: float = 120) -> Ended:
        """Wait for the end, looking now and then at what it has started. Kills it all if it does not end, and fails."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                out, err = self.process.communicate(timeout=LOOK_SECONDS)
                return Ended(self.process.returncode, out, err)
            except subprocess.TimeoutExpired:
                for process in self.descendants():
                    if time.monotonic() > deadline:
                        process.kill()
                if time.monotonic() > deadline:
                    self.process.kill()
                    raise

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def workers(self) -> list[psutil.Process]:
        return [p for p in psutil.Process(self.process.pid).children() if "harness.worker" in p.cmdline()]

    def descendants(self) -> list[psutil.Process]:
        """Every process of the command that lives: those seen below it so far, and those that carry its mark, whoever their
        parent is now (Chromium's children overwrite their environment, so that the mark alone would miss them)."""
        with contextlib.suppress(psutil.NoSuchProcess):
            self._seen.update(psutil.Process(self.process.pid).children(recursive=True))
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get(MARK) == self.mark and process.pid != self.process.pid:
                    self._seen.add(process)
        return [process for process in self._seen if _lives(process)]

    def survivors(self, seconds: float = 10) -> list[str]:
        """What still lives after `seconds`, for a message; empty as soon as all are gone."""
        _, alive = psutil.wait_procs(self.descendants(), timeout=seconds)
        return [str(process) for process in alive if _lives(process)]


def _lives(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def run_arguments(tmp_path: Path, glob: str, *more: str, limits: str = "", name: str = "run") -> list[str]:
    """Arguments of `harness run` on fault tasks, the run directory being tmp_path/name; the same call gives the same command."""
    file = tmp_path / f"{name}.toml"
    file.write_text(CONFIG + limits)
    return ["run", "--bench", f"gym:{glob}", "--config", str(file), "--run-dir", str(tmp_path / name), *more]


def play(site: str, *arguments: str) -> Ended:
    command = Command(*arguments, site=site)
    ended = command.end()
    assert command.survivors() == []
    return ended


def rows(directory: Path) -> list[EpisodeRow]:
    return RunReader.open(directory).rows()


def report_numbers(directory: Path) -> dict[str, Any]:
    """Tables of `harness report --format json`: every number of the run but the times and the run's own settings."""
    ended = Command("report", str(directory), "--format", "json").end()
    assert ended.code == 0, ended.err
    tables = {table["name"]: table["rows"] for table in json.loads(ended.out)["tables"]}
    assert {"sites", "templates", "stops"} <= tables.keys()
    return {name: rows for name, rows in tables.items() if name not in ("run", "settings", "time")}


class Site:
    """Pages of a test's server that count who asks, can be held at a gate, and can be down."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.down = False
        self.arrived = threading.Event()
        """Someone waits at the gate."""
        self._gate = ""
        self._open = threading.Event()

    def page(self, content: Page) -> Page:
        def answer(path: str) -> Reply:
            name = path.partition("?")[0]
            self.asked[name] += 1
            if name == self._gate:
                self.arrived.set()
                self._open.wait(60)
            if self.down and name.startswith("/down"):
                return Reply("<h1>back soon</h1>", 503)
            reply = content(path) if callable(content) else content
            return Reply(reply) if isinstance(reply, str) else reply

        return answer

    def hold(self, path: str) -> None:
        """Answer `path` only when `release` is called."""
        self._gate, self._open, self.arrived = path, threading.Event(), threading.Event()

    def release(self) -> None:
        self._gate = ""
        self._open.set()
