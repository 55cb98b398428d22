"""The `harness` command. Commands only wire; an expected error is one line that says what to do, never a traceback.

Exit codes: 0 done, 2 bad usage, 3 environment not ready, 4 run finished with infrastructure errors, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import harness
from harness.cli.ablate import app as ablate
from harness.cli.audit import app as audit
from harness.cli.dashboard import dashboard
from harness.cli.data import app as data
from harness.cli.doctor import doctor
from harness.cli.dream import dream
from harness.cli.explore import explore
from harness.cli.export import export
from harness.cli.fetch import fetch
from harness.cli.fidelity import fidelity
from harness.cli.list import list_tasks
from harness.cli.probe import probe
from harness.cli.report import report
from harness.cli.run import run
from harness.cli.show import show
from harness.cli.sites import app as sites
from harness.cli.train import app as train
from harness.errors import EXIT_INTERRUPTED, HarnessError

app = typer.Typer(
    name="harness",
    help="Measure a web agent's success in real browsers: numbers with denominators, intervals and controls.",
    epilog="Start with: harness doctor, then harness run --bench miniwob",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("doctor")(doctor)
app.command("list")(list_tasks)
app.command("run")(run)
app.command("explore")(explore)
app.command("export")(export)
app.command("report")(report)
app.command("show")(show)
app.command("dream")(dream)
app.command("dashboard")(dashboard)
app.command("fidelity")(fidelity)
app.command("fetch")(fetch)
app.command("probe")(probe)
app.add_typer(ablate, name="ablate")
app.add_typer(audit, name="audit")
app.add_typer(sites, name="sites")
app.add_typer(data, name="data")
app.add_typer(train, name="train")


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False) -> None:
    if version:
        typer.echo(f"dynaweb-harness {harness.__version__}")
        raise typer.Exit


def main() -> None:
    """Entry point of the console script."""
    try:
        app()
    except HarnessError as error:
        typer.echo(f"harness: {error}", err=True)
        if error.fix:
            typer.echo(f"   fix: {error.fix}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:  # `harness list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
