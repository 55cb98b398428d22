"""`harness sites`: real web applications on this machine."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.errors import EXIT_NOT_READY
from harness.sites.catalog import apps_of
from harness.sites.environment import DEFAULT_FOLDER, Environment
from harness.sites.instances import FIRST_PORT, MAX_SETS, Sites
from harness.sites.layout import DEFAULT_STATE
from harness.sites.records import AppStatus

app = typer.Typer(
    help="Real web applications on this machine, with known contents: a shop, a forum, a tracker and a wiki.",
    no_args_is_help=True,
)


class Format(StrEnum):
    table = "table"
    json = "json"


_Names = Annotated[
    list[str] | None, typer.Argument(metavar="[SITE]...", help="shop, shop_admin, forum, tracker, wiki; default: all.")
]
_State = Annotated[Path, typer.Option("--state", help="Where the sites keep their files.")]
_Environment = Annotated[Path, typer.Option("--environment", help="The applications' own Python environment.")]
_Instance = Annotated[int | None, typer.Option("--instance", min=0, help="Only this instance set; default: every one.")]
_STYLES = {"up": "green", "silent": "yellow", "dead": "red", "down": "dim"}


@app.command("install")
def install(environment: _Environment = DEFAULT_FOLDER) -> None:
    """Install the applications into an environment of their own. `up` does it by itself.

    Example: harness sites install
    """
    done = Environment(environment).install()
    typer.echo(f"{environment}: {'installed' if done else 'already installed'}")


@app.command("up")
def up(
    sites: _Names = None,
    instances: Annotated[
        int, typer.Option("--instances", min=1, max=MAX_SETS, help="Complete sets side by side, for as many workers.")
    ] = 1,
    port: Annotated[
        int, typer.Option("--port", min=1024, max=65000, help="First port; set i starts ten times i above.")
    ] = FIRST_PORT,
    state: _State = DEFAULT_STATE,
    environment: _Environment = DEFAULT_FOLDER,
) -> None:
    """Bring sites up, each in its first state, and wait until they answer. What is up already stays as it is.

    Example: harness sites up --instances 2
    """
    began = time.monotonic()
    chosen = apps_of(sites or ())
    home = Environment(environment)
    if home.problem():
        typer.echo(f"{environment}: installing the applications (once)", err=True)
        home.install()
    manager = Sites(state, home, first_port=port)
    sets = manager.up(chosen, instances, say=lambda line: typer.echo(line, err=True))
    _print(manager.status())
    typer.echo(f"{len(sets)} instance set{'s' if len(sets) > 1 else ''} ready in {time.monotonic() - began:.1f} s")


@app.command("down")
def down(sites: _Names = None, instance: _Instance = None, state: _State = DEFAULT_STATE) -> None:
    """Stop the servers that `up` started, and nothing else. Files stay.

    Example: harness sites down
    """
    for line in Sites(state).down(apps_of(sites or ()), instance) or ["nothing was up"]:
        typer.echo(line)


@app.command("status")
def status(
    format: Annotated[Format, typer.Option("--format", help="Table for people, JSON for programs.")] = Format.table,
    state: _State = DEFAULT_STATE,
) -> None:
    """How each application does, asked now. Exit code 3 if one that should be up is dead or silent.

    Example: harness sites status
    """
    found = Sites(state).status()
    if format is Format.json:
        typer.echo(json.dumps([line.model_dump(mode="json") for line in found], indent=1))
    elif found:
        _print(found)
    else:
        typer.echo("no site has been brought up: harness sites up")
    if any(line.condition in ("dead", "silent") for line in found):
        raise typer.Exit(EXIT_NOT_READY)


@app.command("reset")
def reset(sites: _Names = None, instance: _Instance = None, state: _State = DEFAULT_STATE) -> None:
    """Set running sites back to their first state while they run, and say the new reset epoch.

    Example: harness sites reset shop
    """
    manager, began = Sites(state), time.monotonic()
    told = manager.reset(apps_of(sites or ()), instance)
    for (index, name), epoch in told.items():
        typer.echo(f"{name} of set {index}: reset epoch {epoch}")
    typer.echo(f"{(time.monotonic() - began) * 1000 / len(told):.0f} ms each")


@app.command("logs")
def logs(
    sites: _Names = None,
    instance: Annotated[int, typer.Option("--instance", min=0, help="Which instance set.")] = 0,
    lines: Annotated[int, typer.Option("--lines", min=1, help="How many of each, from the end.")] = 20,
    state: _State = DEFAULT_STATE,
) -> None:
    """The end of the servers' logs.

    Example: harness sites logs forum --lines 50
    """
    for definition in apps_of(sites or ()):
        typer.echo(f"── {definition.name} of set {instance}")
        for line in Sites(state).log(definition, instance, lines):
            typer.echo(line)


def _print(found: Sequence[AppStatus]) -> None:
    table = Table("set", "application", "state", "address", "pid", "memory", "epoch", box=None)
    for line in found:
        memory = f"{line.memory_mb:.0f} MB" if line.memory_mb else ""
        condition = Text(line.condition, _STYLES[line.condition])
        table.add_row(str(line.instance), line.app, condition, line.url, str(line.pid or ""), memory, str(line.reset_epoch))
    Console().print(table)
    for line in found:
        if line.detail and line.condition != "down":
            typer.echo(f"{line.app} of set {line.instance}: {line.detail}")
