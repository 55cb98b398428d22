"""`harness train agent` from policy, world model and a run of an expert to a checkpoint, with real models of random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import NotReadyError, UsageError
from results.files import held
from results.reader import RunReader
from tests.training.dream.places import agent, expert_run
from tests.training.model.support import checkpoint
from training.agent.policy import load_actor

runner = CliRunner()

CONFIG = """
name = "test"
[dream]
dream_length = 2
[trainer]
epochs = 100
groups_per_update = 2
group_size = 3
learning_rate = 1e-3
precision = "fp32"
checkpoint_every = 2
noise_every = 0
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("train-agent")
    checkpoint(folder / "wm")
    checkpoint(folder / "mute", assesses=False)
    agent(folder / "agent")
    expert_run(folder / "expert", {f"t{k}": (3, "success") for k in range(12)})
    expert_run(folder / "failed", {"t": (2, "failure")})
    (folder / "agent.toml").write_text(CONFIG)
    return folder


def train(place: Path, out: Path, *more: str, **changed: str) -> str:
    given = {"config": "agent.toml", "policy": "agent", "world-model": "wm", "experts": "expert", **changed}
    options = [part for name, value in given.items() for part in (f"--{name}", str(place / value))]
    found = runner.invoke(app, ["train", "agent", *options, "--out", str(out), *more])
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == 0, found.output
    return found.output


def log(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "train_log.jsonl").read_text().splitlines()]


def test_an_agent_is_trained_in_dreams_that_are_kept(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    output = train(place, out, "--updates", "3")
    assert "experts: " in output
    lines = log(out)
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert load_actor(out, device="cpu").card.training["config"]["trainer"]["updates"] == 3  # type: ignore[index, call-overload]
    kept = sorted((out / "dreams").iterdir())
    assert [directory.name for directory in kept] == ["update-000001", "update-000002", "update-000003"]
    for line, directory in zip(lines, kept, strict=True):
        dreams = list(RunReader.open(directory).episodes())
        assert len(dreams) == RunReader.open(directory).manifest.planned == line["rollouts"]
        assert {one.trajectory.source for one in dreams} == {"dream"}
        assert {one.trajectory.steps[0].output.policy_version for one in dreams} == {str(line["step"] - 1)}
        assert line["mixture"]["places"] == 6 == line["rollouts"] + line["mixture"]["replaced"]
        assert line["ledger"]["environment_steps"] >= line["rollouts"]


def test_the_same_command_goes_on_and_ends_where_an_uncut_one_does(place: Path, tmp_path: Path) -> None:
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    train(place, whole, "--updates", "4")
    train(place, cut, "--updates", "4")
    for path in (cut / "checkpoints").glob("update-000004"):
        path.rename(tmp_path / "lost")  # as after a kill in the fourth update
    train(place, cut, "--updates", "4")
    assert [line["update"] for line in log(cut)] == [line["update"] for line in log(whole)]
    assert (cut / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"experts": "failed"}, "no success of the train split"),
        ({"policy": "wm"}, "checkpoint of a world model"),
        ({"world-model": "mute"}, "does not say whether goals are reached"),
        ({"world-model": "agent"}, "checkpoint of a policy"),
        ({"policy": "expert"}, "is not a checkpoint"),
        ({"config": "none.toml"}, "cannot read"),
    ],
)
def test_what_cannot_be_trained_is_one_line(place: Path, tmp_path: Path, changed: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        train(place, tmp_path / "out", **changed)


def test_a_checkpoint_with_another_tokenizer_is_refused(place: Path, tmp_path: Path) -> None:
    mixed = agent(tmp_path / "mixed")
    other = json.loads((mixed / "tokenizer.json").read_text())
    vocabulary = other["model"]["vocab"]
    a, b = sorted(vocabulary)[40:42]
    vocabulary[a], vocabulary[b] = vocabulary[b], vocabulary[a]
    (mixed / "tokenizer.json").write_text(json.dumps(other))
    with pytest.raises(UsageError, match="tokenizer is not the one of this training"):
        train(
            tmp_path,
            tmp_path / "out",
            config=str(place / "agent.toml"),
            policy="mixed",
            **{"world-model": str(place / "wm"), "experts": str(place / "expert")},
        )


def test_one_training_at_a_time_writes_to_a_directory(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    supervised = ["agent-sft", "--config", "configs/agent/sft-nano.toml", "--experts", str(place / "expert")]
    simulator = ["world-model", "--config", "configs/world_model/nano.toml", "--data", str(place)]
    with held(out):
        with pytest.raises(NotReadyError, match="another process"):
            train(place, out)
        for command in (supervised, simulator):
            found = runner.invoke(app, ["train", *command, "--out", str(out)])
            assert "another process" in str(found.exception)
    assert [path.name for path in out.iterdir()] == ["lock"]


def test_a_training_goes_on_with_the_policy_it_began_with(place: Path, tmp_path: Path) -> None:
    """The same weights that are read in another way are another policy."""
    train(place, tmp_path / "out", "--updates", "1")
    card = place / "agent" / "preset.json"
    before = card.read_text()
    try:
        card.write_text(before.replace('"descriptor"', '"descriptor-nearest"'))
        with pytest.raises(UsageError, match=r"another about\.syntax"):
            train(place, tmp_path / "out", "--updates", "1")
    finally:
        card.write_text(before)


def test_rollouts_come_from_one_place(place: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="world model or real browsers"):
        train(place, tmp_path / "out", "--online")


def test_no_browser_has_the_pages_of_an_expert_that_was_told_again(place: Path, tmp_path: Path) -> None:
    (place / "retold.toml").write_text(CONFIG.replace("[dream]", "[dream]\nretold = 1"))
    command = ["train", "agent", "--online", "--config", str(place / "retold.toml"), "--policy", str(place / "agent")]
    found = runner.invoke(app, [*command, "--experts", str(place / "expert"), "--out", str(tmp_path / "out")])
    assert "told again" in str(found.exception)


def test_evaluation_never_plays_what_was_trained_on(place: Path, tmp_path: Path) -> None:
    """The experts of `place` have no goal of their own, so their seed 3 is what they are."""
    evaluation = '[evaluation]\nbenchmark = "miniwob"\ntasks = ["click-test"]\ndev_base_seed = 3\n'
    (place / "overlap.toml").write_text(CONFIG + evaluation)
    with pytest.raises(UsageError, match="experts' own seed 3"):
        train(place, tmp_path / "out", config="overlap.toml")
