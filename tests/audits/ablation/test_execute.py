"""How stages are run: order, sharing, failures, exclusion, interruption, resume. Processes are real; what they do is small."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from audits.ablation import Plan, PlannedStage, StageRecord, Stages, execute
from harness.errors import NotReadyError
from tests.audits.ablation.grids import BASE, DREAM, REAL, grid, planned

PROGRAM = (sys.executable, str(Path(__file__).with_name("program.py")))


class Told:
    """Keeps what a Watch is told, in order; `on_start` may do something as a stage begins."""

    def __init__(self, on_start: Callable[[PlannedStage], None] = lambda _: None) -> None:
        self.events: list[tuple[str, str]] = []
        self._on_start = on_start

    def started(self, stage: PlannedStage) -> None:
        self.events.append(("started", stage.name))
        self._on_start(stage)

    def ended(self, stage: PlannedStage, record: StageRecord) -> None:
        self.events.append((record.state, stage.name))

    def tick(self, running: Sequence[str]) -> None: ...


def run(plan: Plan, stages: Stages, jobs: int = 1, told: Told | None = None) -> Told:
    told = told or Told()
    with stages.locked():
        execute(plan, stages, program=PROGRAM, jobs=jobs, watch=told)
    return told


def made(root: Path, *stages: dict[str, Any], **fields: Any) -> tuple[Plan, Stages]:
    return planned(grid(*stages, **fields), root)


def record(plan: Plan, stages: Stages, name: str) -> StageRecord:
    found = stages.record(next(stage.id for stage in plan.stages.values() if stage.name == name))
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """A shell that starts something in the background has it ignore SIGINT, and its children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_every_stage_runs_once_and_never_again(tmp_path: Path) -> None:
    plan, stages = made(tmp_path)
    told = run(plan, stages)
    assert [name for event, name in told.events if event == "done"] == ["base", "dream", "real", "dream"]
    base = record(plan, stages, "base")
    assert (base.state, len(base.attempts), base.attempts[0].exit_code) == ("done", 1, 0)
    assert (stages.out(base.id) / "answer").read_text() == "model 0"
    assert run(plan, stages).events == []


def test_what_was_deleted_is_made_again(tmp_path: Path) -> None:
    plan, stages = made(tmp_path)
    run(plan, stages)
    (stages.out(record(plan, stages, "base").id) / "answer").unlink()
    assert run(plan, stages).events == [("started", "base"), ("done", "base")]


def test_a_failed_stage_stops_what_needs_it_and_nothing_else(tmp_path: Path) -> None:
    dream = {**DREAM, "command": ["{verb}", "{out}", "{base}"]}
    levels = {"bad": {"length": 1, "verb": "fail"}, "good": {"length": 5, "verb": "write"}}
    after = {"name": "audit", "command": ["write", "{out}", "{dream}"], "gives": "audit"}
    plan, stages = made(tmp_path, BASE, dream, REAL, after, levels=levels)
    told = run(plan, stages)
    assert told.events.count(("done", "audit")) == 1
    failed = next(r for stage in plan.stages if (r := stages.record(stage)) and r.state == "failed")
    assert failed.problem == "exit code 1: harness: no luck"
    assert run(plan, stages).events == [("started", "dream"), ("failed", "dream")], "tried again, alone"
    assert len(record(plan, stages, "dream").attempts) == 2


@pytest.mark.parametrize(
    ("verb", "writes", "problem"),
    [
        ("write", ["model.bin"], "ended well, but did not write base-"),
        ("broken", [], "exit code 4: working on broken"),
    ],
)
def test_an_end_that_is_none(tmp_path: Path, verb: str, writes: list[str], problem: str) -> None:
    base = {**BASE, "command": [verb, "{out}"], "writes": writes}
    plan, stages = made(tmp_path, base, DREAM, REAL)
    assert run(plan, stages).events == [("started", "base"), ("failed", "base")]
    assert record(plan, stages, "base").problem.startswith(problem)


def test_two_stages_run_at_the_same_time(tmp_path: Path) -> None:
    """Each of the twins ends only once it has seen the other."""
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    dream = {**DREAM, "command": ["together", "{out}", "{place}", "{length}"]}
    plan, stages = made(tmp_path / "root", dream, {**REAL, "command": ["write", "{out}"]}, values={"place": str(meeting)})
    told = run(plan, stages, jobs=2)
    assert told.events.count(("done", "dream")) == 2


def test_what_excludes_each_other_runs_one_by_one(tmp_path: Path) -> None:
    dream = {**DREAM, "command": ["write", "{out}", "{length}"], "exclusive": "sites"}
    real = {**REAL, "command": ["write", "{out}"], "exclusive": "sites"}
    plan, stages = made(tmp_path, dream, real)
    told = run(plan, stages, jobs=3)
    assert [event for event, _ in told.events] == ["started", "done"] * 3


def test_an_interrupted_stage_goes_on(tmp_path: Path) -> None:
    base = {**BASE, "command": ["hang", "{out}"], "resume": ["--resume"]}
    plan, stages = made(tmp_path, base, DREAM, REAL)

    def interrupt(stage: PlannedStage) -> None:
        if stage.name == "base":
            when(lambda: (stages.out(stage.id) / "begun").exists(), lambda: os.kill(os.getpid(), signal.SIGINT))

    with pytest.raises(KeyboardInterrupt):
        run(plan, stages, told=Told(interrupt))
    stopped = record(plan, stages, "base")
    assert (stopped.state, stopped.problem) == ("stopped", "interrupted")
    assert not psutil.pid_exists(stopped.attempts[0].pid)
    told = run(plan, stages)
    assert ("done", "base") in told.events
    again = record(plan, stages, "base")
    assert [attempt.exit_code is not None for attempt in again.attempts] == [True, True]
    assert (stages.out(again.id) / "answer").read_text() == "--resume"
    assert again.seconds >= (stopped.attempts[0].seconds or 0)


def test_the_child_of_a_killed_grid_is_ended_before_its_stage_goes_on(tmp_path: Path) -> None:
    base = {**BASE, "command": ["hang", "{out}"], "resume": ["--resume"]}
    plan, stages = made(tmp_path, base, DREAM, REAL)
    stage = next(stage for stage in plan.stages.values() if stage.name == "base")
    orphan = subprocess.Popen([*PROGRAM, *stage.command])
    try:
        wait(lambda: (stages.out(stage.id) / "begun").exists())
        stages.log(stage.id).touch()
        attempt = {"started_at": "", "began": time.time(), "pid": orphan.pid, "born": psutil.Process(orphan.pid).create_time()}
        left = StageRecord(
            id=stage.id, stage="base", key=stage.key, command=stage.command, needs=(), inputs={}, state="running",
            attempts=(attempt,), environment={"python": "3"},
        )  # fmt: skip
        stages.write(left)
        run(plan, stages)
        assert not psutil.pid_exists(orphan.pid)
    finally:
        orphan.kill()
    assert record(plan, stages, "base").state == "done"
    assert record(plan, stages, "base").attempts[0].seconds is not None


def test_only_one_process_runs_grids_in_one_place(tmp_path: Path) -> None:
    with Stages(tmp_path).locked(), pytest.raises(NotReadyError, match="another process"), Stages(tmp_path).locked():
        pass


def test_a_damaged_record_is_begun_again(tmp_path: Path) -> None:
    plan, stages = made(tmp_path)
    run(plan, stages)
    base = record(plan, stages, "base")
    (stages.directory / f"{base.id}.json").write_text("{")
    assert run(plan, stages).events == [("started", "base"), ("done", "base")]


def wait(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


def when(condition: Callable[[], bool], then: Callable[[], None]) -> None:
    def later() -> None:
        wait(condition)
        then()

    threading.Thread(target=later, daemon=True).start()
