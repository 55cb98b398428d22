"""Training with a real Chromium: evaluation on dev and test seeds of MiniWoB++, and the online baseline's rollouts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from results.reader import RunReader
from tests.training.dream.places import agent
from training.agent.policy import DRAW

runner = CliRunner()

CONFIG = """
name = "online"
[mixture]
real_ratio = 0.0
[evaluation]
benchmark = "miniwob"
tasks = ["click-test"]
test_seeds = 2
max_steps = 2
workers = "1"
[trainer]
epochs = 4
updates = 1
groups_per_update = 1
group_size = 3
precision = "fp32"
noise_every = 0
"""


def harness(*command: object) -> str:
    found = runner.invoke(app, [str(part) for part in command])
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.browser
@pytest.mark.slow
def test_online_rollouts_and_evaluations_are_ordinary_runs(tmp_path: Path) -> None:
    expert, policy, out, file = tmp_path / "expert", agent(tmp_path / "agent"), tmp_path / "out", tmp_path / "agent.toml"
    harness("run", "--bench", "miniwob", "--tasks", "click-test", "--policy", "heuristic", "--seeds", "4", "--run-dir", expert)
    file.write_text(CONFIG)
    command = ["train", "agent", "--config", file, "--policy", policy, "--experts", expert, "--online", "--out", out]
    told = harness(*command)
    (rollouts,) = (out / "rollouts").glob("update-*")
    played = list(RunReader.open(rollouts).episodes())
    assert len(played) == 3
    assert {one.trajectory.source for one in played} == {"real"}
    assert len({one.spec.seed for one in played}) == 1, "a group has one goal"
    assert len({one.spec.task.metadata[DRAW] for one in played}) == 3, "and every member draws for itself"
    assert len({tuple(step.output.token_ids or () for step in one.trajectory.steps) for one in played}) == 3
    lines = [json.loads(line) for line in (out / "train_log.jsonl").read_text().splitlines()]
    assert [("dev" in line, line["step"]) for line in lines] == [(True, 0), (False, 1), (True, 1)]
    assert lines[1]["ledger"]["environment_steps"] == sum(len(one.trajectory.steps) for one in played)
    found = json.loads((out / "test.json").read_text())
    assert found["test"]["paired"]["pairs"] == 2 == found["test"]["end"]["n"]
    assert "test, begin: " in told
    seeds = {one.spec.seed for one in RunReader.open(out / "evaluations" / "test-end").episodes()}
    assert seeds == {200_000, 200_001}
    assert harness(*command), "the same command again has nothing left to do"
