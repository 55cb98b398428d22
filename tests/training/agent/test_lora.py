"""The agent trained with low-rank additions: nothing else moves, checkpoints are whole models, and a resume is exact."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from harness.errors import UsageError
from tests.training.agent.test_train_command import CONFIG, log, place, train
from training.agent.policy import load_actor

__all__ = ["place"]
TARGETS = ("q_proj", "down_proj")


def settings(place: Path, name: str, targets: str = '["q_proj", "down_proj"]') -> str:
    (place / name).write_text(CONFIG + f"[trainer.lora]\nrank = 2\ntargets = {targets}\n")
    return name


def weights(directory: Path) -> dict[str, torch.Tensor]:
    return dict(load_actor(directory, device="cpu").model.state_dict())


def test_only_the_targets_move_and_by_low_rank(place: Path, tmp_path: Path) -> None:
    train(place, tmp_path / "out", "--updates", "4", config=settings(place, "lora.toml"))
    before, after = weights(place / "agent"), weights(tmp_path / "out")
    assert before.keys() == after.keys(), "a whole model, without a trace of PEFT"
    assert not list((tmp_path / "out").glob("adapter*"))
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert moved
    assert all(name.split(".")[-2] in TARGETS for name in moved)
    ranks = {int(torch.linalg.matrix_rank((after[name] - before[name]).double(), rtol=1e-4)) for name in moved}
    assert ranks <= {1, 2}


def test_what_is_sampled_is_what_is_trained(place: Path, tmp_path: Path) -> None:
    """The sampler's log-probabilities are those of the adapted model: after updates too, not only while additions are zero."""
    train(place, tmp_path / "out", "--updates", "4", config=settings(place, "lora.toml"))
    gaps = [line["update"]["sampler_gap"] for line in log(tmp_path / "out") if line["groups"]["used"]]
    assert len(gaps) > 1
    assert max(gaps) < 1e-3


def test_a_resumed_training_ends_where_an_uncut_one_does(place: Path, tmp_path: Path) -> None:
    name = settings(place, "lora.toml")
    train(place, tmp_path / "cut", "--updates", "4", config=name)
    shutil.rmtree(tmp_path / "cut" / "checkpoints" / "update-000004")
    train(place, tmp_path / "cut", "--updates", "4", config=name)
    train(place, tmp_path / "uncut", "--updates", "4", config=name)
    cut, uncut = weights(tmp_path / "cut"), weights(tmp_path / "uncut")
    assert all(torch.equal(cut[key], uncut[key]) for key in cut)


def test_a_target_that_no_layer_has_is_one_line(place: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="lora"):
        train(place, tmp_path / "out", "--updates", "1", config=settings(place, "odd.toml", '["nowhere"]'))
