"""The runner with real worker processes that have no browser: whatever they say or do, each episode gets one final record."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from harness import messages
from harness.errors import NotReadyError
from harness.executors import local
from harness.executors.local import LocalWorker
from harness.limits import Limits
from harness.runner import Runner, RunState, RunSummary, Schedule, make_plan
from harness.types import Episode, EvaluatorSpec, Task

ROOT = Path(__file__).parents[2]
SECONDS = 3
CLOCKS = Limits(reset_seconds=SECONDS, policy_seconds=SECONDS, step_seconds=SECONDS, score_seconds=SECONDS)


class Kept:
    """A recorder in memory."""

    def __init__(self) -> None:
        self.episodes: list[Episode] = []

    def record(self, episode: Episode, screenshots: dict[str, bytes]) -> None:
        self.episodes.append(episode)


class Bench:
    """Plays tasks with the given goals; keeps what was recorded and which processes were started."""

    def __init__(
        self,
        folder: Path,
        goals: Sequence[str],
        *,
        seats: int = 1,
        broken: Sequence[int] = (),
        together: bool = False,
        instances: int = 0,
        windows: Sequence[str] = ("A",),
    ) -> None:
        """With `instances` of the sites, seats begin at the first ones, as `harness run` puts them."""
        self._folder = folder
        (folder / "starts").mkdir()
        tasks = [
            Task(benchmark="b", task_id=f"t{n}", goal=goal, evaluator=EvaluatorSpec(kind="x")) for n, goal in enumerate(goals)
        ]
        plan = make_plan(tasks, windows=windows, repeats=1, base_seed=0, instances=instances)
        self.kept = Kept()
        self.started: list[psutil.Process] = []
        self.instances: list[int] = []
        """Of the sites, one per process that was started."""
        self.runner = Runner(
            run_id="r",
            schedule=Schedule(plan, limits=CLOCKS, ordered=instances > 0, exclusive=instances > 0),
            limits=CLOCKS,
            recorder=self.kept,
            spawn=self._spawn,
            setup=messages.Setup({"starts": str(folder / "starts"), "broken": list(broken), "company": seats if together else 1}),
            seats=list(range(seats)) if instances else [None] * seats,
            state=RunState(total=len(plan)),
            display=self,
        )
        self.on_update: Callable[[RunState], None] = lambda _state: None

    def update(self, state: RunState) -> None:
        self.on_update(state)

    def finished(self, episode: Episode, state: RunState) -> None: ...

    def _spawn(self, number: int, instance: int) -> LocalWorker:
        environment = {"PYTHONPATH": str(ROOT)}
        worker = LocalWorker(
            f"w{number}", "tests.support.plain_worker", environment=environment, log=self._folder / f"{number}.log"
        )
        self.started.append(psutil.Process(worker.pid))
        self.instances.append(instance)
        return worker

    def play(self) -> RunSummary:
        try:
            return self.runner.run()
        finally:
            assert [process for process in self.started if process.is_running()] == []

    @property
    def labels(self) -> list[tuple[str, int, str]]:
        """(goal, attempt, error kind or status) of each record, in order."""
        return [
            (e.spec.task.goal, e.spec.attempt, e.verdict.error.kind if e.verdict.error else e.verdict.status)
            for e in self.kept.episodes
        ]


def test_good_workers_play_everything_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["good"] * 7, seats=2)
    summary = bench.play()
    assert [label for _, _, label in bench.labels] == ["success"] * 7
    assert (summary.left, summary.interrupted, summary.state.done) == (0, False, 7)
    assert [e.finish_index for e in bench.kept.episodes] == list(range(7))
    assert {len(e.trajectory.steps) for e in bench.kept.episodes} == {2}
    assert len(bench.started) == 2, "workers are kept"


@pytest.mark.parametrize(("seats", "instances"), [(1, 2), (1, 3), (2, 3), (2, 4), (3, 3)])
def test_fewer_workers_than_site_instances_play_everything(seats: int, instances: int, tmp_path: Path) -> None:
    """Each episode belongs to an instance of the plan's; a worker that has none left moves on to one that nobody serves."""
    bench = Bench(tmp_path, ["good"] * 7, seats=seats, instances=instances, windows=("A", "B"))
    summary = bench.play()
    assert [label for _, _, label in bench.labels] == ["success"] * 14
    assert summary.left == 0
    assert set(bench.instances) == set(range(instances))
    windows = [episode.spec.window for episode in bench.kept.episodes]
    assert windows == sorted(windows), "a pass ends on all instances before the next begins"
    if seats == instances:
        assert len(bench.started) == seats, "nobody moves where everyone has an instance"


@pytest.mark.parametrize(
    ("goal", "steps"), [("dies at once", 0), ("sends rubbish", 2), ("sends an unknown class", 2), ("freezes in mid-message", 2)]
)
def test_a_worker_that_breaks_is_replaced(goal: str, steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "MESSAGE_SECONDS", 1)
    bench = Bench(tmp_path, ["good", goal, "good"])
    summary = bench.play()
    assert bench.labels == [
        ("good", 0, "success"), (goal, 0, "worker_crash"), (goal, 1, "success"), ("good", 0, "success"),
    ]  # fmt: skip
    assert len(bench.kept.episodes[1].trajectory.steps) == steps
    assert bench.kept.episodes[1].trajectory.goal == ("reach the last page" if steps else goal)
    assert (summary.left, summary.state.retried, len(bench.started)) == (0, 1, 2)


def test_a_stopped_process_runs_into_the_clock_of_its_phase(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["is stopped", "good"])
    bench.play()
    assert bench.labels == [("is stopped", 0, "score_timeout"), ("good", 0, "success")]
    error = bench.kept.episodes[0].verdict.error
    assert error is not None
    assert (error.boundary, error.message) == ("timeout", "no end of score within 3 s")
    assert bench.kept.episodes[0].trajectory.stop_reason == "timeout"


def test_a_worker_that_dies_idle_costs_at_most_an_attempt(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["dies when idle", "good"])
    summary = bench.play()
    assert ("dies when idle", 0, "success") in bench.labels
    assert bench.labels[-1] == ("good", bench.labels[-1][1], "success")
    assert summary.left == 0


def test_an_error_is_cleaned_up_before_the_next_episode_begins(tmp_path: Path) -> None:
    """Whatever the clean-up does, it happens to no episode: not to the one that is over, not to the next."""
    goals = ["errs and cleans up", "errs and dies cleaning up", "good", "errs and dies cleaning up"]
    bench = Bench(tmp_path, goals)
    summary = bench.play()
    assert bench.labels == [(goal, 0, "success" if goal == "good" else "policy_error") for goal in goals]
    assert (summary.left, len(bench.started)) == (0, 2)


def test_a_slow_disk_times_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the parent waits for the disk it hears nothing: that is no silence of the workers."""
    bench = Bench(tmp_path, ["waits for the pause", "good"], seats=2, together=True)
    record = bench.kept.record

    def slowly(episode: Episode, screenshots: dict[str, bytes]) -> None:
        if not bench.kept.episodes:
            (tmp_path / "pause").touch()
            threading.Event().wait(SECONDS + 1)
        record(episode, screenshots)

    monkeypatch.setattr(bench.kept, "record", slowly)
    bench.play()
    assert bench.labels == [("good", 0, "success"), ("waits for the pause", 0, "success")]
    assert bench.kept.episodes[1].wall_seconds > SECONDS


def test_the_first_worker_that_cannot_start_ends_the_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["good"], broken=[0])
    with pytest.raises(NotReadyError, match=r"a worker died while starting \(exit code 1; start 0 is broken\)"):
        bench.play()
    assert bench.labels == []


def test_a_later_start_may_fail_now_and_then(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["dies at once", "good"], broken=[1, 2])
    bench.play()
    assert bench.labels[-1] == ("good", 0, "success")
    assert len(bench.started) == 4


def test_but_not_always(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["good", "dies at once", "good"], broken=[1, 2, 3])
    with pytest.raises(NotReadyError, match="start 3 is broken"):
        bench.play()
    assert [label for _, _, label in bench.labels] == ["success", "worker_crash"], "what was finished is recorded"


def test_a_request_to_stop_puts_back_what_is_in_hand(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["good", "is stopped", "good"])

    def stop_at_the_stopped_one(state: RunState) -> None:
        if state.done == 1 and [current.phase for current in state.current.values()] == ["score"]:
            bench.runner.request_stop(grace_seconds=0)

    bench.on_update = stop_at_the_stopped_one
    summary = bench.play()
    assert (summary.interrupted, summary.left) == (True, 2)
    assert bench.labels == [("good", 0, "success")]


def test_a_recorder_that_fails_ends_the_run_and_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path, ["good"] * 3, seats=2)

    def full(*_: object) -> None:
        raise NotReadyError("the disk is full")

    monkeypatch.setattr(bench.kept, "record", full)
    with pytest.raises(NotReadyError, match="full"):
        bench.play()
