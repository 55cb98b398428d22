"""`harness fetch`: get a benchmark's published files, checked by digest. Only WebVoyager needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.errors import UsageError


def fetch(
    benchmark: Annotated[str, typer.Argument(help="Which benchmark's files: webvoyager.")],
    from_path: Annotated[Path | None, typer.Option("--from", help="Directory with a local copy, instead of downloading.")] = None,
    to: Annotated[Path | None, typer.Option("--to", help="Where to put the files. Default: data/webvoyager here.")] = None,
    accept_sha256: Annotated[
        list[str] | None, typer.Option("--accept-sha256", help="Take a file of this digest though it is not the pinned one.")
    ] = None,
) -> None:
    """Download a benchmark's task files from their original repository, by pinned sha256.

    Example: harness fetch webvoyager --to data/webvoyager
    """
    from harness.benchmarks.webvoyager.data import DEFAULT_DIRECTORY
    from harness.benchmarks.webvoyager.fetch import fetch as fetch_files

    if benchmark != "webvoyager":
        raise UsageError(f"nothing to fetch for {benchmark!r}", fix="only webvoyager has files to fetch")
    report = fetch_files(to or DEFAULT_DIRECTORY, from_path, accept_sha256=accept_sha256 or ())
    for name, what in report.files.items():
        typer.echo(f"{report.destination / name}: {what}")
