"""A cell's finished stages → its trials and its cost. Everything is read from what the stages wrote; nothing is computed anew.

    dreamed   a run of dreams      what their judge said, over all planned
    real      a run                what the benchmark said, over all planned
    audit     audit.json, rows     dreams called a success and replayed: P(real failure | dreamed success) comes from them
    cost      records' wall time, a training's log, tokens and episodes of runs

Real episodes of which none has a score fail the cell. Dreams of which none has a verdict do not: how the policy does for real is
known all the same. There is then nothing to audit, and a dash for the dreams: no verdict is not a rate of zero.
"""

from __future__ import annotations

import math
from pathlib import Path

from pydantic import ValidationError

from audits.ablation.grid import Gives
from audits.ablation.plan import PlannedCell
from audits.ablation.records import Stages
from audits.metrics.summary import AuditSummary
from audits.records import AuditRow
from harness.errors import UsageError
from harness.types import JsonDict
from results.ablations import Cell, Cost, Trial, scored
from results.files import Unreadable, read_gzipped
from results.outcomes import outcomes_of
from results.reader import MANIFEST, RunReader
from results.training_log import TRAIN_LOG, read_training_log

AUDIT, ROWS = "audit.json", "rows.jsonl.gz"
PRIMARY_ARM = "stop"
"""Of a replay: the arm that estimates the validity of the dreamed trajectory."""


def harvest(cell: PlannedCell, stages: Stages) -> Cell:
    """The cell, `done`, without its cost. Raises `UsageError` where output cannot be read, or no real episode has a score."""
    dreamed = trials(stages.out(cell.gives["dreamed"]))
    real = trials(where := stages.out(cell.gives["real"]))
    if not scored(real):
        raise UsageError(f"{where.name}: none of {len(real)} episodes has a score")
    known = Cell(level=cell.level, seed=cell.seed, state="done", dreamed=dreamed, real=real)
    if not scored(dreamed):
        return known.model_copy(update={"problem": f"none of {len(dreamed)} dreams has a verdict: nothing to audit"})
    replayed, passed = _audited(cell, stages)
    return known.model_copy(update={"replayed": replayed, "controls_passed": passed})


def speechless(directory: Path) -> bool:
    """Whether a finished run holds dreams and no verdict at all. Raises `HarnessError` where it cannot be read."""
    return not scored(trials(directory))


def trials(directory: Path) -> tuple[Trial, ...]:
    """One trial per planned episode of a run."""
    return tuple(
        Trial(task_id=o.task_id, cluster=o.cluster, success=(o.state == "success") if o.scored else None, key=o.key)
        for o in outcomes_of(RunReader.open(directory))
    )


def _audited(cell: PlannedCell, stages: Stages) -> tuple[tuple[Trial, ...], bool | None]:
    """Replays of dreams that were called a success, and whether the audit may be believed; none of both without an audit."""
    which: Gives = "audit"
    if which not in cell.gives:
        return (), None
    directory = stages.out(cell.gives[which])
    try:
        summary = AuditSummary.model_validate_json((directory / AUDIT).read_bytes())
        rows = [AuditRow.model_validate_json(line) for line in read_gzipped(directory / ROWS).splitlines()]
    except (OSError, ValidationError, Unreadable) as error:
        raise UsageError(f"{directory.name}: the audit cannot be read: {str(error).splitlines()[0]}") from None
    own = [row for row in rows if not row.anchor] or rows  # at the level `copy` the anchor is the world model in question
    claimed = [row for row in own if row.dreamed and row.arm == PRIMARY_ARM]
    return tuple(Trial(task_id=row.task_id, cluster=row.cluster, success=row.real) for row in claimed), summary.status == "VALID"


def cost_of(stage_id: str, stages: Stages) -> Cost:
    """What one stage has spent. Raises `UsageError` where its log or run cannot be read."""
    record = stages.record(stage_id)
    out = stages.out(stage_id)
    cost = Cost(seconds=record.seconds if record else 0.0)
    if (out / TRAIN_LOG).is_file():
        cost = cost + _trained(out / TRAIN_LOG)
    if (out / MANIFEST).is_file():
        cost = cost + _played(RunReader.open(out))
    for manifest in sorted(out.glob(f"*/*/{MANIFEST}")):  # a training's own runs; its ledger has their tokens
        cost = cost + Cost(real_episodes=_played(RunReader.open(manifest.parent)).real_episodes)
    return cost


def _trained(log: Path) -> Cost:
    """Supervised: `tokens` is a running total. In dreams: the ledger's totals; positions trained on include padding."""
    frame = read_training_log(log).frame

    def last(name: str) -> int:
        known = [] if name not in frame else frame[name].dropna().tolist()
        return int(known[-1]) if known else 0

    return Cost(
        train_tokens=last("tokens") + last("ledger.trained_cells"),
        world_model_tokens=last("ledger.world_model_tokens") + last("ledger.world_model_prompt_tokens"),
        policy_tokens=last("ledger.policy_tokens") + last("ledger.policy_prompt_tokens"),
    )


def _played(run: RunReader) -> Cost:
    """All attempts count: a repeated episode was paid for twice."""
    rows = run.rows()
    policy = sum(row.agent_prompt_tokens + row.agent_completion_tokens for row in rows)
    if rows and run.episode(rows[0].episode_id).trajectory.source == "dream":
        asked = [_asked(step.metadata) for episode in run.episodes() for step in episode.trajectory.steps]
        return Cost(policy_tokens=policy, world_model_tokens=sum(asked))
    return Cost(policy_tokens=policy, real_episodes=len(rows))


def _asked(metadata: JsonDict) -> int:
    """Tokens that a world model read and wrote for one step."""
    prediction = metadata.get("prediction")
    usage = prediction.get("usage") if isinstance(prediction, dict) else None
    if not isinstance(usage, dict):
        return 0
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    return sum(int(count) for count in counts if isinstance(count, int | float) and math.isfinite(count))
