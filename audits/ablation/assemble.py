"""A plan and what lies on disk → `results.ablations.Ablation`, and its files.

What only one cell needed is that cell's cost; what several share is the grid's. A stage that a cell needs and that failed fails
the cell, with the stage's own words; a cell that cannot be read is failed too. Both are named and counted, and are in no rate.
Where every dream broke there is nothing to audit: what would read those dreams is not asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from audits.ablation.harvest import cost_of, harvest, speechless
from audits.ablation.plan import Plan, PlannedCell
from audits.ablation.provenance import PROVENANCE, joined, provenance, read_provenance
from audits.ablation.records import Stages
from harness.errors import HarnessError
from harness.types import JsonDict
from results.ablation_parts import merged
from results.ablations import ABLATION, Ablation, Cell, Cost, ablation_report, read_ablation, write_ablation
from results.files import disk_errors, replace_file
from results.published import load_published
from results.render import Format, render

FORMATS = {Format.MD: "ablation.md", Format.CSV: "ablation.csv", Format.LATEX: "ablation.tex"}


def assemble(plan: Plan, stages: Stages) -> Ablation:
    """The grid as it stands now."""
    grid = plan.grid
    users = plan.users()
    cells = tuple(found for cell in plan.cells if (found := _cell(cell, plan, stages, users)) is not None)
    shared = Cost()
    for stage_id, count in users.items():
        if count > 1 and stages.record(stage_id) is not None:
            shared = shared + _cost(stage_id, stages)
    config: JsonDict = {
        "values": dict(grid.values),
        "levels": {level: dict(words) for level, words in grid.levels.items()},
        "inputs": {name: {"path": Path(path).name, "sha256": plan.fingerprints[name]} for name, path in grid.inputs.items()},
        "stages": {stage.name: " ".join(("harness", *stage.command)) for stage in grid.stages},
        "shared": [stage_id for stage_id, count in sorted(users.items()) if count > 1],
        "commits": [*_commits(plan, stages)],
    }
    return Ablation(
        name=grid.name,
        title=grid.title,
        factor=grid.factor,
        levels=tuple(grid.levels),
        seeds=grid.seeds,
        reference=grid.reference,
        config=config,
        cells=cells,
        shared_cost=shared,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def write_results(directory: Path, plan: Plan, stages: Stages) -> Ablation:
    """The grid as it stands now."""
    ablation = assemble(plan, stages)
    _write(directory, ablation, provenance(plan, stages))
    return ablation


def merge_results(parts: Sequence[Path], directory: Path) -> Ablation:
    """One grid from the directories of its parts (`results.ablation_parts`), written below `directory` by the grid's name.

    Raises `UsageError` naming the part that cannot be read, or what differs.
    """
    ablation = merged([read_ablation(part / ABLATION) for part in parts])
    _write(directory / ablation.name, ablation, joined([read_provenance(part / PROVENANCE) for part in parts]))
    return ablation


def _write(directory: Path, ablation: Ablation, made: JsonDict) -> None:
    """ablation.json last: the dashboard looks for it, and finds the tables beside it."""
    report = ablation_report(ablation, load_published())
    with disk_errors(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
        for form, name in FORMATS.items():
            replace_file(directory / name, render(report, form).encode())
        replace_file(directory / PROVENANCE, f"{json.dumps(made, ensure_ascii=False, indent=1)}\n".encode())
        write_ablation(directory / ABLATION, ablation)


def _cell(cell: PlannedCell, plan: Plan, stages: Stages, users: Mapping[str, int]) -> Cell | None:
    """None for a cell of which nothing has been begun."""
    records = {stage_id: stages.record(stage_id) for stage_id in cell.stages}
    begun = [record for record in records.values() if record is not None]
    if not begun:
        return None
    own = [stage_id for stage_id in cell.stages if users[stage_id] == 1 and records[stage_id] is not None]
    cost = Cost()
    for stage_id in own:
        cost = cost + _cost(stage_id, stages)
    where = os.path.relpath(stages.directory, stages.root / plan.grid.name)
    about = {
        "cost": cost,
        "runs": {plan.stages[stage_id].name: f"{where}/{stage_id}" for stage_id in cell.stages if records[stage_id] is not None},
    }
    asked = _asked(cell, plan, stages)
    broken = [record for record in begun if record.state == "failed" and record.id in asked]
    if broken:
        problem = "; ".join(f"stage {record.stage}: {record.problem}" for record in broken)
        return Cell(level=cell.level, seed=cell.seed, state="failed", problem=_placeless(problem, stages), **about)
    if not all(stages.done(plan.stages[stage_id]) for stage_id in asked):
        return Cell(level=cell.level, seed=cell.seed, state="running", **about)
    try:
        return harvest(cell, stages).model_copy(update=about)
    except HarnessError as error:
        return Cell(level=cell.level, seed=cell.seed, state="failed", problem=_placeless(str(error), stages), **about)


def _asked(cell: PlannedCell, plan: Plan, stages: Stages) -> set[str]:
    """The stages that the cell needs: not those that read its dreams, where none of these has a verdict."""
    dream = cell.gives["dreamed"]
    if not stages.done(plan.stages[dream]):
        return set(cell.stages)
    try:
        if not speechless(stages.out(dream)):
            return set(cell.stages)
    except HarnessError:  # said when the cell is read
        return set(cell.stages)
    mute = {dream}
    for stage_id in cell.stages:  # earlier ones first
        if not mute.isdisjoint(plan.stages[stage_id].needs):
            mute.add(stage_id)
    return set(cell.stages) - mute | {dream}


def _placeless(problem: str, stages: Stages) -> str:
    """A grid may be published: where it lay on a machine is nobody's business."""
    return problem.replace(f"{stages.directory}/", "").replace(f"{stages.root}/", "")


def _cost(stage_id: str, stages: Stages) -> Cost:
    try:
        return cost_of(stage_id, stages)
    except HarnessError:  # half-written by a stage that failed
        record = stages.record(stage_id)
        return Cost(seconds=record.seconds if record else 0.0)


def _commits(plan: Plan, stages: Stages) -> list[str]:
    """Of the code that the stages were made with: more than one asks for a second look."""
    records = [stages.record(stage_id) for stage_id in plan.stages]
    return sorted({(r.environment.commit or "unknown") + ("+changes" if r.environment.dirty else "") for r in records if r})
