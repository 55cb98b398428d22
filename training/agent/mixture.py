"""The mixture: a whole dream is replaced by a whole real expert trajectory of the same task, with probability `real_ratio`.

    plan(requests, experts, config, rng)  →  how many dreams each group still needs, and which experts stand in it

Neither a teacher taking over in the middle of a dream, nor a share of real steps (seeds, §4). The draw is made before dreaming:
which dreams are replaced depends on chance alone, so a dream that would be thrown away need not be dreamed.

Where this differs from the paper, which does not say it (docs/objectives/dynaweb.md):
- An expert trajectory stands in a group at most `max_copies` times. The paper has one expert per task and swaps half of 8: four
  identical rows would then be a quarter of a batch's weight on one path. What the cap refuses stays a dream, and is counted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from harness.errors import UsageError
from harness.types import Record, Task
from training.agent.rows import Sample


class MixtureConfig(Record):
    """`[mixture]`: real expert trajectories among the dreams. What their rows are worth is `[objective.expert]`."""

    real_ratio: float = Field(default=0.5, ge=0, le=1)
    """Chance that a dream is replaced by an expert trajectory of its task. The paper's 0.5."""
    max_copies: int = Field(default=1, ge=1)
    """Times that one expert trajectory may stand in a group."""


@dataclass(frozen=True, slots=True)
class GroupRequest:
    """A group to roll out: `size` trajectories of one task under the current policy."""

    key: str
    task: Task
    size: int
    seed: int
    """All randomness of the group: equal seeds and weights give equal rollouts."""


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """What a group is made of: `request.size` rollouts, and these experts."""

    request: GroupRequest
    experts: tuple[Sample, ...] = ()


@dataclass(frozen=True, slots=True)
class MixtureLog:
    """Counts over places in groups. asked = replaced + capped + without_expert."""

    places: int = 0
    asked: int = 0
    replaced: int = 0
    capped: int = 0
    without_expert: int = 0

    def __add__(self, other: MixtureLog) -> MixtureLog:
        return MixtureLog(
            self.places + other.places,
            self.asked + other.asked,
            self.replaced + other.replaced,
            self.capped + other.capped,
            self.without_expert + other.without_expert,
        )


Experts = Mapping[str, Sequence[Sample]]
"""Task id → its real expert trajectories."""


def check_experts(experts: Experts, config: MixtureConfig) -> None:
    """Raises UsageError if experts are wanted and there are none, or one of them is no success that was really played."""
    if config.real_ratio > 0 and not any(experts.values()):
        raise UsageError(
            "real_ratio is above 0, but there is no expert trajectory", fix="give expert runs, or set real_ratio = 0"
        )
    for task_id, samples in experts.items():
        for sample in samples:
            if sample.trajectory.source not in ("real", "expert"):
                raise UsageError(f"the expert of {task_id} is a {sample.trajectory.source}, not real", fix="give real runs")
            if sample.reward is None:
                raise UsageError(f"the expert of {task_id} has no reward", fix="leave out episodes without a score")


def plan(
    requests: Sequence[GroupRequest], experts: Experts, config: MixtureConfig, rng: random.Random
) -> tuple[list[GroupPlan], MixtureLog]:
    """Draw for every place of every group. The same rng state gives the same plan."""
    plans, log = [], MixtureLog()
    for request in requests:
        chosen, here = _replacements(request, experts.get(request.task.task_id, ()), config, rng)
        plans.append(GroupPlan(replace(request, size=request.size - len(chosen)), tuple(chosen)))
        log = log + here
    return plans, log


def _replacements(
    request: GroupRequest, pool: Sequence[Sample], config: MixtureConfig, rng: random.Random
) -> tuple[list[Sample], MixtureLog]:
    chosen: list[Sample] = []
    used: Counter[str] = Counter()
    asked = capped = without = 0
    for _ in range(request.size):
        if rng.random() >= config.real_ratio:
            continue
        asked += 1
        if not pool:
            without += 1
            continue
        free = [sample for sample in pool if used[sample.name] < config.max_copies]
        if not free:
            capped += 1
            continue
        expert = rng.choice(free)
        used[expert.name] += 1
        copy = f"expert/{expert.name}/{used[expert.name]}"
        chosen.append(replace(expert, group=request.key, name=copy, expert=True))
    return chosen, MixtureLog(request.size, asked, len(chosen), capped, without)
