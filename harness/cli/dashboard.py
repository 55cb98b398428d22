"""`harness dashboard`: the results in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def dashboard(
    runs: Annotated[
        Path, typer.Option("--runs", help="A directory that holds runs, audits, ablations and trainings, or one run.")
    ] = Path("runs"),
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="0: any free one. Default: the first free from 8501.", show_default=False),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser window.")] = True,
) -> None:
    """Show every run below a directory: results, episodes step by step, audits, ablations, training. Changes nothing.

    Serves this machine only; from elsewhere, forward the port over SSH.

    \b
    Examples:
      harness dashboard
      harness dashboard --runs runs/miniwob-heuristic --port 8600 --no-open
    """
    from dashboards.server import serve
    from harness.errors import UsageError

    if runs.exists() and not runs.is_dir():
        raise UsageError(f"{runs} is not a directory", fix="name the directory that holds the runs, or one run's own")
    serve(runs.absolute(), port=port, open_browser=open_browser, ready=lambda address: typer.echo(f"dashboard: {address}"))
