"""`harness probe`: which start pages of a benchmark can be reached now. Writes a filter that `harness run` can apply."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from harness.errors import UsageError


def probe(
    benchmark: Annotated[str, typer.Argument(help="Which benchmark's start pages: webvoyager.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write the filter manifest.")] = Path("reachable.json"),
    config: Annotated[Path | None, typer.Option("--config", help="A run.toml: its webvoyager and browser sections.")] = None,
    http_only: Annotated[
        bool,
        typer.Option("--http-only", help="Plain requests, no browser: quicker; counts sites that refuse scripts as blocked."),
    ] = False,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds that a start page may take.", min=1)] = 30.0,
) -> None:
    """Probe each start page once and write a filter manifest with a reason per task.

    Example: harness probe webvoyager --out reachable.json
    """
    from harness.benchmarks.webvoyager.data import read_rows, task_file
    from harness.benchmarks.webvoyager.filters import write_filter
    from harness.benchmarks.webvoyager.probe import probe as probe_tasks
    from harness.benchmarks.webvoyager.selection import base_tasks
    from harness.config import read_config
    from harness.envs.chromium import find_chromium
    from harness.envs.session import BrowserSession

    if benchmark != "webvoyager":
        raise UsageError(f"nothing to probe for {benchmark!r}", fix="only webvoyager has start pages to probe")
    settings = read_config(config, {})
    tasks = base_tasks(read_rows(task_file(settings.webvoyager.data)))
    if http_only:
        manifest = probe_tasks(tasks, timeout_seconds=timeout)
    else:
        session = BrowserSession(settings.browser, find_chromium(settings.browser.executable_path))
        try:
            manifest = probe_tasks(tasks, page=session.context({}).new_page(), timeout_seconds=timeout)
        finally:
            session.close()
    write_filter(manifest, out)
    for reason, count in Counter(exclusion.reason for exclusion in manifest.exclusions).most_common():
        typer.echo(f"{count:4d} tasks: {reason}")
    typer.echo(f"{len(manifest.exclusions)} of {len(tasks)} tasks cannot be reached; written to {out}")
