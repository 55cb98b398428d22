"""The paper preset's path, without its weights: FSDP2 over two processes, here on the CPU with gloo and a tiny nano."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.sft.support import config, make_data
from training.models import load_checkpoint
from training.world_model.sft import train
from training.world_model.sft.callbacks import read_log

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
def test_two_processes_train_what_one_does(tmp_path: Path) -> None:
    """Each step takes two batches: one on each process, or both on one. The sums agree up to the order of addition."""
    data = make_data(tmp_path)
    together = config(train={"max_steps": 6})
    (tmp_path / "settings.json").write_text(together.model_dump_json(), encoding="utf-8")
    launch = [
        sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "2", "--num_machines", "1",
        "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0",
        "--use_fsdp", "--fsdp_version", "2", "--fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP",
        "--fsdp_state_dict_type", "SHARDED_STATE_DICT",
    ]  # fmt: skip
    arguments = ["-m", "tests.training.sft.killed", str(data), str(tmp_path / "two"), "0", str(tmp_path / "settings.json")]
    done = subprocess.run(
        [*launch, *arguments],
        cwd=ROOT,
        env=os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    train(config(train={"max_steps": 6, "batches_per_step": 2}), data, tmp_path / "one")
    curves = [
        [(line["step"], line["tokens"], line["loss"]) for line in read_log(tmp_path / name / "train_log.jsonl") if "loss" in line]
        for name in ("one", "two")
    ]
    assert [row[:2] for row in curves[0]] == [row[:2] for row in curves[1]]
    assert [row[2] for row in curves[0]] == pytest.approx([row[2] for row in curves[1]], rel=2e-3)
    checkpoint = load_checkpoint(tmp_path / "two")
    assert checkpoint.card.training["processes"] == 2
