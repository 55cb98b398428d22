"""`harness report`: the numbers of one run, or two runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from results.render import Format

if TYPE_CHECKING:
    from rich.console import Console

AFTER_A_RUN = ("sites", "templates", "faults", "action_errors", "step_flags")
"""The tables printed when a run ends; `harness report` has all of them."""


def report(
    run: Annotated[str, typer.Argument(help="A run directory, or the id of a run under --runs (or its beginning).")],
    run2: Annotated[str | None, typer.Argument(help="A second run, to compare with the first.")] = None,
    form: Annotated[
        Format | None, typer.Option("--format", "-f", help="Print as text for other programs instead of the terminal.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of printing.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Show all rows of long tables in the terminal.")] = False,
    runs: Annotated[Path, typer.Option("--runs", help="The directory that holds runs.")] = Path("runs"),
) -> None:
    """Print what ran, success rates with intervals, errors, cost and time; for two runs a paired comparison.

    Two runs over different windows are reported as windows: both rates, their mean, gap and flip rate.
    CSV is one tidy table (table, row, column, value); JSON and CSV hold rates as fractions of 1.

    \b
    Examples:
      harness report runs/miniwob-heuristic
      harness report baseline candidate --format md -o comparison.md
    """
    from rich.console import Console

    from results.files import disk_errors
    from results.pair_report import pair_report
    from results.reader import RunReader, find_run
    from results.render import render
    from results.report import run_report
    from results.terminal import MAX_ROWS, print_report

    first = RunReader.open(find_run(run, runs))
    made = pair_report(first, RunReader.open(find_run(run2, runs))) if run2 else run_report(first)
    if output is not None:
        with disk_errors(str(output)):
            output.write_text(render(made, form or Format.MD), encoding="utf-8")
    elif form is not None:
        typer.echo(render(made, form), nl=False)
    else:
        print_report(made, Console(), max_rows=None if full else MAX_ROWS)


def print_results(console: Console, directory: Path) -> None:
    """The main number, the warnings and the tables that a person wants right after a run."""
    from dataclasses import replace

    from results.reader import RunReader
    from results.report import run_report
    from results.terminal import print_report

    made = run_report(RunReader.open(directory))
    shown = tuple(table for table in made.tables if table.name in AFTER_A_RUN)
    print_report(replace(made, tables=shown), console)
