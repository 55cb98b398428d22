"""Run the stages of a plan as child processes, some side by side, in the order in which cells ask for them.

    not begun ──start──▶ running ──exit 0, or 4 with every episode played, all files there──▶ done
                            │ ├──any other end──▶ failed: cells that need it fail, all others go on; tried again next time
                            │ └──Ctrl-C──▶ stopped: the child is interrupted and keeps what it has
                            └──this process is killed──▶ found `running` next time: its child, if it lives, is ended; it resumes

One thread per child waits for it; everything else happens here. A child leads a session of its own, so that Ctrl-C reaches it
once, from here.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import psutil

from audits.ablation.plan import Plan, PlannedStage
from audits.ablation.records import Attempt, StageRecord, Stages, StageState
from harness.errors import EXIT_INFRA_ERRORS, EXIT_OK, UsageError
from harness.executors.local import kill_tree
from results.environment import collect_environment
from results.files import replace_file
from results.outcomes import outcomes_of
from results.reader import MANIFEST, RunReader
from results.text import one_line

TICK_SECONDS = 1.0
GRACE_SECONDS = 90.0
"""For a child that was interrupted: a browser's episode or a training's step ends first."""
SAME_BIRTH_SECONDS = 2.0
"""A process's time of creation is counted from the boot, whose own time moves with the clock."""
TAIL_BYTES = 8192
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Watch(Protocol):
    """Who is told how it goes."""

    def started(self, stage: PlannedStage) -> None: ...

    def ended(self, stage: PlannedStage, record: StageRecord) -> None: ...

    def tick(self, running: Sequence[str]) -> None:
        """About once a second, with the ids of the stages that run."""


def execute(plan: Plan, stages: Stages, *, program: Sequence[str], jobs: int, watch: Watch) -> None:
    """Run what is not done. `program`: what stands before a stage's command. Hold `stages.locked()`.

    Raises KeyboardInterrupt after the children have been interrupted.
    """
    _Execution(plan, stages, tuple(program), jobs, watch).run()


@dataclass
class _Running:
    """One child."""

    child: subprocess.Popen[bytes]
    before: StageRecord | None
    attempts: tuple[Attempt, ...]
    """Earlier ones."""
    began: float
    """Seconds since the epoch."""
    clock: float
    """Of the monotonic clock."""
    born: float = 0.0


class _Execution:
    def __init__(self, plan: Plan, stages: Stages, program: tuple[str, ...], jobs: int, watch: Watch) -> None:
        self._plan, self._stages, self._program, self._jobs, self._watch = plan, stages, program, jobs, watch
        self._environment = collect_environment()
        self._done = {stage.id for stage in plan.stages.values() if stages.done(stage)}
        self._failed: set[str] = set()
        self._running: dict[str, _Running] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()

    def run(self) -> None:
        try:
            while True:
                while (stage := self._next()) is not None:
                    self._start(stage)
                if not self._running:
                    return
                self._wait(TICK_SECONDS)
                self._watch.tick(list(self._running))
        finally:  # with a stage still running: Ctrl-C, or an error of ours
            self._interrupt()

    def _next(self) -> PlannedStage | None:
        """The first stage that may start now."""
        if len(self._running) >= self._jobs:
            return None
        taken = {self._plan.stages[stage_id].stage.exclusive for stage_id in self._running}
        for stage in self._plan.stages.values():
            begun = stage.id in self._done or stage.id in self._failed or stage.id in self._running
            free = not stage.stage.exclusive or stage.stage.exclusive not in taken
            if not begun and free and self._done.issuperset(stage.needs):
                return stage
        return None

    def _start(self, stage: PlannedStage) -> None:
        before = self._stages.record(stage.id)
        attempts: tuple[Attempt, ...] = ()
        if before is not None:
            _end_orphan(before)
            attempts = self._stages.closed(before).attempts
        command = [*self._program, *stage.command]
        if attempts and self._stages.out(stage.id).exists():
            command += stage.stage.resume
        if stage.config:
            replace_file(self._stages.config(stage.id), stage.config.encode())
        with self._stages.log(stage.id).open("ab") as log:
            log.write(f"$ harness {' '.join(command[len(self._program) :])}\n".encode())
            log.flush()
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**_threads(self._jobs), **os.environ},
            )
            # At once: Ctrl-C may come at any point from here on, and must find the child.
            running = self._running[stage.id] = _Running(child, before, attempts, time.time(), time.monotonic())
        threading.Thread(target=self._await, args=(stage.id, child), daemon=True).start()
        running.born = _born(child.pid)
        self._write(stage.id, running, "running")
        self._watch.started(stage)

    def _write(
        self, stage_id: str, running: _Running, state: StageState, *, code: int | None = None, problem: str = ""
    ) -> StageRecord:
        """The stage's record as it is now; its time is known once it has ended."""
        stage, before = self._plan.stages[stage_id], running.before
        attempt = Attempt(
            started_at=datetime.fromtimestamp(running.began, UTC).isoformat(timespec="seconds"),
            began=running.began,
            pid=running.child.pid,
            born=running.born,
            seconds=None if state == "running" else time.monotonic() - running.clock,
            exit_code=code,
        )
        record = StageRecord(
            id=stage.id,
            stage=stage.name,
            key=stage.key,
            command=stage.command,
            needs=stage.needs,
            inputs={name: self._plan.fingerprints[name] for name in stage.inputs},
            state=state,
            attempts=(*running.attempts, attempt),
            problem=problem,
            environment=before.environment if before is not None and before.attempts else self._environment,
        )
        self._stages.write(record)
        return record

    def _await(self, stage_id: str, child: subprocess.Popen[bytes]) -> None:
        child.wait()
        self._ended.put(stage_id)

    def _wait(self, seconds: float) -> bool:
        """Take in one stage that has ended. False if none has."""
        try:
            stage_id = self._ended.get(timeout=seconds)
        except queue.Empty:
            return False
        stage, running = self._plan.stages[stage_id], self._running[stage_id]
        code = running.child.returncode
        good = self._good(stage, code)
        record = self._write(stage_id, running, "done" if good else "failed", code=code, problem=self._problem(stage, code))
        (self._done if good else self._failed).add(stage_id)
        del self._running[stage_id]
        self._watch.ended(stage, record)
        return True

    def _good(self, stage: PlannedStage, code: int) -> bool:
        if self._stages.missing(stage):
            return False
        return code == EXIT_OK or (code == EXIT_INFRA_ERRORS and self._left(stage) == 0)

    def _problem(self, stage: PlannedStage, code: int) -> str:
        """Empty for an end without fault."""
        missing = self._stages.missing(stage)
        if code == EXIT_OK:
            return f"ended well, but did not write {', '.join(missing)}" if missing else ""
        if code == EXIT_INFRA_ERRORS and not missing and (left := self._left(stage)) is not None:
            return f"{left} episodes were not played" if left else "some episodes ended in an error"
        how = f"exit code {code}" if code >= 0 else f"killed by signal {-code}"
        return one_line(": ".join(filter(None, [how, last_words(self._stages, stage.id)])), 300)

    def _left(self, stage: PlannedStage) -> int | None:
        """Planned episodes of a run that were not played; None if the stage made no run."""
        out = self._stages.out(stage.id)
        if not (out / MANIFEST).is_file():
            return None
        try:
            return sum(outcome.state == "missing" for outcome in outcomes_of(RunReader.open(out)))
        except UsageError:
            return None

    def _interrupt(self) -> None:
        # A background job of a shell ignores SIGINT, and so do its children.
        gently = signal.SIGTERM if signal.getsignal(signal.SIGINT) == signal.SIG_IGN else signal.SIGINT
        for running in self._running.values():
            running.child.send_signal(gently)
        until = time.monotonic() + GRACE_SECONDS
        for stage_id, running in list(self._running.items()):
            try:
                running.child.wait(max(0.1, until - time.monotonic()))
            except (subprocess.TimeoutExpired, KeyboardInterrupt):  # a second Ctrl-C: no more patience
                until = 0.0
                kill_tree(running.child.pid)
            self._write(stage_id, running, "stopped", code=running.child.poll(), problem="interrupted")
            del self._running[stage_id]


def last_words(stages: Stages, stage_id: str) -> str:
    """The last line of a stage's log that says something; an error of `harness` before what it says to do about it."""
    try:
        with stages.log(stage_id).open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = [line.strip() for line in log.read().decode("utf-8", errors="replace").splitlines()]
    except OSError:
        return ""
    said = [line for line in lines if line and not line.startswith("$ harness")]
    errors = [line for line in said[-3:] if line.startswith("harness: ")]
    return one_line((errors or said[-1:] or [""])[-1], 200)


def _threads(jobs: int) -> Mapping[str, str]:
    """Side by side, children share the cores; what the user has set wins."""
    return dict.fromkeys(THREADS, str(max(1, (os.cpu_count() or 1) // jobs))) if jobs > 1 else {}


def _born(pid: int) -> float:
    try:
        return psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return 0.0


def _end_orphan(record: StageRecord) -> None:
    """End the child of a grid whose own process was killed: two must not write to one directory."""
    last = record.attempts[-1] if record.attempts else None
    if last is not None and last.seconds is None and last.born and abs(_born(last.pid) - last.born) < SAME_BIRTH_SECONDS:
        kill_tree(last.pid)
