"""`harness data`: data sets of real transitions for the world model: build, count, look at."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from training.world_model.transitions import Card

PLAIN_EVERY_SECONDS = 15.0

app = typer.Typer(
    name="data",
    help="Data sets of real transitions for the world model: build, count, look at.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


class Format(StrEnum):
    auto = "auto"
    run = "run"
    transitions = "transitions"
    nnetnav = "nnetnav"
    gobrowse = "gobrowse"


class Split(StrEnum):
    train = "train"
    dev = "dev"
    test = "test"
    held_out_site = "held_out_site"


@app.command("build")
def build_command(
    inputs: Annotated[list[str], typer.Argument(help="Run directories, ids of runs under --runs, .jsonl or .jsonl.gz files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The new directory, such as data/wm/arena.")],
    form: Annotated[Format, typer.Option("--format", "-f", help="What all inputs are; auto looks at each.")] = Format.auto,
    held_out_site: Annotated[
        list[str] | None,
        typer.Option("--held-out-site", help="Hold this site out, beside those its benchmark does; may be repeated."),
    ] = None,
    noop_share: Annotated[
        float, typer.Option("--noop-share", min=0, max=1, help="Most that rows without effect may make up of train.")
    ] = 1.0,
    keep_slow: Annotated[bool, typer.Option("--keep-slow", help="Keep rows whose page was still busy.")] = False,
    runs: Annotated[Path, typer.Option("--runs", help="The directory that holds runs.")] = Path("runs"),
) -> None:
    """Clean, split and store transitions of runs and of published data sets; reject with reasons, fail on leaks.

    \b
    Examples:
      harness data build runs/arena-oracle-A runs/arena-explore-A --out data/wm/arena
      harness data build nnetnav.jsonl --format nnetnav --out data/wm/nnetnav
    """
    from training.world_model.transitions import BuildOptions, build, open_source

    sources = [open_source(name, form.value, runs) for name in inputs]
    options = BuildOptions(held_out_sites=tuple(held_out_site or ()), noop_share=noop_share, keep_slow=keep_slow)
    with _Progress(Console(stderr=True)) as progress:
        card = build(sources, out, options, shlex.join(["harness", *sys.argv[1:]]), progress.announce)
    for line in (*_counts(card), f"data: {out}", f"next: harness data show {out}"):
        typer.echo(line)


@app.command("stats")
def stats(
    directory: Annotated[Path, typer.Argument(help="A data set.")],
    check: Annotated[bool, typer.Option("--check", help="Read every row again and look for leaks.")] = False,
) -> None:
    """Print a data set's card.

    Example: harness data stats data/wm/arena --check
    """
    from training.world_model.transitions import check_dataset, read_card
    from training.world_model.transitions.card import markdown

    card = read_card(directory)
    typer.echo(markdown(card).rstrip())
    if check:
        held_out = card.options.get("held_out_sites")
        check_dataset(directory, {str(site) for site in held_out} if isinstance(held_out, list) else set())
        typer.echo("\nNo leaks: every row was read, and its template, task, page and action are in one split only.")


@app.command("show")
def show(
    directory: Annotated[Path, typer.Argument(help="A data set.")],
    split: Annotated[Split, typer.Option("--split", help="Which split.")] = Split.train,
    n: Annotated[int, typer.Option("--n", min=1, help="How many rows.")] = 3,
    skip: Annotated[int, typer.Option("--skip", min=0, help="Leave out the first rows.")] = 0,
    episode: Annotated[str, typer.Option("--episode", help="Only rows of episodes whose name begins so.")] = "",
) -> None:
    """Show rows: goal, page, action, and what changed in plain sentences.

    Example: harness data show data/wm/arena --split test --n 5
    """
    from training.world_model.transitions import read_card, read_dataset
    from training.world_model.transitions.showing import describe_example, matching

    read_card(directory)
    found = islice(matching(read_dataset(directory, split.value), episode), skip, skip + n)
    texts = ["\n".join([*describe_example(example), ""]) for example in found]
    typer.echo("\n".join(texts) or f"no such row in {split.value}")


def _counts(card: Card) -> list[str]:
    lines = [f"{card.rows_kept} of {card.rows_in} rows kept, {card.rows_rejected} rejected (rejects.jsonl.gz says why)"]
    for name, split in card.splits.items():
        won = split.outcomes.get("success", 0)
        scored = won + split.outcomes.get("failure", 0)
        lines.append(
            f"  {name:<14}{split.rows:>7} rows  {split.episodes:>6} episodes  {split.templates:>5} templates  "
            f"success {won} of {scored} scored"
        )
    for name, reasons in card.rejects.items():
        shown = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items(), key=lambda item: -item[1]))
        lines.append(f"  rejected of {name}: {shown}")
    lines += [f"  {name} is empty" for name, split in card.splits.items() if not split.rows]
    return lines


class _Progress:
    """A bar with the time left on a terminal; elsewhere a plain line now and then."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=console, transient=True) if console.is_terminal else None
        self._console = console
        self._last = time.monotonic()

    def __enter__(self) -> _Progress:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def announce(self, what: str, total: int) -> Callable[[int], None]:
        done = 0
        task = self._bar.add_task(what, total=total) if self._bar else None

        def advance(amount: int) -> None:
            nonlocal done
            done += amount
            if self._bar and task is not None:
                self._bar.advance(task, amount)
            elif (now := time.monotonic()) - self._last >= PLAIN_EVERY_SECONDS:
                self._last = now
                self._console.print(f"{what}: {done / max(total, 1):.0%}", markup=False, highlight=False)

        return advance
