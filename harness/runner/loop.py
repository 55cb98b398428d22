"""Runner: hands episodes to workers, watches their clocks, records what comes back.

    parent (this file, the only writer)                 worker process (harness.worker), one browser each
        Run(spec)            ─────────────────────────▶ run_episode
        clock of this phase  ◀───── PhaseBegun, StepDone …
        record(Episode)      ◀───── Finished
A worker that is silent past a clock, or dies, is killed with its browser; the parent has all finished steps and writes the
episode itself, labelled. Nothing that happens in a worker ends the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, Protocol

from harness import messages
from harness.errors import NotReadyError
from harness.limits import Limits
from harness.protocols import Recorder
from harness.rollout import error_verdict
from harness.runner.schedule import Schedule
from harness.runner.state import Current, Display, NoDisplay, RunState
from harness.types import (
    Boundary,
    Episode,
    EpisodeSpec,
    ErrorInfo,
    Observation,
    Phase,
    Start,
    Step,
    StopReason,
    Trajectory,
    Verdict,
)

TICK_SECONDS = 0.25
STOP_GRACE_SECONDS = 5.0
MAX_FAILED_STARTS = 3
"""Workers in a row that may fail to start once one has been up; before that, the first failure ends the run."""
CRASH_BOUNDARY: dict[Phase, Boundary] = {"reset": "env", "policy": "policy", "step": "env", "score": "evaluator"}
"""What a worker was doing when it died."""


class WorkerHandle(Protocol):
    """A worker process as the runner sees it (harness.executors.local.LocalWorker)."""

    name: str
    connection: Connection

    def send(self, message: Any) -> bool: ...

    def kill(self) -> None: ...

    def join(self, timeout: float) -> None: ...

    def post_mortem(self) -> str: ...


class RunSummary(NamedTuple):
    """What came of a run. `interrupted`: stopped by the user; the same command goes on from there."""

    state: RunState
    left: int
    interrupted: bool
    down_sites: tuple[str, ...]


@dataclass
class _Job:
    """An episode in a worker, as far as the parent knows it."""

    spec: EpisodeSpec
    began: float
    began_at: str
    deadline: float
    phase: Phase = "reset"
    goal: str = ""
    steps: list[Step] = field(default_factory=list)


@dataclass
class _Seat:
    """A place for a worker: the process changes when one is killed, or when the seat moves on to another site instance."""

    number: int
    instance: int | None
    worker: WorkerHandle | None = None
    started: bool = False
    """The process has been ready once."""
    ready: bool = False
    """It may be given an episode: it has started, or has cleaned up after an error."""
    deadline: float = float("inf")
    job: _Job | None = None


class Runner:
    """`spawn(seat number, instance)` starts a worker; `setup` is its first message.

    `reset_sites` is called before each pass (window, repeat), when nothing runs; `reset_epoch` and `first_finish_index` go on
    from what is stored. `request_stop` may be called from a signal handler.
    """

    def __init__(
        self,
        *,
        run_id: str,
        schedule: Schedule,
        limits: Limits,
        recorder: Recorder,
        spawn: Callable[[int, int], WorkerHandle],
        setup: messages.Setup,
        seats: list[int | None],
        state: RunState,
        display: Display | None = None,
        reset_sites: Callable[[], None] | None = None,
        reset_epoch: int = 0,
        first_finish_index: int = 0,
    ) -> None:
        self._run_id = run_id
        self._schedule = schedule
        self._limits = limits
        self._recorder = recorder
        self._spawn = spawn
        self._setup = setup
        self._seats = [_Seat(number, instance) for number, instance in enumerate(seats)]
        self.state = state
        self._display = display or NoDisplay()
        self._reset_sites = reset_sites
        self._epoch = reset_epoch
        self._pass: tuple[str, int] | None = None
        self._finish_index = first_finish_index
        self._stop_at: float | None = None
        self._ever_ready = False
        self._failed_starts = 0
        self.versions: dict[str, str] = {}

    def request_stop(self, grace_seconds: float = STOP_GRACE_SECONDS) -> None:
        """No new episodes; those in hand get `grace_seconds`, then they are put back unrecorded."""
        at = time.monotonic() + grace_seconds
        self._stop_at = at if self._stop_at is None else min(at, self._stop_at)
        self.state.stopping = True

    def run(self) -> RunSummary:
        """Play everything there is. Raises NotReadyError if no worker can be built."""
        try:
            while self._advance():
                pass
        finally:
            self._shut_down()
        left = len(self._schedule)
        return RunSummary(
            self.state, left, interrupted=self._stop_at is not None and left > 0, down_sites=self._schedule.down_sites
        )

    # ------------------------------------------------------------------ one turn

    def _advance(self) -> bool:
        """One turn of the loop; False when there is nothing left to wait for."""
        if self._stop_at is None:
            self._hand_out()
        unplayed = len(self._schedule) > 0
        busy = [seat for seat in self._seats if seat.job or (seat.worker and not seat.ready and unplayed)]
        if not busy or (self._stop_at is not None and time.monotonic() >= self._stop_at):
            return False
        if self._stop_at is not None and not any(seat.job for seat in busy):
            return False
        by_connection = {seat.worker.connection: seat for seat in self._seats if seat.worker}
        for connection in wait(list(by_connection), timeout=TICK_SECONDS):
            self._hear(by_connection[connection])  # type: ignore[index]
        self._check_clocks()
        self._display.update(self.state)
        return True

    def _hand_out(self) -> None:
        for seat in self._seats:
            if seat.job:
                continue
            if seat.ready and (spec := self._schedule.next(seat.instance)):
                self._begin(seat, spec)
                continue
            if (seat.worker is None or seat.ready) and (instance := self._unattended(seat)) is not None:
                self._remove(seat)
                seat.instance = instance
            if seat.worker is None and self._has_work_for(seat):
                self._start_worker(seat)

    def _unattended(self, seat: _Seat) -> int | None:
        """A site instance that has work and no seat, for a seat that has none itself: there may be fewer seats than instances."""
        if seat.instance is None:
            return None
        startable = self._schedule.startable_instances
        if seat.instance in startable:
            return None
        return min(startable - {other.instance for other in self._seats}, default=None)

    def _has_work_for(self, seat: _Seat) -> bool:
        waiting = self._schedule.instances_waiting
        idle = sum(1 for other in self._seats if other.worker and not other.job and other.instance == seat.instance)
        return bool(waiting) and (seat.instance is None or seat.instance in waiting) and idle < len(self._schedule)

    def _start_worker(self, seat: _Seat) -> None:
        seat.worker = self._spawn(seat.number, seat.instance or 0)
        seat.started = seat.ready = False
        seat.deadline = time.monotonic() + self._limits.startup_seconds
        seat.worker.send(self._setup)

    def _begin(self, seat: _Seat, spec: EpisodeSpec) -> None:
        assert seat.worker is not None
        if self._reset_sites and self._pass != (spec.window, spec.repeat):
            self._pass = (spec.window, spec.repeat)
            self._reset_sites()
            self._epoch += 1
        now = time.monotonic()
        seat.job = _Job(spec, now, _utc_now(), now + self._limits.episode_seconds, goal=spec.task.goal)
        seat.deadline = min(now + self._limits.reset_seconds, seat.job.deadline)
        self.state.current[seat.worker.name] = Current(spec)
        seat.worker.send(messages.Run(spec))

    # ------------------------------------------------------------------ news from workers

    def _hear(self, seat: _Seat) -> None:
        assert seat.worker is not None
        try:
            message: messages.Message = seat.worker.connection.recv()
        except Exception:  # noqa: BLE001  EOF, a broken socket, or bytes that are no message: the worker is of no use any more
            self._lost(seat)
            return
        job, now = seat.job, time.monotonic()
        match message:
            case messages.Ready(versions):
                seat.started, seat.ready, seat.deadline = True, True, float("inf")
                self._ever_ready, self._failed_starts = True, 0
                self.versions.update(versions)
            case messages.Refused(error, _code, fix):
                raise NotReadyError(error.message, fix=fix)
            case messages.PhaseBegun(phase) if job:
                job.phase = phase
                seat.deadline = min(now + self._limits.of(phase), job.deadline)
                self.state.current[seat.worker.name].phase = phase
            case messages.GoalKnown(goal) if job:
                job.goal = goal
            case messages.StepDone(step) if job:
                job.steps.append(step)
                self.state.current[seat.worker.name].step = len(job.steps)
            case messages.Finished(trajectory, verdict) if job:
                whole = trajectory.model_copy(update={"steps": tuple(job.steps)})
                self._record(seat, whole, verdict)
                if verdict.status == "error":
                    seat.ready, seat.deadline = False, now + self._limits.startup_seconds

    def _check_clocks(self) -> None:
        now = time.monotonic()
        for seat in self._seats:
            if seat.worker is None or now < seat.deadline or seat.worker.connection.poll():
                continue  # with news unread the worker is not silent: it is this process that was held up
            if seat.job is None and seat.started:
                self._remove(seat)
                continue
            if seat.job is None:
                self._not_started(seat, f"a worker did not start within {self._limits.startup_seconds:g} s")
                continue
            whole = now >= seat.job.deadline
            limit = self._limits.episode_seconds if whole else self._limits.of(seat.job.phase)
            name = "episode" if whole else seat.job.phase
            self._end_by_force(seat, "timeout", f"{name}_timeout", f"no end of {name} within {limit:g} s", "timeout")

    def _lost(self, seat: _Seat) -> None:
        """The worker died by itself (or was killed from outside)."""
        assert seat.worker is not None
        seat.worker.join(timeout=2)
        died = seat.worker.post_mortem()
        if seat.job is None and not seat.started:
            self._not_started(seat, "a worker died while starting")
        elif seat.job is not None:
            phase = seat.job.phase
            self._end_by_force(seat, CRASH_BOUNDARY[phase], "worker_crash", f"the worker died in its {phase}: {died}", "error")
        else:
            self._remove(seat)

    def _not_started(self, seat: _Seat, what: str) -> None:
        assert seat.worker is not None
        died = seat.worker.post_mortem()
        self._remove(seat)
        self._failed_starts += 1
        if not self._ever_ready or self._failed_starts >= MAX_FAILED_STARTS:
            raise NotReadyError(f"{what} ({died})", fix="harness doctor; then the same command goes on")

    def _end_by_force(self, seat: _Seat, boundary: Boundary, kind: str, message: str, reason: StopReason) -> None:
        assert seat.job is not None
        job = seat.job
        error = ErrorInfo(boundary=boundary, kind=kind, message=message)
        trajectory = Trajectory(
            task=job.spec.task,
            source="real",
            start=Start(task_id=job.spec.task.task_id),
            goal=job.goal,
            seed=job.spec.seed,
            steps=tuple(job.steps),
            stop_reason=reason,
        )
        self._record(seat, trajectory, error_verdict(error))
        self._remove(seat)

    def _record(self, seat: _Seat, trajectory: Trajectory, verdict: Verdict) -> None:
        assert seat.job is not None and seat.worker is not None
        job, seat.job, seat.deadline = seat.job, None, float("inf")
        self.state.current.pop(seat.worker.name, None)
        episode = Episode(
            run_id=self._run_id,
            spec=job.spec,
            trajectory=trajectory,
            verdict=verdict,
            started_at=job.began_at,
            wall_seconds=time.monotonic() - job.began,
            worker=seat.worker.name,
            reset_epoch=self._epoch,
            finish_index=self._finish_index,
        )
        self._finish_index += 1
        self._recorder.record(episode, screenshots_of(trajectory))
        retried = self._schedule.finish(job.spec, verdict)
        self.state.book(episode, retried=retried)
        self.state.down_sites = self._schedule.down_sites
        self._display.finished(episode, self.state)

    # ------------------------------------------------------------------ ends

    def _remove(self, seat: _Seat) -> None:
        worker, seat.worker, seat.ready, seat.deadline = seat.worker, None, False, float("inf")
        if worker is not None:
            self.state.current.pop(worker.name, None)
            worker.kill()

    def _shut_down(self) -> None:
        for seat in self._seats:
            if seat.job is not None:
                self._schedule.put_back(seat.job.spec)
                seat.job = None
                self._remove(seat)
            elif seat.worker is not None:
                seat.worker.send(messages.Stop())
        for seat in self._seats:
            if seat.worker is not None:
                seat.worker.join(timeout=STOP_GRACE_SECONDS)
                seat.worker = None


def screenshots_of(trajectory: Trajectory) -> dict[str, bytes]:
    """File name → PNG bytes, of every observation that has one."""
    observations: list[Observation] = [step.observation for step in trajectory.steps]
    if trajectory.final_observation is not None:
        observations.append(trajectory.final_observation)
    return {o.screenshot_ref: o.screenshot for o in observations if o.screenshot is not None and o.screenshot_ref}


def _utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
