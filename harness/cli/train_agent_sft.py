"""`harness train agent-sft`: expert runs → a policy that acts as they did; the agent's warm start. Resumable."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from training.agent.sft import TrainedAgent


def agent_sft(
    config: Annotated[Path, typer.Option("--config", "-c", help="A TOML file, such as configs/agent/sft-nano.toml.")],
    experts: Annotated[
        list[str], typer.Option("--experts", help="A run of the oracle or of a successful policy; may be repeated.")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where it lies. Default: checkpoints/agent-PRESET.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the training in --out that was stopped.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Another seed than the file's.")] = None,
    max_minutes: Annotated[
        float | None, typer.Option("--max-minutes", min=0.01, help="End after so much training time, checks included.")
    ] = None,
    max_steps: Annotated[int | None, typer.Option("--max-steps", min=1, help="End after so many steps.")] = None,
) -> None:
    """Train an agent on expert trajectories. Only successes of train tasks are learned from; dev tasks choose the checkpoint.

    \b
    Examples:
      harness train agent-sft --config configs/agent/sft-nano.toml --experts runs/oracle --out checkpoints/agent-nano
      harness run --bench arena --policy checkpoint:checkpoints/agent-nano

    Exit codes: 0 done, 2 bad usage, 3 environment not ready, 130 interrupted.
    """
    from results.files import held
    from results.reader import find_run
    from training.agent.sft import train_agent
    from training.agent.sft_config import read_sft_config

    settings = read_sft_config(config, {"train": {"max_minutes": max_minutes, "max_steps": max_steps}}, seed=seed)
    runs = [find_run(name) for name in experts]
    folder = out or Path("checkpoints") / f"agent-{settings.preset}"
    console = Console()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with held(folder), Progress(*columns, console=console) as bars:
        task = bars.add_task("reading experts", total=None, note="")

        def report(line: dict[str, Any], steps: int) -> None:
            if "dev" in line:
                dev = line["dev"]
                told = f"step {line['step']}: dev loss {dev.get('loss', float('nan')):.4f}, exact {dev.get('exact', 0.0):.1%}"
                bars.console.print(told, markup=False, highlight=False)
            else:
                speed = line["tokens"] / max(line["seconds"], 1e-9)
                note = f"loss {line['loss']:.4f}  {speed:,.0f} tokens/s"
                bars.update(task, description="training", completed=line["step"], total=steps, note=note)

        trained = train_agent(settings, runs, folder, resume=resume, report=report)
    for line in _summary(trained):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _summary(trained: TrainedAgent) -> list[str]:
    counts = ", ".join(f"{name} {count}" for name, count in trained.counts.items() if name != "refused")
    lines = [
        counts,
        f"refused: {trained.counts.get('refused') or 'none'}",
        f"{trained.steps} steps, {trained.tokens:,} tokens in {timedelta(seconds=round(trained.seconds))}, "
        f"checks included; ended by {trained.ended}",
    ]
    if trained.exact is not None:
        lines.append(f"dev steps answered exactly as the expert did: {trained.exact:.1%}")
    lines.append(f"checkpoint: {trained.directory}")
    return [*lines, f"next: harness run --policy checkpoint:{trained.directory}"]
