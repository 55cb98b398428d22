"""`harness audit`: replay dreams in a real browser, controls of the replay itself, what both say. Commands only wire."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from harness.errors import EXIT_INFRA_ERRORS, EXIT_INTERRUPTED

if TYPE_CHECKING:
    from harness.runner import RunSummary

app = typer.Typer(help="Does a dreamed success survive a real browser? Replays, controls, reports.", no_args_is_help=True)

Dreams = Annotated[Path, typer.Argument(help="A run directory with dreams, or with recorded episodes.")]


class Arm(StrEnum):
    stop = "stop"
    skip = "skip"
    handover = "handover"


class Which(StrEnum):
    success = "success"
    all = "all"


@app.command("replay")
def replay(
    dreams: Dreams,
    env: Annotated[str, typer.Option("--env", help="Where to replay: arena, miniwob, or another benchmark.")],
    arm: Annotated[
        Arm, typer.Option("--arm", help="At an action that cannot be done: stop, skip it, or hand over to --policy.")
    ] = Arm.stop,
    which: Annotated[Which, typer.Option("--which", help="Dreams that call themselves a success, or all.")] = Which.all,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Replay that many, drawn at random.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the draw.")] = 0,
    workers: Annotated[str, typer.Option("--workers", help="Browsers side by side; auto: one per core or site set.")] = "auto",
    calibration: Annotated[
        Path | None, typer.Option("--calibration", help="Controls directory or its calibration.json. Default: mask nothing.")
    ] = None,
    policy: Annotated[str, typer.Option("--policy", help="Who goes on after a hand-over, as for harness run.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Ground by role, name and place alone, not by similarity.")] = False,
    live: Annotated[bool, typer.Option("--live", help="Sites that are not ours: read only, with a block list.")] = False,
    run_dir: Annotated[Path | None, typer.Option("--run-dir", help="Where the replays lie. Default: beside the dreams.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A run.toml, for [arena], [browser] and [limits].")] = None,
    retry: Annotated[bool, typer.Option("--retry-errors", help="Replay again what infrastructure spoiled.")] = False,
) -> None:
    """Execute stored dreams in a real browser and see what comes of them. The same command again resumes.

    Example: harness audit replay runs/dreams --env arena --workers 2

    Exit codes: 0 done, 2 bad usage, 3 environment not ready, 4 finished with infrastructure errors, 130 interrupted.
    """
    from audits.grounding import GroundingConfig
    from audits.replay.calibration import Calibration, load_calibration
    from audits.replay.config import ReplaySettings, SafetyConfig
    from harness.cli.audit_run import ReplayRequest, replay_run

    settings = ReplaySettings(
        dreams=str(dreams),
        arm=arm.value,
        grounding=GroundingConfig(similarity=not strict),
        safety=SafetyConfig(mode="live" if live else "local"),
        calibration=load_calibration(calibration) if calibration else Calibration(),
    )
    console = Console()
    directory = run_dir or dreams.with_name(f"{dreams.name}-replay-{arm.value}")
    request = ReplayRequest(
        dreams, settings, env, directory, workers, which.value, limit, seed, config, policy, retry_errors=retry
    )
    summary = replay_run(console, request)
    _say(console, f"replays: {directory}")
    _say(console, f"next: harness audit report {directory}")
    _exit(summary)


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _exit(summary: RunSummary) -> None:
    if summary.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if summary.left:
        raise typer.Exit(EXIT_INFRA_ERRORS)
