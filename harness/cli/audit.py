"""`harness audit`: replay dreams in a real browser, controls of the replay itself, what both say. Commands only wire."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from harness.cli.audit_grounding import grounding
from harness.cli.audit_judge import judge
from harness.errors import EXIT_INFRA_ERRORS, EXIT_INTERRUPTED

if TYPE_CHECKING:
    from harness.runner import RunSummary

app = typer.Typer(help="Does a dreamed success survive a real browser? Replays, controls, reports.", no_args_is_help=True)

app.command("grounding")(grounding)
app.command("judge")(judge)

Dreams = Annotated[Path, typer.Argument(help="A run directory with dreams, or with recorded episodes.")]


class Arm(StrEnum):
    stop = "stop"
    skip = "skip"
    handover = "handover"


class Form(StrEnum):
    md = "md"
    json = "json"
    csv = "csv"
    latex = "latex"


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


@app.command("controls")
def controls(
    recorded: Annotated[Path, typer.Argument(help="A run of recorded real successes (an oracle's, or any policy's).")],
    env: Annotated[str, typer.Option("--env", help="Where it was recorded: arena, miniwob, or another benchmark.")],
    out: Annotated[Path | None, typer.Option("--out", help="Directory of the controls. Default: beside the run.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Successes replayed as negative control.")] = None,
    per_fault: Annotated[int, typer.Option("--per-fault", min=0, help="Planted dreams of each kind; 0: none.")] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of both draws.")] = 0,
    workers: Annotated[str, typer.Option("--workers", help="Browsers side by side; auto: one per core or site set.")] = "auto",
    strict: Annotated[bool, typer.Option("--strict", help="Ground by role, name and place alone, as the audit will.")] = False,
    config: Annotated[Path | None, typer.Option("--config", help="A run.toml, for [arena], [browser] and [limits].")] = None,
) -> None:
    """Audit the audit: real successes through the dreams' path, planted faults, determinism. The same command resumes.

    Example: harness audit controls runs/oracle --env arena --limit 200

    Exit codes: 0 done, 2 bad usage, 3 environment not ready, 4 finished with infrastructure errors, 130 interrupted.
    """
    from audits.controls.planting import plant_run
    from audits.grounding import GroundingConfig
    from audits.replay.config import ReplaySettings
    from audits.report.controls import NEGATIVE, PLANTED, POSITIVE, collect, learn_calibration
    from harness.cli.audit_run import ReplayRequest, replay_run
    from results.reader import RunReader

    console = Console()
    directory = out or recorded.with_name(f"{recorded.name}-controls")
    settings = ReplaySettings(dreams=str(recorded), grounding=GroundingConfig(similarity=not strict))
    negative = ReplayRequest(recorded, settings, env, directory / NEGATIVE, workers, "success", limit, seed, config)
    _exit(replay_run(console, negative))
    calibration = learn_calibration(directory)
    if per_fault:
        planted = plant_run(RunReader.open(recorded), directory / PLANTED, per_fault=per_fault, seed=seed)
        _say(console, f"{planted} planted dreams")
        settings = settings.model_copy(update={"calibration": calibration})
        positive = ReplayRequest(directory / PLANTED, settings, env, directory / POSITIVE, workers, config=config)
        _exit(replay_run(console, positive))
    collect(directory, calibration)
    _say(console, f"controls: {directory}")
    _say(console, f"next: harness audit replay DREAMS --env {env} --calibration {directory}")


@app.command("rescore")
def rescore(
    replays: Annotated[Path, typer.Argument(help="A run directory of replays.")],
) -> None:
    """Judge every replay again from its stored evidence: no browser, no site. Exit code 1 if anything differs.

    Example: harness audit rescore runs/dreams-replay-stop
    """
    from audits.replay.rescore import rescore as judge_again
    from results.reader import RunReader

    console = Console()
    found = judge_again(RunReader.open(replays))
    outcomes = ", ".join(f"{count} {name}" for name, count in found.outcomes.items()) or "none"
    _say(console, f"{found.replays} replays judged again: {outcomes}; {found.without_evidence} lost with their worker")
    _say(console, f"{found.decisions} decisions of the resolver, {found.states} verdicts on databases")
    for what, names in (
        ("assessments", found.differing),
        ("resolver decisions", found.resolver),
        ("database verdicts", found.state_differing),
    ):
        _say(console, f"{what}: {f'DIFFER in {len(names)}: ' + ', '.join(names[:5]) if names else 'equal to the bit'}")
    if not found.equal:
        raise typer.Exit(1)


@app.command("report")
def report(
    replays: Annotated[list[Path], typer.Argument(help="Run directories of replays: one arm, or several, and anchors.")],
    controls: Annotated[Path | None, typer.Option("--controls", help="Directory of harness audit controls.")] = None,
    show_invalid: Annotated[
        bool, typer.Option("--show-invalid", help="Print the numbers although the controls do not allow it.")
    ] = False,
    form: Annotated[Form, typer.Option("--format", help="md, json, csv or latex.")] = Form.md,
    out: Annotated[Path | None, typer.Option("--out", help="Where audit.json goes. Default: the first run.")] = None,
) -> None:
    """How often does a dreamed success fail in reality? Writes audit.json and rows.jsonl.gz, and prints the report.

    Example: harness audit report runs/dreams-replay-stop --controls runs/oracle-controls
    """
    from audits.report import render
    from audits.report.build import build
    from audits.report.controls import load_controls
    from results.reader import RunReader

    known = load_controls(controls) if controls else None
    found, _ = build([RunReader.open(path) for path in replays], known, out or replays[0])
    if form is Form.json:
        hidden = found if show_invalid or found.status == "VALID" else found.model_copy(update={"headline": None})
        text = hidden.model_dump_json(indent=1)
    else:
        kinds = {Form.md: render.markdown, Form.latex: render.latex, Form.csv: render.comma_separated}
        text = kinds[form](found, show_invalid=show_invalid)
    typer.echo(text)


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _exit(summary: RunSummary) -> None:
    if summary.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if summary.left:
        raise typer.Exit(EXIT_INFRA_ERRORS)
