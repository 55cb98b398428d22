"""`harness list`: what there is to run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.types import Task


class Format(StrEnum):
    table = "table"
    json = "json"


def list_tasks(
    bench: Annotated[str, typer.Option("--bench", help="Benchmark; without it, the benchmarks are listed.")] = "",
    site: Annotated[list[str] | None, typer.Option("--site", help="Only tasks on this site; may be repeated.")] = None,
    tasks: Annotated[list[str] | None, typer.Option("--tasks", help="Glob over task ids; may be repeated.")] = None,
    format: Annotated[Format, typer.Option("--format", help="Table for people, JSON for programs.")] = Format.table,
    config: Annotated[Path | None, typer.Option("--config", help="A run.toml.")] = None,
) -> None:
    """List tasks with their site, evaluator, dependencies and known problems.

    Example: harness list --bench miniwob --tasks 'click-*'
    """
    from harness.assembly import BENCHMARKS, make_benchmark
    from harness.cli.selection import select
    from harness.config import read_config

    if not bench and config is None:
        _print_benchmarks(BENCHMARKS)
        return
    settings = read_config(config, {"run": {"benchmark": bench}} if bench else {})
    chosen = select(make_benchmark(settings).tasks(), tasks or (), site or ())
    if format is Format.json:
        typer.echo(json.dumps([task.model_dump(mode="json") for task in chosen], ensure_ascii=False, indent=1))
    else:
        _print_tasks(chosen)


def _print_benchmarks(benchmarks: dict[str, str]) -> None:
    table = Table("benchmark", "what it is", box=None)
    for name, what in benchmarks.items():
        table.add_row(name, what)
    Console().print(table)


def _print_tasks(tasks: Sequence[Task]) -> None:
    table = Table("task", "site", "evaluator", "needs", "depends on", "problems", "goal", box=None)
    for task in tasks:
        goal = task.goal or str(task.metadata.get("description", ""))
        cells = (
            task.task_id,
            "+".join(task.sites),
            task.evaluator.kind,
            " ".join(task.evaluator.needs),
            " ".join(task.depends_on[:3]) + (" …" if len(task.depends_on) > 3 else ""),
            str(len(task.known_problems) or ""),
            goal[:70],
        )
        table.add_row(*(Text(cell) for cell in cells))  # Text: goals come from data files and must not act as markup
    console = Console()
    console.print(table)
    console.print(f"{len(tasks)} tasks", highlight=False)
