"""`harness ablate`: a grid of train → dream → real evaluation → audit, with stages shared, cells side by side, resumable."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from harness.errors import EXIT_INFRA_ERRORS, UsageError

if TYPE_CHECKING:
    from audits.ablation import Grid

PROGRAM = (sys.executable, "-P", "-m", "harness.cli.main")
"""What a stage's command is given to: this program, in a process of its own."""


def ablate(
    config: Annotated[Path, typer.Option("--config", "-c", help="A grid, such as configs/ablations/dream_length.toml.")],
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="NAME=PATH: where an input of the grid lies; may be repeated.")
    ] = None,
    values: Annotated[
        list[str] | None, typer.Option("--value", help="NAME=WORD: another value than the file's; may be repeated.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Holds all grids; they share its stages.")] = Path("runs/ablations"),
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Stages side by side.")] = 1,
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="Only the first so many seeds of the file.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print cells, shared stages and time, and stop.")] = False,
) -> None:
    """Run a grid: every level with every seed. What is done is never run again: the same command goes on where it stopped.

    Writes ablation.json, .md, .csv and .tex below OUT/NAME, anew after each cell, and stages.json, which says what made them.
    The dashboard shows them as they grow.

    \b
    Examples:
      harness ablate --config configs/ablations/dream_length.toml --dry-run
      harness ablate --config configs/ablations/dream_length.toml --input experts=runs/oracle --jobs 2

    Exit codes: 0 done, 2 bad usage, 4 finished with failed cells, 130 interrupted.
    """
    from audits.ablation import Stages, execute, make_plan, write_results
    from audits.ablation.fingerprint import fingerprints
    from harness.cli.ablate_screen import ABSENT, Screen, print_plan
    from results.ablations import ablation_report
    from results.published import load_published
    from results.terminal import print_report

    grid = _grid(config, inputs or [], values or [], seeds)
    console = Console()
    stages = Stages(out)
    if dry_run:  # also before the inputs are made
        print_plan(console, make_plan(grid, fingerprints(grid.inputs, absent=ABSENT), stages.directory), stages, jobs)
        return
    plan = make_plan(grid, fingerprints(grid.inputs), stages.directory)
    signal.signal(signal.SIGTERM, _interrupted)
    place = out / grid.name
    with stages.locked():
        try:
            with Screen(console, plan, stages, jobs, on_cell=lambda: write_results(place, plan, stages)) as screen:
                execute(plan, stages, program=PROGRAM, jobs=jobs, watch=screen)
        except KeyboardInterrupt:
            console.print("interrupted: what is done is kept, and the same command goes on", markup=False)
            raise
        finally:
            found = write_results(place, plan, stages)
    print_report(ablation_report(found, load_published()), console)
    console.print(f"\ngrid: {place}", markup=False, highlight=False, soft_wrap=True)
    if any(cell.state != "done" for cell in found.cells):
        raise typer.Exit(EXIT_INFRA_ERRORS)


def _grid(config: Path, inputs: list[str], values: list[str], seeds: int | None) -> Grid:
    from audits.ablation import read_grid

    grid = read_grid(config)
    changes: dict[str, dict[str, Any]] = {}
    for kind, there, given in (("input", grid.inputs, inputs), ("value", grid.values, values)):
        pairs = dict(_pair(kind, text) for text in given)
        if unknown := sorted(pairs.keys() - there.keys()):
            raise UsageError(f"{config} has no {kind} {', '.join(unknown)}", fix=f"it has {', '.join(there) or 'none'}")
        changes[f"{kind}s"] = {**there, **pairs}
    # Checked again: a value may speak of stages.
    return type(grid).model_validate({**grid.model_dump(), **changes, "seeds": grid.seeds[:seeds]})


def _pair(kind: str, text: str) -> tuple[str, str]:
    name, equals, word = text.partition("=")
    if not (name and equals and word):
        raise UsageError(f"--{kind} {text}: not NAME=…", fix="as in --input experts=runs/oracle or --value updates=8")
    return name, word


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt
