"""Expert trajectories out of run directories: for the warm start (SFT) and for the mixture.

    run directory ─▶ successes of `train` tasks, played for real ─▶ expert_samples(…)   task id → samples   (mixture)
                                                                └▶ split_experts(…)    train, dev          (SFT)

Which tasks may be trained on is the benchmark's own statement (`metadata.split`, `held_out_site`): test tasks and tasks of a
held-out site never are. A benchmark without splits gives every tenth template, by hash of its name, to dev.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from harness.types import Verdict
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
    digest = hashlib.sha256(row.template.encode()).digest()
    return "dev" if int.from_bytes(digest[:4], "big") % DEV_SHARE == 0 else "train"


def expert_samples(runs: Sequence[Path]) -> tuple[dict[str, list[Sample]], Counter[str]]:
    """Task id → real expert trajectories of train tasks, shortest first, equal ones once; and how many were of which split."""
    found: dict[str, list[Sample]] = {}
    counts: Counter[str] = Counter()
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for row in read_experts(runs):
        split = split_of(row)
        counts[split] += 1
        task_id = row.trajectory.task.task_id
        path = tuple(f"{s.output.action.name}{s.output.action.arguments}" for s in row.trajectory.steps)
        if split != "train" or (task_id, path) in seen:
            continue
        seen.add((task_id, path))
        verdict = Verdict(status=row.status, reward=row.reward, scorer="recorded", scorer_version=row.run_id)
        name = f"{row.run_id}/{row.episode_id}"
        found.setdefault(task_id, []).append(Sample("", name, row.trajectory, verdict, expert=True))
    return {task: sorted(kept, key=lambda one: len(one.trajectory.steps)) for task, kept in found.items()}, counts
