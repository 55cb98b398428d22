"""`harness ablate`: a grid of train → dream → real evaluation → audit, with stages shared, cells side by side, resumable.

`harness ablate merge`: one grid from parts of it that were run on several machines, or on several days.
"""

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


app = typer.Typer(invoke_without_command=True, rich_markup_mode="rich")


@app.callback()
def ablate(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="A grid, such as configs/ablations/dream_length.toml.")
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="NAME=PATH: where an input of the grid lies; may be repeated.")
    ] = None,
    values: Annotated[
        list[str] | None, typer.Option("--value", help="NAME=WORD: another value than the file's; may be repeated.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Holds all grids; they share its stages.")] = Path("runs/ablations"),
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Stages side by side.")] = 1,
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="Only the first so many seeds of the file.")] = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", help="Only this seed of the file, the others elsewhere; may be repeated.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print cells, shared stages and time, and stop.")] = False,
) -> None:
    """Run a grid: every level with every seed. What is done is never run again: the same command goes on where it stopped.

    Writes ablation.json, .md, .csv and .tex below OUT/NAME, anew after each cell, and stages.json, which says what made them.
    The dashboard shows them as they grow.

    \b
    Examples:
      harness ablate --config configs/ablations/dream_length.toml --dry-run
      harness ablate --config configs/ablations/dream_length.toml --input experts=runs/oracle --jobs 2
      harness ablate --config configs/ablations/dream_length.toml --seed 1          # on another machine, then:
      harness ablate merge runs/ablations/dream_length from-there/dream_length --out runs/merged

    Exit codes: 0 done, 2 bad usage, 4 finished with failed cells, 130 interrupted.
    """
    from audits.ablation import Stages, execute, make_plan, write_results
    from audits.ablation.fingerprint import fingerprints
    from harness.cli.ablate_screen import ABSENT, Screen, print_plan
    from results.ablations import ablation_report
    from results.published import load_published
    from results.terminal import print_report

    if context.invoked_subcommand:
        return
    if config is None:
        raise UsageError("ablate needs a grid", fix="--config configs/ablations/dream_length.toml; or harness ablate merge")
    grid = _grid(config, inputs or [], values or [], seeds, seed or [])
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


@app.command("merge")
def merge(
    parts: Annotated[list[Path], typer.Argument(help="Directories with an ablation.json and stages.json of the same grid.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The merged grid is written below it, by its name.")],
) -> None:
    """One table from parts of a grid that were run apart: other seeds, or other levels.

    Parts must be told the same. They may have inputs of their own: differences are taken within a seed, and the report says so.

    \b
    Examples:
      harness ablate merge here/methods there/methods --out runs/merged
    """
    from audits.ablation import merge_results
    from results.ablations import ablation_report
    from results.published import load_published
    from results.terminal import print_report

    found = merge_results(parts, out)
    console = Console()
    print_report(ablation_report(found, load_published()), console)
    console.print(f"\ngrid: {out / found.name}", markup=False, highlight=False, soft_wrap=True)


def _grid(config: Path, inputs: list[str], values: list[str], first: int | None, only: list[int]) -> Grid:
    """The file's grid with other inputs and values, and its first seeds or `only` some."""
    from audits.ablation import read_grid

    grid = read_grid(config)
    if first is not None and only:
        raise UsageError("--seeds and --seed both choose seeds", fix="give one of them")
    if absent := sorted(set(only) - set(grid.seeds)):
        raise UsageError(f"the grid has no seed {absent[0]}", fix=f"it has {', '.join(map(str, grid.seeds))}")
    changes: dict[str, dict[str, Any]] = {}
    for kind, there, given in (("input", grid.inputs, inputs), ("value", grid.values, values)):
        pairs = dict(_pair(kind, text) for text in given)
        if unknown := sorted(pairs.keys() - there.keys()):
            raise UsageError(f"{config} has no {kind} {', '.join(unknown)}", fix=f"it has {', '.join(there) or 'none'}")
        changes[f"{kind}s"] = {**there, **pairs}
    chosen = tuple(seed for seed in grid.seeds[:first] if not only or seed in only)
    # Checked again: a value may speak of stages.
    return type(grid).model_validate({**grid.model_dump(), **changes, "seeds": chosen})


def _pair(kind: str, text: str) -> tuple[str, str]:
    name, equals, word = text.partition("=")
    if not (name and equals and word):
        raise UsageError(f"--{kind} {text}: not NAME=…", fix="as in --input experts=runs/oracle or --value updates=8")
    return name, word


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt
