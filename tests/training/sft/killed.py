"""Run by test_resume in a process of its own: trains, and kills itself without warning at a step.

python -m tests.training.sft.killed DATA OUT STEP      (STEP 0: not at all;  OUT beside which config.json of the test lies)
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch

from training.world_model.sft import SftConfig, train


def main() -> None:
    torch.set_num_threads(1)
    data, out, step = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    config = SftConfig.model_validate_json(Path(sys.argv[4]).read_bytes())

    def report(line: dict[str, Any], _steps: int) -> None:
        if line["step"] == step and "loss" in line:
            os.kill(os.getpid(), signal.SIGKILL)

    train(config, data, out, report=report, resume=True)


if __name__ == "__main__":
    main()
