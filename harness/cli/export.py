"""`harness export`: a run as JSON lines for training, one episode in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.types import Record, Source
    from results.labels import HindsightLabel
    from results.reader import RunReader


class Format(StrEnum):
    transitions = "transitions"
    trajectories = "trajectories"
    hindsight = "hindsight"


class Only(StrEnum):
    success = "success"


class Stated(StrEnum):
    expert = "expert"
    real = "real"


def export(
    run: Annotated[str, typer.Argument(help="A run directory, or the id of a run under --runs (or its beginning).")],
    form: Annotated[
        Format,
        typer.Option("--format", "-f", help="A line per transition, per trajectory, or per goal that a walk reached."),
    ] = Format.transitions,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file; .gz compresses. Default: RUN/exports/FORMAT.jsonl.gz.")
    ] = None,
    source: Annotated[
        Stated | None, typer.Option("--source", help="State this source. Default: expert for an oracle's run, else as stored.")
    ] = None,
    only: Annotated[Only | None, typer.Option("--only", help="success: leave out what did not succeed.")] = None,
    labeler: Annotated[str, typer.Option("--labeler", help="Whose labels: rules-1, or llm:MODEL.")] = "rules-1",
    confidence: Annotated[
        float, typer.Option("--confidence", min=0, max=1, help="Only labels with at least this confidence.")
    ] = 0.5,
    runs: Annotated[Path, typer.Option("--runs", help="The directory that holds runs.")] = Path("runs"),
) -> None:
    """Write a run's transitions or trajectories as JSON lines, with where each comes from and its split.

    Only the last attempt of each episode counts. An existing file is replaced when the new one is complete.

    \b
    Examples:
      harness export runs/arena-explore-A --out transitions.jsonl.gz
      harness export runs/arena-oracle-A --format trajectories --only success
    """
    from results.labels import read_labels
    from results.reader import RunReader, find_run
    from results.transitions import write_lines

    reader = RunReader.open(find_run(run, runs))
    labels = [label for label in read_labels(reader.directory, labeler) if label.confidence >= confidence]
    if form is Format.hindsight and not labels:
        raise UsageError(f"{reader.directory} has no labels of {labeler}", fix="harness explore writes them; see --confidence")
    path = out or reader.directory / "exports" / f"{form.value}.jsonl.gz"
    count = write_lines(path, _rows(reader, form, labels, source.value if source else None, only is Only.success))
    typer.echo(f"{count} {form.value} in {path}")
    for episode_id, why in reader.unreadable().items():
        typer.echo(f"left out: {episode_id}: {why}", err=True)


def _rows(
    reader: RunReader, form: Format, labels: list[HindsightLabel], source: Source | None, only_success: bool
) -> Iterable[Record]:
    from results.transitions import hindsight, trajectories, transitions

    if form is Format.transitions:
        return transitions(reader, source=source, only_success=only_success, labels=labels)
    if form is Format.trajectories:
        return trajectories(reader, source=source, only_success=only_success)
    return hindsight(reader, labels, source=source, only_success=only_success)
