"""A training that is killed with SIGKILL in the middle goes on to the losses of one that was never stopped, bit for bit."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from tests.training.sft.support import config, make_data
from training.models import load_checkpoint
from training.world_model.sft import train
from training.world_model.sft.callbacks import COMPLETE, latest_complete, read_log

ROOT = Path(__file__).resolve().parents[3]


def test_killed_and_resumed_equals_uninterrupted(tmp_path: Path) -> None:
    data, settings = make_data(tmp_path), config(train={"max_steps": 14, "batches_per_step": 2})
    train(settings, data, tmp_path / "whole")
    (tmp_path / "settings.json").write_text(settings.model_dump_json(), encoding="utf-8")
    command = [sys.executable, "-m", "tests.training.sft.killed", str(data), str(tmp_path / "cut"), "10"]
    done = subprocess.run([*command, str(tmp_path / "settings.json")], cwd=ROOT, capture_output=True, check=False, timeout=250)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    states = tmp_path / "cut" / "checkpoints"
    assert latest_complete(states) == states / "checkpoint-8"
    assert read_log(tmp_path / "cut" / "train_log.jsonl")[-1]["step"] == 10, "two steps beyond the checkpoint"
    # a kill while a checkpoint is being written leaves one without its mark: it must not be used
    half = states / "checkpoint-12"
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    found = train(settings, data, tmp_path / "cut", resume=True)
    assert found.steps == 14
    curves = [[_seen(line) for line in read_log(tmp_path / name / "train_log.jsonl")] for name in ("whole", "cut")]
    assert curves[0] == curves[1]
    a, b = (load_checkpoint(tmp_path / name).model.state_dict() for name in ("whole", "cut"))
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert (half / COMPLETE).exists(), "written anew and to the end"


def _seen(line: dict[str, Any]) -> tuple[Any, ...]:
    """What a line of the log says apart from times."""
    return line["step"], line["tokens"], line.get("loss"), line.get("grad_norm"), line.get("dev", {}).get("loss")


def test_a_finished_training_is_resumed_to_the_same_weights(tmp_path: Path) -> None:
    """Its directory holds the model's own config.json by then."""
    data = make_data(tmp_path / "walks")
    first = train(config(), data, tmp_path / "out")
    weights = (tmp_path / "out" / "model.safetensors").read_bytes()
    again = train(config(), data, tmp_path / "out", resume=True)
    assert (again.steps, again.tokens) == (first.steps, first.tokens)
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == weights
