"""`harness dream`: let a policy dream in a world model. Dreams are stored like any run: report, show, audit read them."""

from __future__ import annotations

import random
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from harness.errors import EXIT_INFRA_ERRORS, UsageError

if TYPE_CHECKING:
    from harness.types import JsonDict, Trajectory
    from results.store import RunStore
    from training.dream import Dream, DreamConfig, PlannedDream
    from training.dream.generate import Actor


class Truncation(StrEnum):
    fixed = "fixed"
    disagreement = "disagreement"
    confidence = "confidence"


def dream(
    world_model: Annotated[
        str, typer.Argument(help="A checkpoint, or copy, random:DATA, retrieval:DATA, program:RUN, frozen:MODEL, http:TOML.")
    ],
    policy: Annotated[str, typer.Option("--policy", help="The agent that dreams: checkpoint:DIR.")],
    experts: Annotated[list[str], typer.Option("--experts", help="A run whose successes give the starts; may be repeated.")],
    judge: Annotated[
        str, typer.Option("--judge", help="Who assesses: any of these, or outcomes:DATA. Default: MODEL itself.")
    ] = "",
    starts: Annotated[int, typer.Option("--starts", min=1, help="How many starts.")] = 32,
    group_size: Annotated[int, typer.Option("--group-size", min=1, help="Dreams from each start.")] = 8,
    middle_share: Annotated[
        float,
        typer.Option(
            "--middle-share", min=0, max=1, help="Share of starts in the middle of a trajectory; 0: all at its first page."
        ),
    ] = 0.5,
    dream_length: Annotated[int, typer.Option("--dream-length", min=1, max=50, help="Steps per dream, at most.")] = 5,
    truncation: Annotated[
        Truncation, typer.Option("--truncation", help="Also stop where the model disagrees with itself, or is not confident.")
    ] = Truncation.fixed,
    split: Annotated[str, typer.Option("--split", help="Only experts of this split; all: every one.")] = "train",
    temperature: Annotated[float, typer.Option("--temperature", min=0, help="Of the agent; 0: greedy.")] = 1.0,
    batch: Annotated[int, typer.Option("--batch", min=1, max=1024, help="Dreams side by side.")] = 64,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of starts, agent and world model.")] = 0,
    run_dir: Annotated[Path | None, typer.Option("--run-dir", help="Where the dreams lie. Default: below runs/.")] = None,
) -> None:
    """Dream: rollouts of an agent in a world model, begun on real pages and judged by the simulator itself.

    Equal seeds dream equal dreams. The same command again goes on where it stopped. What dreams claim is measured in a real
    browser by harness audit.

    Example: harness dream checkpoints/wm --policy checkpoint:checkpoints/agent --experts runs/arena-oracle-A --starts 8

    Exit codes: 0 done, 2 bad usage, 3 not ready, 4 some dreams broke, 130 interrupted.
    """
    from results.store import RunStore
    from training.dream import DreamConfig, plan_dreams, sample_starts
    from training.dream.storing import dream_manifest
    from training.world_model.model import load, load_judge
    from training.world_model.model.loading import judge_of

    config = DreamConfig(
        group_size=group_size, middle_share=middle_share, dream_length=dream_length, truncation=truncation.value, seed=seed
    )
    found = _experts(experts, split)
    planned = plan_dreams(sample_starts(found, starts, middle_share=config.middle_share, rng=random.Random(seed)), config)
    actor = _actor(policy, temperature)
    model = load(world_model)
    directory = run_dir or Path("runs") / f"dreams-{Path(world_model).name}-{seed}"
    about: JsonDict = {"world_model": world_model, "experts": list(experts), "split": split}
    manifest = dream_manifest(directory, planned, config, policy=policy, about=about, seed=seed)
    console = Console()
    try:
        with RunStore.start(directory, manifest, [item.spec for item in planned]) as store:
            broken = _play(
                store, planned, batch, (actor, model, load_judge(judge) if judge else judge_of(model)), config, console
            )
    finally:
        model.close()
    console.print(f"dreams: {directory}", markup=False, highlight=False, soft_wrap=True)
    console.print(
        f"next: harness audit replay {directory} --env {manifest.benchmark}", markup=False, highlight=False, soft_wrap=True
    )
    if broken:
        console.print(f"{broken} of {len(planned)} dreams broke: they are errors, not failures", markup=False, highlight=False)
        raise typer.Exit(EXIT_INFRA_ERRORS)


def _experts(runs: list[str], split: str) -> list[tuple[str, Trajectory]]:
    """(run/episode, trajectory) of every success of a real run."""
    from training.agent.experts import read_experts, split_of

    found = [
        (f"{row.run_id}/{row.episode_id}", row.trajectory)
        for row in read_experts([Path(name) for name in runs])
        if split in ("all", split_of(row))
    ]
    if not found:
        raise UsageError(
            f"no success of split {split!r} in {', '.join(runs)}", fix="give a run of the oracle, or another --split"
        )
    return found


def _actor(policy: str, temperature: float) -> Actor:
    from training.agent.policy import load_actor

    kind, _, directory = policy.partition(":")
    if kind != "checkpoint" or not directory:
        raise UsageError(f"no agent {policy!r}", fix="--policy checkpoint:DIR")
    return load_actor(directory, temperature=temperature)


def _play(
    store: RunStore,
    planned: list[PlannedDream],
    batch: int,
    models: tuple[Any, Any, Any],
    config: DreamConfig,
    console: Console,
) -> int:
    """Dream what is not stored yet, group by group. Returns how many stored dreams are errors."""
    from training.dream import dream as dream_all
    from training.dream.storing import dream_episode

    done = {row.episode_id for row in store.rows()}
    left = [item for item in planned if item.spec.episode_id not in done]
    columns = (TextColumn("dreams"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("", total=len(planned), completed=len(planned) - len(left))

        def keep(found: Dream) -> None:
            store.record(dream_episode(store.manifest.run_id, found), {})
            progress.advance(bar)

        for first in range(0, len(left), batch):
            dream_all(left[first : first + batch], *models, config, on_done=keep)
            progress.update(bar, description=_summary(store))
    console.print(_summary(store), markup=False, highlight=False)
    return sum(row.status == "error" for row in store.rows())


def _summary(store: RunStore) -> str:
    from results.intervals import wilson

    rows = [row for row in store.rows() if row.status in ("success", "failure")]
    if not rows:
        return "no dream was judged yet"
    claimed = sum(row.status == "success" for row in rows)
    low, high = wilson(claimed, len(rows))
    return f"claimed success {claimed}/{len(rows)} = {claimed / len(rows):.1%} [{low:.1%}, {high:.1%}]"
