"""The warm start: a tiny model learns what the expert did; what cannot be learned from is refused and counted."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.actions import make_action
from harness.errors import UsageError
from harness.types import Trajectory
from results.transitions import TrajectoryRow
from tests.training.agent.support import sample
from tests.training.agent.toy import clicking
from training.agent.experts import instance_of, split_of
from training.agent.policy import load_policy
from training.agent.sft import train_agent
from training.agent.sft_config import AgentSftConfig, read_sft_config

MODEL = {"vocab_size": 320, "hidden_size": 32, "layers": 1, "heads": 2, "kv_heads": 1, "intermediate_size": 64, "context": 256}


def config(**train: Any) -> AgentSftConfig:
    return AgentSftConfig.model_validate(
        {
            "preset": "tiny",
            "model": MODEL,
            "prompt": {"max_prompt_tokens": 96, "max_new_tokens": 16},
            "rows": {"lengths": [64, 128]},
            "train": {"epochs": 30, "tokens_per_batch": 1024, "learning_rate": 1e-2, "precision": "fp32", **train},
            "checks": {"log_every": 10, "every": 60, "dev_rows": 10},
        }
    )


def experts(good: int = 30, dev: int = 5, broken: int = 0) -> Callable[[], Iterator[tuple[str, Trajectory]]]:
    def read() -> Iterator[tuple[str, Trajectory]]:
        rng = random.Random(0)
        for number in range(good + dev + broken):
            trajectory = clicking(("Save", "Yes"), rng)
            if number >= good + dev:
                step = trajectory.steps[0]
                output = step.output.model_copy(update={"action": make_action("click", {"bid": "99"})})
                trajectory = trajectory.model_copy(update={"steps": (step.model_copy(update={"output": output}),)})
            yield ("train" if number < good or number >= good + dev else "dev"), trajectory
        yield "test", clicking(("Save", "Yes"), rng)

    return read


def test_it_learns_what_the_expert_did(tmp_path: Path) -> None:
    trained = train_agent(config(), [], tmp_path, trajectories=experts(broken=2))
    assert trained.exact == 1.0
    assert trained.counts["train steps"] == 60
    assert trained.counts["left out: an action that cannot be written"] == 2
    assert trained.counts["left out: test or held-out site"] == 1
    policy = load_policy(str(tmp_path), device="cpu")
    trajectory = clicking(("Save", "Yes"), random.Random(9))
    policy.reset(trajectory.goal, trajectory.task, 0)
    assert policy.act(trajectory.steps[0].observation).action.arguments == trajectory.steps[0].output.action.arguments
    with pytest.raises(UsageError, match="holds a training already"):
        train_agent(config(), [], tmp_path, trajectories=experts())
    with pytest.raises(UsageError, match="another configuration"):
        train_agent(config(epochs=3), [], tmp_path, trajectories=experts(), resume=True)


def test_a_training_that_ran_out_of_time_goes_on_when_it_is_given_more(tmp_path: Path) -> None:
    cut = train_agent(config(max_minutes=1e-6), [], tmp_path, trajectories=experts())
    assert (cut.ended, cut.steps) == ("time budget", 1)
    whole = train_agent(config(), [], tmp_path, trajectories=experts(), resume=True)
    assert whole.ended == "steps" and whole.steps > 1
    (tmp_path / "training.json").write_text("{")
    with pytest.raises(UsageError, match="another configuration"):
        train_agent(config(), [], tmp_path, trajectories=experts(), resume=True)


def test_nothing_to_learn_from_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no expert trajectory for the dev split"):
        train_agent(config(), [], tmp_path / "a", trajectories=experts(dev=0))
    with pytest.raises(UsageError, match="no run in"):
        train_agent(config(), [tmp_path], tmp_path / "b")


def test_what_makes_no_sense_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("[prompt]\nsyntax = 'morse'\n")
    with pytest.raises(UsageError, match=r"prompt\.syntax"):
        read_sft_config(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_sft_config(tmp_path / "none.toml")


def row(split: str = "", held_out: bool = False, template: str = "t", goal: str = "Do it", seed: int = 0) -> TrajectoryRow:
    trajectory = sample("g", "e", turns=1, source="expert").trajectory
    task = trajectory.task.model_copy(update={"goal": goal})
    return TrajectoryRow(
        run_id="r", episode_id="e", site="s", template=template, split=split, held_out_site=held_out,
        status="success", reward=1.0, trajectory=trajectory.model_copy(update={"task": task, "seed": seed}),
    )  # fmt: skip


def test_test_tasks_are_never_trained_on() -> None:
    assert split_of(row("test")) == "test"
    assert split_of(row("train", held_out=True)) == "test"
    assert split_of(row("train")) == "train"
    shares = [split_of(row(template=f"template {k}")) for k in range(400)]
    assert 20 <= shares.count("dev") <= 60
    assert shares.count("test") == 0


def test_where_goals_are_drawn_from_seeds_a_seed_is_the_instance() -> None:
    """Tasks with a goal split by template, whatever the seed; tasks without one by seed."""
    assert len({split_of(row(goal="Do it", seed=seed)) for seed in range(100)}) == 1
    shares = [split_of(row(goal="", seed=seed)) for seed in range(400)]
    assert 20 <= shares.count("dev") <= 60
    assert instance_of(row(goal="", seed=3).trajectory.task, 3) != instance_of(row(goal="", seed=4).trajectory.task, 4)
    assert instance_of(row(seed=3).trajectory.task, 3) == instance_of(row(seed=4).trajectory.task, 4)


def test_prompts_count_in_the_loss_of_the_first_share_of_the_steps(tmp_path: Path) -> None:
    def first_loss(share: float) -> float:
        train_agent(config(max_steps=10, whole_rows=share), [], tmp_path / str(share), trajectories=experts())
        log = [json.loads(line) for line in (tmp_path / str(share) / "train_log.jsonl").read_text().splitlines()]
        return float(next(line["loss"] for line in log if "loss" in line))

    assert abs(first_loss(1.0) - first_loss(0.0)) > 0.05


def test_low_rank_additions_and_patience_are_the_world_model_s(tmp_path: Path) -> None:
    """Sections are shared with the training of world models; what they say must hold here too."""
    asked = config(epochs=200).model_dump()
    asked["model"]["lora"] = {"rank": 2}
    asked["checks"].update(every=10, patience=1)
    asked["train"]["learning_rate"] = 1e-9
    trained = train_agent(AgentSftConfig.model_validate(asked), [], tmp_path, trajectories=experts())
    assert trained.ended == "early stop" and trained.steps == 20
    assert not (tmp_path / "adapter_config.json").exists() and (tmp_path / "model.safetensors").exists(), "merged"
    asked["model"]["lora"]["merge"] = False
    asked["checks"]["patience"] = None
    asked["train"]["max_steps"] = 10
    train_agent(AgentSftConfig.model_validate(asked), [], tmp_path / "apart", trajectories=experts())
    assert (tmp_path / "apart" / "adapter_config.json").exists()
