"""Expert trajectories out of run directories: for the warm start (SFT) and for the mixture.

    run directory ─▶ successes of `train` tasks, played for real ─▶ expert_samples(…)   instance → samples   (mixture)
                                                                └▶ split_experts(…)    train, dev          (SFT)

Which tasks may be trained on is the benchmark's own statement (`metadata.split`, `held_out_site`): test tasks and tasks of a
held-out site never are. A benchmark without splits gives every tenth template, by hash of its name, to dev; one that draws its
goals from the seed (MiniWoB++) every tenth pair of task and seed, since there a seed is the instance and a task the template.

A group compares rollouts of one goal. So what is trained on is an *instance*: a task, or a task with its seed where the goal is
drawn from it (`instance_of`); `Task.task_id` of a training task is the instance's name.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from harness.types import Task, Verdict
from results.reader import RunReader
from results.transitions import TrajectoryRow, trajectories
from training.agent.rows import Sample

DEV_SHARE = 10
"""Without splits, one template in so many is dev."""

Split = Literal["train", "dev", "test"]


def read_experts(runs: Sequence[Path]) -> Iterator[TrajectoryRow]:
    """Successes of these runs that were really played, run by run. Raises UsageError for a directory without a run."""
    for run in runs:
        for row in trajectories(RunReader.open(run), only_success=True):
            if row.trajectory.source in ("real", "expert") and row.trajectory.steps:
                yield row


def split_of(row: TrajectoryRow) -> Split:
    """Where a trajectory belongs. A held-out site is test, whatever the task's split says."""
    if row.held_out_site:
        return "test"
    if row.split in ("train", "dev", "test"):
        return row.split  # type: ignore[return-value]
    task = row.trajectory.task
    unit = row.template if task.goal else f"{task.benchmark}/{instance_of(task, row.trajectory.seed)}"
    digest = hashlib.sha256(unit.encode()).digest()
    return "dev" if int.from_bytes(digest[:4], "big") % DEV_SHARE == 0 else "train"


def instance_of(task: Task, seed: int) -> str:
    """Name of what has one goal: the task's own, with the seed where the goal is drawn from it."""
    return task.task_id if task.goal else f"{task.task_id}#{seed}"


def training_tasks(experts: Mapping[str, Sequence[Sample]]) -> list[Task]:
    """One task per instance that has an expert, in order of names."""
    return [
        samples[0].trajectory.task.model_copy(update={"task_id": name}) for name, samples in sorted(experts.items()) if samples
    ]


def expert_samples(runs: Sequence[Path]) -> tuple[dict[str, list[Sample]], Counter[str]]:
    """Instance → its real experts of the train split, shortest first, equal ones once; and how many there were of each split."""
    found: dict[str, list[Sample]] = {}
    counts: Counter[str] = Counter()
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for row in read_experts(runs):
        split = split_of(row)
        counts[split] += 1
        instance = instance_of(row.trajectory.task, row.trajectory.seed)
        path = tuple(f"{s.output.action.name}{s.output.action.arguments}" for s in row.trajectory.steps)
        if split != "train" or (instance, path) in seen:
            continue
        seen.add((instance, path))
        verdict = Verdict(status=row.status, reward=row.reward, scorer="recorded", scorer_version=row.run_id)
        name = f"{row.run_id}/{row.episode_id}"
        found.setdefault(instance, []).append(Sample("", name, row.trajectory, verdict, expert=True))
    return {name: sorted(kept, key=lambda one: len(one.trajectory.steps)) for name, kept in found.items()}, counts
