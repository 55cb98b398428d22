"""Two processes: the same update as one, because gradients are parts of a sum and not averages."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.support.repository import ROOT

SCRIPT = """
import sys
import torch
torch.set_num_threads(1)
from accelerate import Accelerator
from tests.training.agent.support import batch, tiny_llama
from training.agent.update import Updater, UpdateSettings
from training.objectives import get_objective
accelerator = Accelerator(cpu=True)
model = tiny_llama(dtype=torch.float32)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
model, optimizer = accelerator.prepare(model, optimizer)
objective = get_objective("dynaweb", clip={"low": 0.05, "high": 0.05})
settings = UpdateSettings(micro_batch_cells=60, inner_epochs=2, minibatches=2, max_grad_norm=1e9)
statistics = Updater(model, optimizer, accelerator, objective, settings).run(batch(3, [2, 3, 1]))
if accelerator.is_main_process:
    torch.save({"weights": accelerator.unwrap_model(model).state_dict(), "summary": statistics.summary()}, sys.argv[1])
accelerator.end_training()
"""


def run(out: Path, processes: int) -> dict[str, object]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = []
    for rank in range(processes):
        world = {} if processes == 1 else {
            "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port), "ACCELERATE_USE_CPU": "true",
        }  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **world}
        started.append(subprocess.Popen([sys.executable, "-c", SCRIPT, str(out)], cwd=ROOT, env=environment))
    assert [process.wait() for process in started] == [0] * processes
    found: dict[str, object] = torch.load(out, weights_only=True)
    return found


@pytest.mark.slow
def test_two_processes_make_the_update_of_one(tmp_path: Path) -> None:
    """Six rows in micro-batches of a few, so that one process sometimes has none left to compute."""
    one, two = run(tmp_path / "one", 1), run(tmp_path / "two", 2)
    assert isinstance(one["weights"], dict)
    assert isinstance(two["weights"], dict)
    for name, weight in one["weights"].items():
        assert torch.allclose(weight, two["weights"][name], rtol=0, atol=1e-6), name
    assert isinstance(one["summary"], dict)
    assert two["summary"] == pytest.approx(one["summary"], abs=1e-4)
