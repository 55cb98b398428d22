"""The example is run as its own docstring says: through `harness run`, in a real Chromium."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.config import read_config
from harness.policies import make_policy
from harness.rollout import run_episode
from harness.testing import ScriptedEnv
from harness.types import EpisodeSpec, EvaluatorSpec, Task
from results.reader import RunReader
from tests.support.repository import ROOT

SPEC = EpisodeSpec(task=Task(benchmark="scripted", task_id="t", evaluator=EvaluatorSpec(kind="state")), seed=0, order_index=0)
PAGE = "RootWebArea 'Shop'\n\t[7] heading 'Ok'\n\t[8] button 'Ok'\n\t[9] button 'Cancel'"


@pytest.mark.browser
def test_it_plays_a_real_task(tmp_path: Path) -> None:
    command = "run --bench miniwob --tasks click-button --policy examples.my_policy:MyPolicy"
    assert command in (ROOT / "examples" / "my_policy.py").read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli.main", *command.split(), "--run-dir", str(tmp_path / "run")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (episode,) = RunReader.open(tmp_path / "run").episodes()
    assert episode.verdict.status == "success"
    (step,) = episode.trajectory.steps
    assert step.output.action.name == "click"
    assert step.output.action.target is not None and step.output.action.target.role == "button"
    assert episode.trajectory.producers == {"policy": "my-policy my-policy-1"}


def test_options_of_the_example_run_reach_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    config = read_config(ROOT / "examples" / "run.toml", {})
    policy = make_policy(config.policy)
    assert policy.name == "my-policy"
    assert vars(policy)["_roles"] == {"button", "link", "tab"}


@pytest.mark.parametrize(
    ("goal", "action", "bid"),
    [('Click on the "Ok" button.', "click", "8"), ("Buy something.", "report_infeasible", None)],
)
def test_it_acts_on_the_goal(monkeypatch: pytest.MonkeyPatch, goal: str, action: str, bid: str | None) -> None:
    monkeypatch.chdir(ROOT)
    policy = make_policy(read_config(ROOT / "examples" / "run.toml", {}).policy)
    trajectory, _ = run_episode(policy, ScriptedEnv([PAGE, PAGE], goal=goal), SPEC, max_steps=1)
    (step,) = trajectory.steps
    assert step.output.action.name == action
    assert step.output.action.arguments.get("bid") == bid
