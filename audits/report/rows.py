"""A stored replay → an `AuditRow`."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, get_args

from audits.records import Anchor, AuditRow, GroundClass, SamplingPlan
from audits.replay.evidence import Replay, dream_of, read_replays
from audits.replay.plan import weights
from harness.errors import UsageError, first_line
from harness.types import JsonDict, Record, Trajectory, Verdict
from results.reader import EPISODES, RunReader

JUDGED: Final = "judged.jsonl"
"""Beside a run of replays: one `Judged` a line, the dream's own judge on the real pages. Without it blame is not attributed."""
_CLASSES: Final = frozenset(get_args(GroundClass))
_ANCHORS: Final[dict[str, Anchor]] = {**{name: name for name in get_args(Anchor) if name}, "program": "oracle"}
"""First word of a world model's name → the anchor that it is: `program` is the same real world, only not reset in between."""


class Judged(Record):
    """What a judge that reads trajectories says of a replay: J_r of the blame split."""

    episode_id: str
    success: bool
    judge: str = ""


def rows_of(reader: RunReader, beside: Path) -> Iterator[AuditRow]:
    """The rows of a run of replays, in the order of finishing. `beside`: where audit.json will lie."""
    plan = sampling_of(reader)
    by_claim = weights(plan) if plan is not None else {}
    folder = os.path.relpath(reader.directory / EPISODES, beside)
    source = str(_stored(reader.manifest.benchmark_options, "dreams").get("run", ""))
    judged = read_judged(reader.directory / JUDGED)
    for replay in read_replays(reader):
        name = replay.episode.spec.episode_id
        yield row_of(replay, source, by_claim, f"{folder}/{name}").model_copy(update={"judge_on_real": judged.get(name)})


def read_judged(path: Path) -> dict[str, bool]:
    """Episode id → verdict; empty if there is no such file. Raises UsageError for a line that is none."""
    if not path.exists():
        return {}
    try:
        found = [Judged.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {first_line(error)}", fix="write one Judged record a line, or remove it") from None
    return {line.episode_id: line.success for line in found}


def row_of(replay: Replay, source: str, by_claim: dict[bool, float], evidence: str) -> AuditRow:
    """One row. `source`: the dreams' run; `by_claim`: weight by what the dream says of itself."""
    task, found, dream = replay.episode.spec.task, replay.assessment, replay.dream
    dreamed = replay.claim is not None and replay.claim.status == "success"
    first = found.first
    producers = dream.producers if dream is not None else {}
    world_model = producers.get("world_model", "")
    spoken = world_model.partition(" ")[0]
    return AuditRow(
        dream=f"{source}/{dream_of(replay.episode.spec)}",
        benchmark=task.benchmark,
        task_id=task.task_id,
        template=task.intent_template_id,
        site=task.site,
        task_type=str(task.metadata.get("kind", "")),
        arm=found.arm,
        anchor=_ANCHORS.get(spoken, ""),
        world_model=world_model,
        policy=producers.get("policy", ""),
        group=_group(replay.claim, source),
        length=found.length,
        dreamed=dreamed,
        score=_probability(replay.claim) if dream is not None and dream.source == "dream" else None,
        outcome=found.outcome,
        cause=found.cause,
        compared=min(found.compared, found.length + 1),
        divergence=first.page if first else None,
        divergence_cause=first.cause if first else None,
        grounding=tuple(g.kind for g in found.groundings if g.kind in _CLASSES),
        delta_f1=tuple(check.delta_f1 for check in found.checks[1:]),
        uncertainty=_uncertainty(dream) if dream is not None else {},
        weight=by_claim.get(dreamed, 1.0),
        unintended_changes=_unintended(replay.episode.verdict),
        evidence=evidence,
    )


def sampling_of(reader: RunReader) -> SamplingPlan | None:
    stored = _stored(reader.manifest.benchmark_options, "sampling")
    return SamplingPlan.model_validate(stored) if stored else None


def _group(claim: Verdict | None, source: str) -> str:
    """Dreams of one start, whose advantages were taken together."""
    mark = claim.evidence.get("dream") if claim is not None else None
    return f"{source}/{mark['group']}" if isinstance(mark, dict) and "group" in mark else ""


def _probability(claim: Verdict | None) -> float | None:
    raw = claim.raw_reward if claim is not None else None
    return raw if raw is not None and 0 <= raw <= 1 else None


def _uncertainty(dream: Trajectory) -> dict[str, float]:
    """How unsure the world model was at its least sure step: what was known when the dream was made."""
    found: dict[str, float] = {}
    for step in dream.steps:
        for name, sign in (("disagreement", 1.0), ("confidence", -1.0)):
            value = step.metadata.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                key = name if sign > 0 else "unconfidence"
                found[key] = max(found.get(key, -math.inf), sign * value)
    return found


def _unintended(verdict: Verdict) -> int | None:
    lines = _stored(verdict.evidence, "state").get("unintended")
    return len(lines) if isinstance(lines, list) else None


def _stored(data: JsonDict, key: str) -> JsonDict:
    value = data.get(key)
    return value if isinstance(value, dict) else {}
