"""How long a grid may still take: mean wall time of stages of the same name that are done below the same ROOT.

It is a lower bound: all that is left over all jobs, the longest way through one cell, what must not run side by side.
A stage of which none is done yet has no estimate, and then there is none for the whole: nothing is guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from audits.ablation.plan import Plan
from audits.ablation.records import Stages


@dataclass(frozen=True)
class Estimate:
    """`seconds` is None where a stage in `unknown` was never run here."""

    seconds: float | None
    unknown: tuple[str, ...]
    by_name: Mapping[str, float]
    """Stage's name → mean wall time of those that are done."""


def estimate(plan: Plan, stages: Stages, jobs: int) -> Estimate:
    """For what is not done."""
    means = {name: fmean(seconds) for name, seconds in stages.seconds_by_name().items()}
    left = [stage for stage in plan.stages.values() if not stages.done(stage)]
    unknown = sorted({stage.name for stage in left} - means.keys())
    if unknown:
        return Estimate(None, tuple(unknown), means)
    takes = {stage.id: means[stage.name] for stage in left}
    alone: defaultdict[str, float] = defaultdict(float)
    until: dict[str, float] = {}
    for stage in left:  # needs come before those that need them
        if stage.stage.exclusive:
            alone[stage.stage.exclusive] += takes[stage.id]
        until[stage.id] = takes[stage.id] + max((until.get(need, 0.0) for need in stage.needs), default=0.0)
    bounds = [sum(takes.values()) / jobs, *alone.values(), *until.values()]
    return Estimate(max(bounds, default=0.0), (), means)
