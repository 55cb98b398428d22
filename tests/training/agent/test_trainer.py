"""The trainer as a whole: it learns a small real problem, survives a kill, refuses what makes no sense, logs what it did."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from harness.errors import UsageError
from harness.types import JsonDict, Usage
from results.training_log import read_training_log
from tests.support.repository import ROOT
from tests.training.agent.support import sample, tiny_llama
from tests.training.agent.toy import CHANCE, encoder_of, experts, rollout, save, tasks, taught_actor
from training.agent.config import AgentConfig
from training.agent.mixture import GroupRequest
from training.agent.policy import CheckpointActor, CheckpointPolicy, load_policy
from training.agent.rows import Sample
from training.agent.trainer import AgentTrainer, TaskStream


def config(**trainer: Any) -> AgentConfig:
    chosen = {
        "epochs": 1000, "groups_per_update": 6, "learning_rate": 4e-3, "warmup_updates": 5, "precision": "fp32",
        "noise_every": 0, "checkpoint_every": 1000, **trainer,
    }  # fmt: skip
    objective, mixture = chosen.pop("objective", {"name": "dynaweb"}), chosen.pop("mixture", {"real_ratio": 0.3})
    return AgentConfig.model_validate({"name": "toy", "objective": objective, "mixture": mixture, "trainer": chosen})


def trainer(actor: CheckpointActor, directory: Path, chosen: AgentConfig, **more: Any) -> AgentTrainer:
    fields: dict[str, Any] = {
        "tasks": tasks(), "rollout": rollout(actor), "save": save(actor), "experts": experts(), "encode": encoder_of(actor),
        **more,
    }  # fmt: skip
    return AgentTrainer(actor.model, chosen, directory, **fields)


def success(actor: CheckpointActor, seed: int) -> float:
    played = rollout(actor)([GroupRequest("g", tasks()[0], 60, seed)], 0)
    return sum(one.reward or 0.0 for one in played) / len(played)


def log(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / "train_log.jsonl").read_text().splitlines()]


def test_gspo_on_a_mixture_lifts_success_from_chance_to_nine_in_ten(tmp_path: Path) -> None:
    """Two pages, three buttons each. What is measured at the end is played with the checkpoint that was saved.

    At twice this learning rate a single update may forget a button, with one rounding and not with another.
    """
    actor = taught_actor(0, 100)
    assert success(actor, 1) <= CHANCE + 0.1
    ended = trainer(actor, tmp_path, config(updates=55, learning_rate=2e-3)).train()
    lines = log(tmp_path)
    assert (ended.update, len(lines)) == (55, 55)
    policy = load_policy(str(tmp_path / "checkpoints" / "update-000055"), temperature=1.0, device="cpu")
    assert isinstance(policy, CheckpointPolicy)
    assert success(policy.actor, 2) >= 0.8
    assert fmean(line["reward"]["success"] for line in lines[-10:]) >= 0.9
    assert policy.actor.prompt == actor.prompt
    assert max(line["update"].get("sampler_gap", 0.0) for line in lines) < 1e-4  # on-policy at the first step
    mixed = [line["mixture"] for line in lines]
    assert all(m["asked"] == m["replaced"] + m["capped"] + m["without_expert"] for m in mixed)
    assert 0 < sum(m["replaced"] for m in mixed) < 0.3 * sum(m["places"] for m in mixed)  # capped at one copy in a group of 8
    assert {"update.loss", "reward.dream", "ledger.per_valid_sample.operations"} <= set(
        read_training_log(tmp_path / "train_log.jsonl").measures
    )


def interrupted_config() -> AgentConfig:
    return config(updates=7, checkpoint_every=2, objective={"name": "dynaweb", "group_filter": "replay"})


def final_weights(directory: Path) -> dict[str, torch.Tensor]:
    return load_file(directory / "checkpoints" / "update-000007" / "model.safetensors")


def assert_same_training(whole: Path, other: Path) -> None:
    """Equal to the last bit: weights, and log lines but for seconds."""

    def without_times(line: dict[str, Any]) -> dict[str, Any]:
        ledger = {key: value for key, value in line["ledger"].items() if "seconds" not in key and key != "per_valid_sample"}
        return {**line, "ledger": ledger}

    assert [without_times(line) for line in log(other)] == [without_times(line) for line in log(whole)]
    expected, found = final_weights(whole), final_weights(other)
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)


class _Dead(BaseException):
    """The process is gone: nothing after it runs but what the operating system has."""


def dying(actor: CheckpointActor, kill_at: int, die: Callable[[], None]) -> Any:
    """A rollout that calls `die` when asked for version `kill_at`."""
    play = rollout(actor)

    def killed(requests: Sequence[GroupRequest], version: int) -> list[Sample]:
        if version == kill_at:
            die()
        found: list[Sample] = play(requests, version)
        return found

    return killed


def test_a_training_that_was_cut_off_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """Cut off in the sixth update, after the checkpoint of the fourth, with half a line in the log: no update counts twice."""
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    actor = taught_actor(0, 20)
    trainer(actor, whole, interrupted_config()).train()

    def die() -> None:
        raise _Dead

    actor = taught_actor(0, 20)
    with pytest.raises(_Dead):
        trainer(actor, cut, interrupted_config(), rollout=dying(actor, 5, die)).train()
    assert [line["step"] for line in log(cut)] == [1, 2, 3, 4, 5]
    with (cut / "train_log.jsonl").open("a") as file:
        file.write('{"step": 6, "rew')
    trainer(taught_actor(0, 20), cut, interrupted_config()).train()
    assert_same_training(whole, cut)


SCRIPT = """
import os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from tests.training.agent.test_trainer import dying, interrupted_config, trainer
from tests.training.agent.toy import taught_actor
actor = taught_actor(0, 20)
rollout = dying(actor, int(sys.argv[2]), lambda: os.kill(os.getpid(), signal.SIGKILL))
trainer(actor, Path(sys.argv[1]), interrupted_config(), rollout=rollout).train()
"""


@pytest.mark.slow
def test_a_killed_process_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """The same with SIGKILL, and three processes of their own."""

    def run(directory: Path, kill_at: int) -> int:
        command = [sys.executable, "-c", SCRIPT, str(directory), str(kill_at)]
        return subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}).returncode

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(whole, kill_at=99) == 0
    assert run(killed, kill_at=5) == -signal.SIGKILL
    assert [line["step"] for line in log(killed)] == [1, 2, 3, 4, 5]
    assert run(killed, kill_at=99) == 0
    assert_same_training(whole, killed)


def scripted(rewards: Sequence[float | None], **more: Any) -> Any:
    """A rollout that gives these rewards, whatever the policy is; None is a broken environment."""

    def play(requests: Sequence[GroupRequest], version: int) -> list[Sample]:
        return [
            sample(request.key, str(member), reward, status="error" if reward is None else None, of=request.task.task_id, **more)
            for request in requests
            for member, reward in zip(range(request.size), rewards, strict=False)
        ]

    return play


def small(directory: Path, rewards: Sequence[float | None], chosen: AgentConfig, **more: Any) -> AgentTrainer:
    fields: dict[str, Any] = {"tasks": tasks(), "rollout": scripted(rewards), "save": lambda *_: None, **more}
    return AgentTrainer(tiny_llama(dtype=torch.float32), chosen, directory, **fields)


def plain(**more: Any) -> AgentConfig:
    return config(**{"updates": 1, "group_size": 4, "on_policy_tolerance": None, "mixture": {"real_ratio": 0.0}, **more})


def test_a_broken_environment_is_no_failure(tmp_path: Path) -> None:
    """Two valid rewards, two errors: the errors are counted and leave mean and deviation alone."""
    small(tmp_path, [1.0, 0.0, None, None], plain(groups_per_update=1)).train()
    line = log(tmp_path)[0]
    assert line["reward"] == {"valid": 2, "dream": 0.5, "success": 0.5}
    assert (line["invalid"], line["trajectories"], line["ledger"]["valid_samples"]) == ({"error": 2}, 2, 2)


def test_groups_without_signal_are_dropped_or_rolled_out_again(tmp_path: Path) -> None:
    small(tmp_path / "drop", [0.0] * 4, plain()).train()
    assert log(tmp_path / "drop")[0]["groups"] == {"used": 0, "dropped": 6, "resampled": 0, "replayed": 0}
    assert log(tmp_path / "drop")[0]["update"] == {}
    chosen = plain(objective={"name": "dynaweb", "group_filter": "resample"}, max_resamples=2)
    small(tmp_path / "again", [0.0] * 4, chosen).train()
    assert log(tmp_path / "again")[0]["groups"]["resampled"] == 18
    assert log(tmp_path / "again")[0]["rollouts"] == 72


def test_a_sampler_of_another_temperature_is_refused(tmp_path: Path) -> None:
    """The samples' log-probabilities are not those of the weights in hand."""
    chosen = plain(on_policy_tolerance=0.05)
    with pytest.raises(UsageError, match="nats per token"):
        small(tmp_path, [1.0, 0.0, 1.0, 0.0], chosen).train()


def test_what_cannot_be_trained_is_refused_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no expert"):
        small(tmp_path / "a", [1.0], plain(mixture={"real_ratio": 0.5}))
    with pytest.raises(UsageError, match="no task"):
        small(tmp_path / "b", [1.0], plain(), tasks=[])
    with pytest.raises(UsageError, match="no reference policy"):
        small(tmp_path / "c", [1.0], plain(objective={"name": "dynaweb", "kl": {"kind": "k3", "beta": 0.1}}))
    with pytest.raises(UsageError, match="is a dream, not real"):
        small(tmp_path / "d", [1.0], plain(mixture={"real_ratio": 0.5}), experts={"t0": [sample("", "x")]})
    small(tmp_path / "e", [1.0, 0.0] * 2, plain()).train()
    with pytest.raises(UsageError, match="another trainer"):
        small(tmp_path / "e", [1.0], plain(seed=3))


def test_a_rollout_that_loses_samples_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="gave 3 samples for a group of 4"):
        small(tmp_path, [1.0, 0.0, 1.0], plain()).train()


def test_a_budget_of_world_model_tokens_ends_the_training(tmp_path: Path) -> None:
    """6 groups of 4 rollouts whose 2 steps each cost 100 tokens: 4,800 an update, so 10,000 are passed in the third."""
    usage = Usage(requests=3, prompt_tokens=70, completion_tokens=30).model_dump(mode="json")

    def costly(requests: Sequence[GroupRequest], version: int) -> list[Sample]:
        def paid(one: Sample) -> Sample:
            steps = [step.model_copy(update={"metadata": {"prediction": {"usage": usage}}}) for step in one.trajectory.steps]
            return replace(one, trajectory=one.trajectory.model_copy(update={"steps": tuple(steps)}))

        return [paid(one) for one in scripted([1.0, 0.0, 1.0, 0.0])(requests, version)]

    chosen = plain(updates=50, world_model_tokens=10_000)
    assert small(tmp_path, [], chosen, rollout=costly).train().update == 3
    assert small(tmp_path, [], chosen, rollout=costly).train().update == 3, "and it stays ended when it is resumed"


def test_the_best_checkpoint_on_dev_tasks_is_kept(tmp_path: Path) -> None:
    scores = iter([0.1, 0.2, 0.6, 0.4, 0.5])
    chosen = plain(updates=4, checkpoint_every=1, keep_checkpoints=1)
    one = small(tmp_path, [1.0, 0.0] * 2, chosen, evaluate=lambda *_: {"success": next(scores)})
    ended = one.train()
    assert (ended.best_update, ended.best_score, one.best_checkpoint(ended).name) == (2, 0.6, "update-000002")
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["update-000002", "update-000004"]
    assert [line["dev"] for line in log(tmp_path) if "dev" in line] == [{"success": s} for s in (0.1, 0.2, 0.6, 0.4, 0.5)]


def test_training_that_makes_it_worse_ends_with_the_policy_it_began_with(tmp_path: Path) -> None:
    scores = iter([0.5, 0.2, 0.1])
    told: list[JsonDict] = []
    chosen = plain(updates=2, checkpoint_every=1, keep_checkpoints=1)
    one = small(tmp_path, [1.0, 0.0] * 2, chosen, evaluate=lambda *_: {"success": next(scores)}, report=told.append)
    ended = one.train()
    assert (ended.best_update, one.best_checkpoint(ended).name) == (0, "update-000000")
    assert told == log(tmp_path)


def test_a_resume_must_agree_about_models_and_experts(tmp_path: Path) -> None:
    small(tmp_path, [1.0, 0.0] * 2, plain(), about={"world_model": "a"}).train()
    with pytest.raises(UsageError, match="another about"):
        small(tmp_path, [1.0, 0.0] * 2, plain(), about={"world_model": "b"})


def test_poisoned_advantage_is_the_share_of_refuted_successes(tmp_path: Path) -> None:
    small(tmp_path, [1.0, 0.0] * 2, plain(groups_per_update=1), rollout=scripted([1.0, 0.0] * 2, poisoned=True)).train()
    assert log(tmp_path)[0]["poisoned_advantage"] == 1.0


def test_every_task_comes_once_per_epoch() -> None:
    stream = TaskStream(tasks(), seed=3)
    for epoch in range(4):
        assert sorted(stream.at(2 * epoch + k).task_id for k in range(2)) == ["t0", "t1"]
    assert len({tuple(TaskStream(tasks(), seed).at(k).task_id for k in range(8)) for seed in range(8)}) > 1


def test_the_learning_rate_warms_up_and_stays(tmp_path: Path) -> None:
    small(tmp_path, [1.0, 0.0] * 2, plain(updates=4, warmup_updates=2)).train()
    assert [line["lr"] for line in log(tmp_path)] == pytest.approx([4e-3 / 3 * k for k in (2, 3, 3, 3)])
