"""`harness train world-model`: data set → checkpoint, with live loss, dev metrics and the time left; resumable."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from harness.protocols import WorldModel
    from training.world_model.sft import SftConfig, Trained
    from training.world_model.transitions import WorldModelExample


def world_model(
    config: Annotated[Path, typer.Option("--config", "-c", help="A TOML file, such as configs/world_model/nano.toml.")],
    data: Annotated[Path, typer.Option("--data", help="A data set made by harness data build.")] = Path("data"),
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where it lies. Default: checkpoints/PRESET.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the training in --out that was stopped.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Another seed than the file's.")] = None,
    max_minutes: Annotated[
        float | None, typer.Option("--max-minutes", min=0.01, help="End after so much training time, checks included.")
    ] = None,
    max_steps: Annotated[int | None, typer.Option("--max-steps", min=1, help="End after so many steps.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Train nothing: read the configuration and say what its model needs.")
    ] = False,
) -> None:
    """Train a world model on real transitions. What is written is a directory that harness fidelity and every server load.

    Stopped or killed, it goes on with --resume from the last checkpoint, to the same losses. train_log.jsonl in --out holds
    the curve; tensorboard --logdir OUT/tensorboard shows it.

    \b
    Examples:
      harness train world-model --config configs/world_model/nano.toml --data data/arena --out checkpoints/nano
      harness train world-model --config configs/world_model/nano.toml --data data/arena --out checkpoints/nano --resume

    Exit codes: 0 done, 2 bad usage, 3 environment not ready, 130 interrupted.
    """
    from training.world_model.sft import read_config

    settings = read_config(config, {"train": {"max_minutes": max_minutes, "max_steps": max_steps}}, seed=seed)
    console = Console()
    if check:
        for line in _needs(settings):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return
    folder = out or Path("checkpoints") / settings.preset
    for line in _summary(_train(settings, data, folder, resume, console), data):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _train(settings: SftConfig, data: Path, folder: Path, resume: bool, console: Console) -> Trained:
    from results.files import held
    from training.world_model.sft import train

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with held(folder), Progress(*columns, console=console) as bars:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int | None, note: str = "") -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total, note="")
            bars.update(tasks[what], completed=done, total=total, note=note)

        def report(line: dict[str, Any], steps: int) -> None:
            if "dev" in line:
                found = "  ".join(f"{name} {value:.4g}" for name, value in line["dev"].items())
                bars.console.print(f"step {line['step']}: dev {found}", markup=False, highlight=False)
            else:
                speed = line["tokens"] / max(line["seconds"], 1e-9)
                show("training", line["step"], steps, f"loss {line['loss']:.4f}  {speed:,.0f} tokens/s")

        return train(settings, data, folder, evaluate=_delta_f1, resume=resume, progress=show, report=report)


def _delta_f1(model: WorldModel, examples: tuple[WorldModelExample, ...]) -> Mapping[str, float]:
    """Mean delta F1 over the dev transitions (that it is defined for), and the share of malformed answers among all."""
    from audits.fidelity import delta_f1, score

    answers = model.predict([example.query for example in examples])
    values = [delta_f1(score(example, row)) for example, row in zip(examples, answers, strict=True)]
    known = [value for value in values if value is not None]
    return {
        "delta_f1": sum(known) / max(len(known), 1),
        "malformed": sum(bool(row[0].malformed) for row in answers) / max(len(answers), 1),
    }


def _needs(settings: SftConfig) -> list[str]:
    """What `--check` prints."""
    from training.models import build_model
    from training.models.paper import PAPER_MODELS, shape_of

    base, lora = settings.model.base, settings.model.lora
    name = Path(base).name
    if name in PAPER_MODELS:
        shape = shape_of(name, lora)
        return [
            f"{name}: {shape.parameters / 1e9:.2f}B parameters, {shape.trainable / 1e6:.1f}M of them trained",
            f"weights, gradients and optimizer state: {shape.gib:,.0f} GiB over all devices, without activations",
            f"context {shape.context:,} tokens; rows of at most {settings.rows.lengths[-1]:,}",
        ]
    model, _ = build_model(settings.model, ("no texts, only the 256 bytes",), seed=settings.seed)
    parameters = sum(p.numel() for p in model.parameters())
    note = " with the vocabulary of bytes alone; the data's words add to it" if base == "nano" else ""
    return [f"{base}: {parameters / 1e6:.2f}M parameters{note}"]


def _summary(trained: Trained, data: Path) -> list[str]:
    lines = [
        f"{trained.steps} steps, {trained.tokens:,} tokens in {timedelta(seconds=round(trained.seconds))}, "
        f"{trained.tokens / max(trained.seconds, 1e-9):,.0f} tokens/s, checks included; ended by {trained.ended}",
    ]
    for split, counts in trained.counts.items():
        if isinstance(counts, dict):
            lines.append(f"{split}: rows {counts['rows']}, refused {counts['refused'] or 'none'}")
    if trained.best is not None:
        lines.append(f"best dev value: {trained.best:.4f}")
    return [*lines, f"checkpoint: {trained.directory}", f"next: harness fidelity {trained.directory} copy --data {data}"]
