"""`harness run`: plan, play, record, report. The pieces are elsewhere; this file puts them together."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from harness.errors import EXIT_INFRA_ERRORS, EXIT_INTERRUPTED, EXIT_USAGE, UsageError

if TYPE_CHECKING:
    from harness.cli.prepare import Prepared
    from harness.runner import Runner, RunSummary
    from results.store import RunStore


class Retry(StrEnum):
    none = "none"
    errors = "errors"


def run(
    bench: Annotated[
        str, typer.Option("--bench", help="miniwob, arena, webarena, webarena-lite, webarena-verified, webvoyager, gym:GLOB.")
    ] = "",
    tasks: Annotated[list[str] | None, typer.Option("--tasks", help="Glob over task ids; may be repeated. Default: all.")] = None,
    site: Annotated[list[str] | None, typer.Option("--site", help="Only tasks on this site; may be repeated.")] = None,
    policy: Annotated[
        str, typer.Option("--policy", help="heuristic, random, noop, your module:Class, or a TOML file (configs/policies/).")
    ] = "",
    workers: Annotated[str, typer.Option("--workers", help="Browsers side by side; auto: one per core, within memory.")] = "auto",
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="Episodes per task, each with a seed of its own.")] = None,
    window: Annotated[str, typer.Option("--window", help="Name of the time window (WebVoyager: run A, later run B).")] = "",
    max_steps: Annotated[int | None, typer.Option("--max-steps", min=1, help="Policy outputs per episode.")] = None,
    run_dir: Annotated[Path | None, typer.Option("--run-dir", help="Where the run lies. Default: below runs/.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A run.toml; options win over it.")] = None,
    retry: Annotated[
        Retry, typer.Option("--retry", help="errors: play again what ended in error, blocked or unscored.")
    ] = Retry.none,
    score_every_step: Annotated[
        bool, typer.Option("--score-every-step", help="WebArena: score after each step, as BrowserGym does (for parity).")
    ] = False,
    reset: Annotated[
        bool,
        typer.Option("--reset/--no-reset", help="WebArena: reset the sites before each pass, where a reset server is known."),
    ] = True,
    shuffle: Annotated[
        int | None, typer.Option("--shuffle", min=0, help="Play the tasks in the random order of this seed.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan (tasks, order, time, cost) and stop.")] = False,
) -> None:
    """Run a policy on a benchmark in a real Chromium. The same command again resumes where it stopped.

    Example: harness run --bench miniwob --tasks 'click-*' --policy heuristic --seeds 3

    Exit codes: 0 done, 2 bad usage, 3 environment not ready, 4 finished with infrastructure errors, 130 interrupted.
    """
    from harness.cli.prepare import Request, prepare

    options: dict[str, dict[str, Any]] = {
        "run": given(
            benchmark=bench,
            tasks=tuple(tasks or ()),
            sites=tuple(site or ()),
            window=window,
            repeats=seeds,
            shuffle=shuffle,
        ),
        "limits": given(max_steps=max_steps),
        "webarena": given(score_every_step=score_every_step),
    }
    prepared = prepare(Request(config, options, policy, workers, run_dir))
    console = Console()
    if dry_run:
        from harness.cli.dry_run import print_plan

        print_plan(console, prepared)
        return
    with prepared.open_store() as store:
        summary = play(console, prepared, store, retry is Retry.errors, reset)
    _finish(console, prepared, summary)


def given(**values: Any) -> dict[str, Any]:
    """Only what the user said: the rest is the config file's, or a default."""
    return {name: value for name, value in values.items() if value is not None and value is not False and value not in ("", ())}


def play(console: Console, prepared: Prepared, store: RunStore, retry_errors: bool, reset: bool) -> RunSummary:
    """Play what is left of a prepared run, with progress on the screen and signals that stop it in good order."""
    from harness.cli.launch import launch
    from harness.cli.progress import ProgressDisplay, headline

    with (
        ProgressDisplay(console) as display,
        launch(prepared, store, display, retry_errors=retry_errors, reset=reset) as runner,
        _stop_on_signals(runner),
    ):
        console.print(headline(prepared, runner.state), markup=False, highlight=False, soft_wrap=True)
        return runner.run()


@contextmanager
def _stop_on_signals(runner: Runner) -> Iterator[None]:
    """Ctrl-C: finish what is in hand, a second one: drop it. SIGTERM: drop it. What was finished is stored either way."""

    def on_interrupt(_signal: int, _frame: object) -> None:
        if runner.state.stopping:
            runner.request_stop(grace_seconds=0)
        else:
            runner.request_stop()

    def on_terminate(_signal: int, _frame: object) -> None:
        runner.request_stop(grace_seconds=0)

    previous = {
        signal.SIGINT: signal.signal(signal.SIGINT, on_interrupt),
        signal.SIGTERM: signal.signal(signal.SIGTERM, on_terminate),
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _finish(console: Console, prepared: Prepared, summary: RunSummary) -> None:
    from harness.cli.report import print_results

    print_results(console, prepared.directory)
    console.print(f"\nrun: {prepared.directory}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"more: harness report {prepared.directory}", markup=False, highlight=False, soft_wrap=True)
    if summary.interrupted:
        console.print(f"stopped with {summary.left} episodes left; the same command goes on", markup=False, highlight=False)
        raise typer.Exit(EXIT_INTERRUPTED)
    if summary.down_sites:
        down = ", ".join(summary.down_sites)
        console.print(
            f"{summary.left} episodes not run: {down} is down; the same command tries again", markup=False, highlight=False
        )
    if summary.left or prepared.infra_errors():
        raise typer.Exit(EXIT_INFRA_ERRORS)


def parse_workers(text: str) -> int | None:
    """A number of at least 1, or None for `auto`."""
    if text == "auto":
        return None
    if not text.isdigit() or int(text) < 1:
        raise UsageError(f"--workers takes a number of at least 1, or auto, not {text!r}", fix="leave it out for auto")
    return int(text)


assert EXIT_USAGE == 2  # Click's own code for bad options; both must be the same
