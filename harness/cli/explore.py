"""`harness explore`: collect real transitions by walking through sites without a task. A run directory like any other.

starting points   tasks of the train split, evenly over the sites          harness.cli.starting_points
the walks         plan, runner, workers and store of `harness run`         policy `explore`
afterwards        counts and speed; labels beside the run                  results.walks, harness.cli.labelling
"""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from harness.cli.run import given
from harness.errors import EXIT_INFRA_ERRORS, EXIT_INTERRUPTED, UsageError

if TYPE_CHECKING:
    from harness.cli.prepare import Prepared, Request
    from harness.runner import RunSummary


class Mode(StrEnum):
    random = "random"
    goal = "goal"


def explore(
    bench: Annotated[str, typer.Option("--bench", help="arena, miniwob, or another benchmark of harness run.")] = "",
    sites: Annotated[
        list[str] | None, typer.Option("--sites", help="Only walks on this site, a held-out one too; may be repeated.")
    ] = None,
    tasks: Annotated[
        list[str] | None, typer.Option("--tasks", help="Start only from tasks with such ids (a glob); may be repeated.")
    ] = None,
    walks: Annotated[int, typer.Option("--walks", min=1, help="Walks, each from a fresh first state.")] = 20,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Actions per walk.")] = 40,
    mode: Annotated[
        Mode, typer.Option("--mode", help="goal: completes forms, opens what is new. random: any legal action.")
    ] = Mode.goal,
    workers: Annotated[str, typer.Option("--workers", help="Browsers side by side; auto: one per core or site set.")] = "auto",
    seed: Annotated[int, typer.Option("--seed", min=0, max=10**9, help="Another seed, other walks.")] = 0,
    run_dir: Annotated[Path | None, typer.Option("--run-dir", help="Where the run lies. Default: below runs/.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A run.toml; options win over it.")] = None,
    labeler: Annotated[
        str, typer.Option("--labeler", help="Who names what walks did: rules, none, or a TOML file with a model's server.")
    ] = "rules",
) -> None:
    """Walk through sites and keep every transition, failed actions included. The same command again resumes.

    Walks begin at tasks of the train split and not on a held-out site, so that no test is seen. Screenshots are not kept,
    unless the config file asks for them. What each walk achieved is written to RUN/labels/; `harness export` reads it.

    Example: harness explore --bench arena --sites shop --walks 40

    Exit codes: 0 done, 2 bad usage, 3 environment not ready, 4 finished with infrastructure errors, 130 interrupted.
    """
    from harness.cli.labelling import label_run, labeler_config
    from harness.cli.prepare import prepare
    from harness.cli.run import play
    from results.reader import RunReader

    endpoint = labeler_config(labeler)
    options: dict[str, dict[str, Any]] = {
        "run": given(benchmark=bench, tasks=tuple(tasks or ()), sites=tuple(sites or ())) | {"base_seed": seed},
        "limits": {"max_steps": steps},
        "policy": {"name": "explore", "explore": {"mode": mode.value}},
    }
    prepared = prepare(_request(config, options, walks, workers, run_dir))
    console = Console()
    began = time.monotonic()
    with prepared.open_store() as store:
        before = {row.episode_id for row in store.rows()}
        summary = play(console, prepared, store, retry_errors=False, reset=True)
        seconds = time.monotonic() - began
        reader = RunReader.open(prepared.directory)
        lines = [*_counts(reader, before, seconds, prepared.workers), label_run(reader, labeler, endpoint)]
    for line in (*filter(None, lines), f"run: {prepared.directory}", f"data: harness export {prepared.directory}"):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    _exit(prepared, summary)


def _request(file: Path | None, options: dict[str, dict[str, Any]], walks: int, workers: str, run_dir: Path | None) -> Request:
    """The request of a run whose tasks are the starting points."""
    from harness.assembly import make_benchmark
    from harness.cli.prepare import Request
    from harness.cli.selection import select
    from harness.cli.starting_points import allowed, starting_points
    from harness.config import read_config

    config = read_config(file, options)
    run = config.run
    found = [t for t in select(make_benchmark(config).tasks(), run.tasks, run.sites) if allowed(t, run.sites)]
    if not found:
        raise UsageError(
            "no walk may start there: these tasks are for testing", fix="name the site with --sites, or leave --tasks out"
        )
    points, passes = starting_points(found, walks, run.base_seed)
    options["run"] |= {"tasks": tuple(task.task_id for task in points), "repeats": passes}
    if "browser" not in config.explicit():
        options["browser"] = {"screenshots": "none"}
    return Request(file, options, "", workers, run_dir)


def _counts(reader: Any, before: set[str], seconds: float, workers: int) -> list[str]:
    """What the run holds, and how fast this sitting was."""
    from results.transitions import played
    from results.walks import WalkCounts

    everything, now = WalkCounts(), WalkCounts()
    for episode in played(reader):
        everything.add(episode)
        if episode.spec.episode_id not in before:
            now.add(episode)
    lines = everything.lines()
    if now.transitions:
        speed = now.transitions / seconds
        lines.append(
            f"speed: {speed:.2f} transitions/s ({now.transitions} in {seconds:.1f} s, {now.walks} walks, {workers} workers; "
            "starting, resets and scoring included)"
        )
    return lines


def _exit(prepared: Prepared, summary: RunSummary) -> None:
    if summary.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if summary.left or prepared.infra_errors():
        raise typer.Exit(EXIT_INFRA_ERRORS)
