"""Dreams as a run: an ordinary run directory, so that reports, dashboards and audits read them as they read real episodes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness.benchmarks.tasksets import task_set_hash
from harness.types import Episode, JsonDict
from results.environment import collect_environment
from results.manifest import RunManifest
from training.dream.config import DreamRules
from training.dream.generate import Dream, PlannedDream


def dream_manifest(
    directory: Path, planned: Sequence[PlannedDream], rules: DreamRules, *, policy: str, about: JsonDict, seed: int
) -> RunManifest:
    """The manifest of a run of `planned` dreams. `about`: what else shapes them (world model, experts, update …)."""
    tasks = {item.spec.task.task_id: item.spec.task for item in planned}
    return RunManifest(
        run_id=directory.name,
        created_at=now(),
        benchmark="+".join(sorted({task.benchmark for task in tasks.values()})),
        config={
            "dream": rules.model_dump(mode="json"),
            "policy": {"name": policy},
            "limits": {"max_steps": rules.dream_length},
            **about,
        },
        task_set_hash=task_set_hash(list(tasks.values())),
        tasks=len(tasks),
        planned=len(planned),
        repeats=max(item.spec.repeat for item in planned) + 1,
        base_seed=seed,
        policy=policy,
        judge="self-assessment",
        environments=(collect_environment(),),
    )


def dream_episode(run_id: str, found: Dream) -> Episode:
    """A finished dream as the store takes it. Its wall time is that of its own models: a batch is shared out among its dreams."""
    return Episode(
        run_id=run_id,
        spec=found.planned.spec,
        trajectory=found.trajectory,
        verdict=found.verdict,
        started_at=now(),
        wall_seconds=sum(step.timing.policy + step.timing.execute for step in found.trajectory.steps),
        finish_index=found.planned.spec.order_index,
    )


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
