"""From the samples of an update's groups to rows with advantages: who counts, who is compared with whom, what is left.

    samples ─ prepare ─▶ valid ─ decide (group filter) ─▶ used groups ─ group_advantages ─▶ Batch(rows, …, advantages_N)
                 └▶ invalid, by reason     └▶ dropped, to be resampled, replayed

The numbering of trajectories and groups is that of the batch, made here, once: every row carries its place.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from training.agent.experts import instance_of
from training.agent.replay import ReplayBuffer
from training.agent.rows import Prepared, Row, RowLimits, Sample, prepare
from training.objectives import ObjectiveConfig, decide, group_advantages


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of one update. N trajectories are numbered 0 … N−1 in order of first appearance."""

    rows: tuple[Row, ...] = ()
    trajectory_R: tuple[int, ...] = ()
    advantages_N: tuple[float, ...] = ()
    groups: int = 0

    @property
    def trajectories(self) -> int:
        return len(self.advantages_N)

    def tokens_R(self) -> Tensor:
        return torch.tensor([row.tokens for row in self.rows])


@dataclass(slots=True)
class GroupingLog:
    """Counts of one update."""

    valid: int = 0
    valid_experts: int = 0
    """Of these, experts."""
    invalid: Counter[str] = field(default_factory=Counter)
    used_groups: int = 0
    dropped_groups: int = 0
    resampled_groups: int = 0
    replayed_groups: int = 0


@dataclass(slots=True)
class Grouping:
    """Collects groups until there are enough, then makes the batch. `replay` may be shared between updates."""

    objective: ObjectiveConfig
    limits: RowLimits
    replay: ReplayBuffer
    rng: random.Random
    log: GroupingLog = field(default_factory=GroupingLog)
    groups: list[list[Prepared]] = field(default_factory=list)

    def add(self, samples: Sequence[Sample]) -> bool:
        """Take one group's samples. False: the group carries no signal and another one is wanted in its place."""
        prepared = [prepare(sample, self.limits) for sample in samples]
        valid = [one for one in prepared if not one.invalid]
        self.log.valid += len(valid)
        self.log.valid_experts += sum(one.sample.expert for one in valid)
        self.log.invalid.update(one.invalid for one in prepared if one.invalid)
        decision = decide([one.reward for one in valid], self.objective.group_filter)
        self.replay.add(valid)
        if decision == "replay":  # nothing was added then: all have failed
            valid = self._with_success(valid)
        if decision in ("drop", "resample"):
            self.log.dropped_groups += 1
            self.log.resampled_groups += decision == "resample"
            return decision != "resample"
        self.log.used_groups += 1
        self.groups.append(valid)
        return True

    def batch(self) -> Batch:
        rewards: list[float] = []
        rows: list[Row] = []
        group_N, inside_N, trajectory_R = [], [], []
        for number, group in enumerate(self.groups):
            for one in group:
                index = len(rewards)
                rewards.append(one.reward)
                group_N.append(number)
                inside_N.append(not one.sample.expert or self.objective.expert.in_baseline)
                rows.extend(one.rows)
                trajectory_R.extend([index] * len(one.rows))
        if not rewards:
            return Batch()
        advantages_N = group_advantages(
            torch.tensor(rewards, dtype=torch.float64),
            torch.tensor(group_N),
            self.objective.advantage,
            torch.tensor(inside_N),
        )
        return Batch(tuple(rows), tuple(trajectory_R), tuple(advantages_N.tolist()), len(self.groups))

    def _with_success(self, failed: list[Prepared]) -> list[Prepared]:
        trajectory = failed[0].sample.trajectory
        stored = self.replay.draw(instance_of(trajectory.task, trajectory.seed), self.rng)
        if stored is None:
            return failed
        self.log.replayed_groups += 1
        place = self.rng.randrange(len(failed))
        group = failed[place].sample.group
        name = f"replay/{stored.sample.group}/{stored.sample.name}"
        rows = tuple(replace(row, group=group, trajectory=name) for row in stored.rows)
        moved = replace(stored, sample=replace(stored.sample, group=group, name=name), rows=rows)
        return [*failed[:place], moved, *failed[place + 1 :]]
