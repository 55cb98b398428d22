"""One update of the agent against TRL's GRPOTrainer on the same tokens: rows per second of processor time, and peak memory.

    .venv/bin/python benchmarks/agent_update.py [--rows 256] [--prompt 300] [--reply 16] [--rounds 5] [--precision fp32]

Both arms train the same nano from the same weights on the same rows: GSPO (one ratio per sequence), no KL, AdamW, one step per
update, micro-batches of as many rows. Each row is a trajectory of one turn, the only kind that TRL knows. TRL's own trainer
runs: its `_generate_and_score_completions` alone is replaced, by one that hands it the rows. Prompts have half to all of --prompt
tokens, replies a quarter to all of --reply; TRL pads to the longest row of the whole update, as it does with its own samples.

Each arm is a process of its own, so that peak memory is its own; rounds alternate, and processor time is counted, not waiting:
read the ratios. The first round of each warms up and is left out. The losses of both first steps are compared.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from statistics import median
from typing import Any

import torch

from training.models import ModelConfig, build_model

TEXTS = ['goal "Find it" at / "Shop" button "Buy" link "Lamps" textbox "Search" click fill'] * 4
MICRO_ROWS = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--prompt", type=int, default=300, help="longest prompt in tokens")
    parser.add_argument("--reply", type=int, default=16, help="longest reply in tokens")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--arm", choices=("ours", "trl"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.arm:
        _serve(arguments)
        return
    arms = {name: _Arm(name) for name in ("trl", "ours")}
    lines: dict[str, list[dict[str, float]]] = {name: [] for name in arms}
    for _ in range(arguments.rounds + 1):
        for name, arm in arms.items():
            lines[name].append(arm.round())
    _tell(arguments, lines)


def _tell(arguments: argparse.Namespace, lines: dict[str, list[dict[str, float]]]) -> None:
    tokens = sum(len(prompt) + len(reply) for prompt, reply, _ in rows(arguments))
    print(
        f"{arguments.rows} rows, {tokens} tokens, {arguments.precision}, {arguments.threads} threads, {arguments.rounds} rounds"
    )
    print(f"{'':>6} {'tokens/s of processor time':>28} {'peak MiB':>10} {'first loss':>12}")
    rate = {name: tokens / median(one["seconds"] for one in found[1:]) for name, found in lines.items()}
    for name, found in lines.items():
        print(f"{name:>6} {rate[name]:>28.0f} {found[-1]['peak_mib']:>10.0f} {found[0]['loss']:>12.6f}")
    memory = lines["ours"][-1]["peak_mib"] / lines["trl"][-1]["peak_mib"]
    print(f"ours / TRL: speed {rate['ours'] / rate['trl']:.2f}, peak memory {memory:.2f}")


class _Arm:
    """A child process that does one update per line that it is sent."""

    def __init__(self, name: str) -> None:
        command = [sys.executable, *sys.argv, "--arm", name]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def round(self) -> dict[str, float]:
        assert self._child.stdin and self._child.stdout
        self._child.stdin.write("\n")
        self._child.stdin.flush()
        found: dict[str, float] = json.loads(self._child.stdout.readline())
        return found


def _serve(arguments: argparse.Namespace) -> None:
    out = sys.stdout
    sys.stdout = sys.stderr  # libraries print
    config = ModelConfig(vocab_size=4096)
    model, tokenizer = build_model(config, TEXTS, seed=0)
    updates = iter({"ours": ours, "trl": trl}[arguments.arm](model, tokenizer, arguments))
    for _ in sys.stdin:
        began = time.process_time()
        loss = next(updates)
        seconds = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "loss": loss, "peak_mib": peak}), file=out, flush=True)


def rows(arguments: argparse.Namespace) -> list[tuple[list[int], list[int], float]]:
    """(prompt ids, reply ids, advantage)."""
    rng = random.Random(0)
    return [
        (
            [rng.randrange(3, 300) for _ in range(rng.randint(arguments.prompt // 2, arguments.prompt))],
            [rng.randrange(3, 300) for _ in range(rng.randint(max(1, arguments.reply // 4), arguments.reply))],
            rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 1.5),
        )
        for _ in range(arguments.rows)
    ]


def ours(model: Any, _: Any, arguments: argparse.Namespace) -> Iterator[float]:
    from training.agent.grouping import Batch
    from training.agent.rows import Row
    from training.agent.trainer import make_accelerator
    from training.agent.update import Updater, UpdateSettings
    from training.objectives import get_objective

    found = rows(arguments)
    batch = Batch(
        tuple(
            Row("g", str(k), 0, tuple(prompt), tuple(reply), (True,) * len(reply)) for k, (prompt, reply, _) in enumerate(found)
        ),
        tuple(range(len(found))),
        tuple(advantage for _, _, advantage in found),
        1,
    )
    accelerator = make_accelerator(arguments.precision)
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=1e-5))
    cells = MICRO_ROWS * (arguments.prompt + arguments.reply)
    updater = Updater(model, optimizer, accelerator, get_objective("dynaweb"), UpdateSettings(micro_batch_cells=cells))
    while True:
        yield updater.run(batch).steps[0].sums["loss"]


def trl(model: Any, tokenizer: Any, arguments: argparse.Namespace) -> Iterator[float]:
    """TRL's own training loop, one optimizer step per update."""
    import threading
    from queue import Queue

    from datasets import Dataset
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.grpo_trainer import GRPOTrainer

    found = rows(arguments)
    steps = len(found) // MICRO_ROWS
    go: Queue[None] = Queue()
    done: Queue[float] = Queue()

    class Trainer(GRPOTrainer):
        def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
            return _padded(found)

        def _compute_loss(self, model: Any, inputs: Any) -> Any:
            loss = super()._compute_loss(model, inputs)  # type: ignore[no-untyped-call]
            self.losses.append(float(loss.detach()))
            return loss

        def training_step(self, *given: Any, **more: Any) -> Any:
            if self._step % steps == 0:
                go.get()
                self.losses: list[float] = []
            return super().training_step(*given, **more)  # type: ignore[no-untyped-call]

    from transformers import TrainerCallback

    class Told(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            done.put(sum(trainer.losses))

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = GRPOConfig(
            output_dir=folder, per_device_train_batch_size=MICRO_ROWS, gradient_accumulation_steps=steps, num_generations=8,
            steps_per_generation=steps, importance_sampling_level="sequence", loss_type="grpo", beta=0.0, learning_rate=1e-5,
            lr_scheduler_type="constant", max_completion_length=arguments.reply, max_steps=arguments.rounds + 1, report_to=[],
            save_strategy="no", logging_strategy="no", disable_tqdm=True, bf16=arguments.precision == "bf16", use_cpu=True,
            gradient_checkpointing=False, max_grad_norm=1.0, weight_decay=0.0,
        )  # fmt: skip
        data = Dataset.from_list([{"prompt": "x"}] * len(found))
        trainer = Trainer(model, _no_reward, settings, data, processing_class=tokenizer, callbacks=[Told()])
        threading.Thread(target=trainer.train, daemon=True).start()
        while True:
            go.put(None)
            yield done.get()


def _no_reward(**_: Any) -> list[float | None]:
    """TRL wants one; the rows bring their advantages."""
    return [0.0]


def _padded(found: list[tuple[list[int], list[int], float]]) -> dict[str, Any]:
    """As TRL pads what it sampled: prompts to the left, completions to the right, all rows alike."""
    prompt, reply = max(len(p) for p, _, _ in found), max(len(r) for _, r, _ in found)
    return {
        "prompt_ids": torch.tensor([[0] * (prompt - len(p)) + p for p, _, _ in found]),
        "prompt_mask": torch.tensor([[0] * (prompt - len(p)) + [1] * len(p) for p, _, _ in found]),
        "completion_ids": torch.tensor([r + [0] * (reply - len(r)) for _, r, _ in found]),
        "completion_mask": torch.tensor([[1] * len(r) + [0] * (reply - len(r)) for _, r, _ in found]),
        "advantages": torch.tensor([a for _, _, a in found]),
        "num_items_in_batch": torch.tensor(sum(len(r) for _, r, _ in found)),
    }


if __name__ == "__main__":
    main()
