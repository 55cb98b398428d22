"""What `harness ablate` shows: the plan of a dry run; else stages done, what runs, time left. In a log: one line per event."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from audits.ablation import Plan, PlannedStage, StageRecord, Stages


ABSENT = "absent"
"""Stands for the hash of an input that is not there, in a dry run."""


class Screen:
    """An `audits.ablation.Watch`. Use as a context manager: it owns the screen while open.

    `on_cell` is called whenever the last stage of a cell has ended, and when a stage has failed.
    """

    def __init__(self, console: Console, plan: Plan, stages: Stages, jobs: int, *, on_cell: Callable[[], object]) -> None:
        self._console, self._plan, self._stages, self._jobs, self._on_cell = console, plan, stages, jobs, on_cell
        self._live = Live(console=console, refresh_per_second=2, transient=True) if console.is_terminal else None
        self._bar = Progress(TextColumn("stages"), BarColumn(), MofNCompleteColumn(), console=console)
        self._done = sum(stages.done(stage) for stage in plan.stages.values())
        self._task = self._bar.add_task("", total=len(plan.stages), completed=self._done)
        self._began: dict[str, float] = {}
        self._time_left = _left(plan, stages, jobs)

    def __enter__(self) -> Screen:
        cells = f"{len(self._plan.cells)} cells, {len(self._plan.stages)} stages, {self._done} done before"
        self._say(f"{self._plan.grid.name}: {cells}")
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def started(self, stage: PlannedStage) -> None:
        self._began[stage.id] = time.monotonic()
        self._say(f"{stage.id}  begun for {_cells(self._plan, stage.id)}")

    def ended(self, stage: PlannedStage, record: StageRecord) -> None:
        took = timedelta(seconds=round(record.seconds))
        note = f": {record.problem}" if record.problem else ""
        log = f"; see {self._stages.log(stage.id)}" if record.state == "failed" else ""
        self._say(f"{stage.id}  {record.state} in {took}{note}{log}")
        self._done += record.state == "done"
        self._bar.update(self._task, completed=self._done)
        self._time_left = _left(self._plan, self._stages, self._jobs)
        last = {cell.stages[-1] for cell in self._plan.cells} | {one for cell in self._plan.cells for one in cell.gives.values()}
        if stage.id in last or record.state == "failed":
            self._on_cell()

    def tick(self, running: Sequence[str]) -> None:
        if not self._live:
            return
        from audits.ablation.execute import last_words

        table = Table(box=None, show_header=False, pad_edge=False)
        for stage_id in running:
            since = timedelta(seconds=round(time.monotonic() - self._began[stage_id]))
            table.add_row(Text(stage_id), Text(str(since), "dim"), Text(last_words(self._stages, stage_id), "dim"))
        self._live.update(Group(self._bar, Text(self._time_left), table))

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def print_plan(console: Console, plan: Plan, stages: Stages, jobs: int) -> None:
    """Cells and how far they are, stages and who shares them, time. Nothing is run or written."""
    from audits.ablation.estimate import estimate

    grid, users = plan.grid, plan.users()
    done = {stage.id for stage in plan.stages.values() if stages.done(stage)}
    console.print(f"{grid.name}: {len(grid.levels)} levels of {grid.factor} × {len(grid.seeds)} seeds", highlight=False)
    cells = Table("cell", "stages", "done", "of its own", box=None, pad_edge=False)
    for cell in plan.cells:
        own = sum(users[stage_id] == 1 for stage_id in cell.stages)
        finished = sum(stage_id in done for stage_id in cell.stages)
        cells.add_row(Text(f"{cell.level}, seed {cell.seed}"), str(len(cell.stages)), str(finished), str(own))
    known = estimate(plan, stages, jobs)
    table = Table("stage", "distinct", "done", "shared by cells", "seconds each", box=None, pad_edge=False)
    for one in grid.stages:
        ids = [stage.id for stage in plan.stages.values() if stage.name == one.name]
        if not ids:
            continue
        shared = sorted({users[stage_id] for stage_id in ids})
        each = f"{known.by_name[one.name]:.0f}" if one.name in known.by_name else "not run yet"
        counts = f"{shared[0]}" if len(shared) == 1 else f"{shared[0]} to {shared[-1]}"
        table.add_row(one.name, str(len(ids)), str(sum(stage_id in done for stage_id in ids)), counts, each)
    console.print(cells, "", table, "", sep="\n", highlight=False)
    for name, path in grid.inputs.items():
        if plan.fingerprints[name] == ABSENT:
            console.print(f"input {name}: {path} is not there yet", markup=False, highlight=False, soft_wrap=True)
    console.print(_left(plan, stages, jobs), highlight=False, soft_wrap=True)


def _left(plan: Plan, stages: Stages, jobs: int) -> str:
    from audits.ablation.estimate import estimate

    found = estimate(plan, stages, jobs)
    if found.seconds is None:
        return f"time left: not known until one of each is done: {', '.join(found.unknown)}"
    return f"time left: at least {timedelta(seconds=round(found.seconds))} with {jobs} side by side, as stages took so far"


def _cells(plan: Plan, stage_id: str) -> str:
    users = [f"{cell.level}, seed {cell.seed}" for cell in plan.cells if stage_id in cell.stages]
    return users[0] if len(users) == 1 else f"{len(users)} cells"
