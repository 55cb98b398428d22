"""What commands about dreams are given: an agent's checkpoint and a run of an expert, small and real."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.types import Episode, EpisodeSpec, Status, Verdict
from results.store import RunStore
from tests.results.factory import manifest
from tests.training.dream.support import expert
from tests.training.models.support import tiny
from training.models import CheckpointCard, save_checkpoint


def agent(directory: Path) -> Path:
    """A checkpoint of random weights."""
    model, tokenizer = tiny(1)
    card = CheckpointCard(kind="agent", preset="tiny", format="descriptor", max_prompt_tokens=200, max_new_tokens=12)
    save_checkpoint(directory, model, tokenizer, card)
    return directory


def expert_run(directory: Path, tasks: Mapping[str, tuple[int, Status]]) -> Path:
    """A run of one episode per task: id → (steps, how it ended)."""
    trajectories = [expert(name, steps) for name, (steps, _) in tasks.items()]
    specs = [EpisodeSpec(task=t.task, seed=3, order_index=number) for number, t in enumerate(trajectories)]
    about = manifest(specs, run_id="expert", policy="oracle", benchmark="b")
    with RunStore.create(directory, about, specs) as store:
        for spec, trajectory, (_, status) in zip(specs, trajectories, tasks.values(), strict=True):
            verdict = Verdict(status=status, reward=float(status == "success"), scorer="s", scorer_version="1")
            episode = Episode(
                run_id="expert", spec=spec, trajectory=trajectory, verdict=verdict, started_at="2024-05-01T10:00:00+00:00",
                wall_seconds=1.0,
            )  # fmt: skip
            store.record(episode, {})
    return directory
