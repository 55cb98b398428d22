"""`harness sites`: real web applications on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.sites.environment import DEFAULT_FOLDER, Environment

app = typer.Typer(help="Real web applications on this machine: a shop, a forum, a tracker and a wiki.", no_args_is_help=True)

_Environment = Annotated[Path, typer.Option("--environment", help="The applications' own Python environment.")]


@app.command("install")
def install(environment: _Environment = DEFAULT_FOLDER) -> None:
    """Install the applications into an environment of their own. `up` does it by itself.

    Example: harness sites install
    """
    done = Environment(environment).install()
    typer.echo(f"{environment}: {'installed' if done else 'already installed'}")


@app.callback()
def _group() -> None:
    """Keep `install` a command of the group even while it is the only one."""
