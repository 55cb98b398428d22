"""Grids of seconds with nothing made up: experts, evaluation and replays in a real Chromium on MiniWoB++, dreams of real models
(tiny and random). One is killed in the middle and goes on. The slow one has two levels and trains its agent."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from audits.ablation import Plan, Stages, make_plan, read_grid
from audits.ablation.fingerprint import fingerprints
from results.ablations import ABLATION, read_ablation
from tests.training.model.support import checkpoint
from tests.training.models.support import tiny
from training.models import CheckpointCard, save_checkpoint

GRID = """
name = "tiny"
factor = "dream_length"
seeds = [0]

[inputs]
simulator = "{place}/wm"
agent = "{place}/agent"

[values]
learner = "{learner}"

{levels}
[[stages]]
name = "experts"
command = ["run", "--config", "{{config}}", "--policy", "heuristic", "--workers", "1", "--run-dir", "{{out}}"]
config = '''
[run]
benchmark = "miniwob"
tasks = ["click-button"]

[limits]
startup_seconds = 600 # a worker that imports torch on a busy machine
'''

[[stages]]
name = "trained"
command = [
  "train", "agent", "--config", "{{config}}", "--policy", "{{agent}}", "--world-model", "{{simulator}}",
  "--experts", "{{experts}}", "--seed", "{{seed}}", "--out", "{{out}}",
]
config = '''
name = "tiny"

[dream]
dream_length = {{dream_length}}

[trainer]
updates = 2
groups_per_update = 1
group_size = 2
learning_rate = 1e-3
precision = "fp32"
noise_every = 0
checkpoint_every = 1
'''
writes = ["preset.json"]

[[stages]]
name = "dream"
command = [
  "dream", "{{simulator}}", "--policy", "checkpoint:{{learner}}", "--experts", "{{experts}}", "--split", "all", "--starts", "1",
  "--group-size", "2", "--dream-length", "{{dream_length}}", "--seed", "{{seed}}", "--run-dir", "{{out}}",
]
gives = "dreamed"

[[stages]]
name = "real"
command = ["run", "--config", "{{config}}", "--policy", "checkpoint:{{learner}}", "--workers", "1", "--run-dir", "{{out}}"]
config = '''
[run]
benchmark = "miniwob"
tasks = ["click-button"]
base_seed = 1000

[limits]
max_steps = 2
startup_seconds = 600
'''
gives = "real"

[[stages]]
name = "replay"
command = ["audit", "replay", "{{dream}}", "--env", "miniwob", "--config", "{{config}}", "--workers", "1", "--run-dir", "{{out}}"]
config = '''
[limits]
startup_seconds = 600
'''

[[stages]]
name = "report"
command = ["audit", "report", "{{replay}}", "--out", "{{out}}"]
gives = "audit"
writes = ["audit.json"]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Holds `wm` and `agent`."""
    checkpoint(tmp_path / "wm")
    model, tokenizer = tiny(1)
    card = CheckpointCard(kind="agent", preset="tiny", format="descriptor", max_prompt_tokens=200, max_new_tokens=12)
    save_checkpoint(tmp_path / "agent", model, tokenizer, card)
    return tmp_path


def planned(place: Path, learner: str, *lengths: int) -> tuple[Plan, Stages, list[str]]:
    """Also the command line that runs it."""
    path = place / "tiny.toml"
    levels = "".join(f"[levels.{length}]\ndream_length = {length}\n\n" for length in lengths)
    path.write_text(GRID.format(place=place, learner=learner, levels=levels))
    found, stages = read_grid(path), Stages(place / "grids")
    plan = make_plan(found, fingerprints(found.inputs), stages.directory)
    line = ["ablate", "--config", str(path), "--out", str(stages.root), "--jobs", "2"]
    return plan, stages, [sys.executable, "-P", "-m", "harness.cli.main", *line]


def stage_of(plan: Plan, name: str) -> str:
    return next(stage.id for stage in plan.stages.values() if stage.name == name)


@pytest.mark.browser
@pytest.mark.timeout(900)
def test_a_grid_is_killed_goes_on_and_ends_in_a_table(place: Path) -> None:
    plan, stages, command = planned(place, "{agent}", 2)
    experts, dream = stage_of(plan, "experts"), stage_of(plan, "dream")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as first:
        while stages.record(dream) is None:  # begun: its child has yet to import what it needs
            assert first.poll() is None, stages.log(experts).read_text()
            time.sleep(0.02)
        first.kill()
    assert first.returncode == -signal.SIGKILL
    lost = stages.record(dream)
    assert lost is not None
    assert lost.state == "running"

    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 0, second.stdout + second.stderr
    assert not psutil.pid_exists(lost.attempts[0].pid), "two must not dream into one directory"
    kept, resumed = stages.record(experts), stages.record(dream)
    assert kept is not None
    assert resumed is not None
    assert (len(kept.attempts), len(resumed.attempts), resumed.state) == (1, 2, "done")

    found = read_ablation(stages.root / "tiny" / ABLATION)
    (cell,) = found.cells
    assert (cell.level, cell.state, cell.problem) == ("2", "done", "")
    assert (len(cell.dreamed), len(cell.real), cell.controls_passed) == (2, 1, False)
    assert cell.cost.seconds > 0
    assert cell.cost.real_episodes == 2 + len([trial for trial in cell.dreamed if trial.success is not None])
    assert "REAL success" in (stages.root / "tiny" / "ablation.md").read_text()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(1800)
def test_two_levels_train_and_share(place: Path) -> None:
    plan, stages, command = planned(place, "{trained}", 1, 2)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = read_ablation(stages.root / "tiny" / ABLATION)
    assert [(cell.level, cell.state) for cell in found.cells] == [("1", "done"), ("2", "done")]
    assert found.shared_cost.real_episodes == 1, "the experts"
    assert all(cell.cost.train_tokens > 0 for cell in found.cells), "in dreams"
    assert len(plan.stages) == 11
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (again.returncode, "11 done before" in again.stdout, "begun" in again.stdout) == (0, True, False), again.stdout
