"""`harness doctor`: what is ready, what is missing, how to fix it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.errors import EXIT_NOT_READY, HarnessError, first_line
from harness.types import Check

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "missing": ("✗", "red")}


def doctor(
    bench: Annotated[str, typer.Argument(help="Also check a benchmark: data, sites, health, login, judge.")] = "",
    config: Annotated[Path | None, typer.Option("--config", help="A run.toml.")] = None,
) -> None:
    """Say what is ready, what is missing and how to fix it. Exit code 3 if something is missing.

    Example: harness doctor miniwob
    """
    checks = [_python(), _browser(config), *_judge(config), *_benchmark(bench, config)]
    _print(checks)
    if any(check.status == "missing" for check in checks):
        raise typer.Exit(EXIT_NOT_READY)


def _python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Check(name="Python", status="ok", detail=version)


def _browser(config: Path | None) -> Check:
    """Not only found: started, and asked for a page."""
    from harness.config import read_config
    from harness.envs.browser import probe_browser

    try:
        settings = read_config(config, {})
        return Check(name="browser", status="ok", detail=probe_browser(settings.browser))
    except HarnessError as error:
        return Check(name="browser", status="missing", detail=str(error), fix=error.fix)


def _judge(config: Path | None) -> Sequence[Check]:
    """Asks the judge's server which models it serves."""
    from harness.completions import Completions
    from harness.config import read_config

    try:
        endpoint = read_config(config, {}).judge
        if endpoint is None:
            return []
        with Completions(endpoint) as client:
            served = client.models()
    except HarnessError as error:
        return [Check(name="judge endpoint", status="missing", detail=str(error), fix=error.fix)]
    if endpoint.model not in served:
        detail = f"{endpoint.base_url} serves {', '.join(served[:5]) or 'no named model'}, not {endpoint.model}"
        return [Check(name="judge endpoint", status="warning", detail=detail, fix="correct [judge] model")]
    return [Check(name="judge endpoint", status="ok", detail=f"{endpoint.model} at {endpoint.base_url}")]


def _benchmark(bench: str, config: Path | None) -> Sequence[Check]:
    from harness.assembly import make_benchmark
    from harness.config import read_config

    if not bench and config is None:
        return []
    try:
        return make_benchmark(read_config(config, {"run": {"benchmark": bench}} if bench else {})).checks()
    except HarnessError as error:
        return [Check(name=bench or "benchmark", status="missing", detail=str(error), fix=error.fix)]
    except Exception as error:  # noqa: BLE001  a doctor must not fall ill: whatever is wrong is a finding
        return [Check(name=bench, status="missing", detail=f"{type(error).__name__}: {first_line(error)}")]


def _print(checks: Sequence[Check]) -> None:
    table = Table(show_header=False, box=None, pad_edge=False)
    for check in checks:
        mark, style = _MARKS[check.status]
        table.add_row(Text(mark, style), Text(check.name), Text(check.detail))
        if check.fix and check.status != "ok":
            table.add_row("", "", Text(f"fix: {check.fix}", "dim"))
    Console().print(table)
