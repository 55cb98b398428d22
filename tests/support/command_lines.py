"""`harness …` as text: parsed by the program's own parser, never executed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import typer

from harness.cli.main import app

Command = typer.core.TyperCommand | typer.core.TyperGroup

_SHELL = re.compile(r"\s(?:\||>|&&|;|#)\s?.*$")
_PROMPT = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?(?=harness(?:\s|$))")


def commands() -> dict[str, Command]:
    """Name → command; one of a group is called `sites up`."""
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    return dict(_commands(group, ""))


def _commands(group: typer.core.TyperGroup, prefix: str) -> Iterator[tuple[str, Command]]:
    for name, command in group.commands.items():
        if isinstance(command, typer.core.TyperGroup):
            if command.invoke_without_command:  # `ablate` works by itself, beside `ablate merge`
                yield f"{prefix}{name}", command
            yield from _commands(command, f"{prefix}{name} ")
        elif isinstance(command, typer.core.TyperCommand):
            yield f"{prefix}{name}", command


def command_of(line: str) -> str:
    """The name of the command that a line calls."""
    words = shlex.split(line, comments=True)[1:]
    return next((name for count in (2, 1) if (name := " ".join(words[:count])) in commands()), words[0])


def lines_in(text: str) -> Iterator[str]:
    """Lines that call `harness`, with a prompt, `&&` parts, comments and what follows a pipe taken off."""
    for line in text.replace("\\\n", " ").splitlines():
        for part in re.split(r"(?<=\s)&&\s", line.strip().removeprefix("# ").strip()):
            if match := _PROMPT.match(part):
                yield _SHELL.sub("", part[match.end() :]).strip()


def parse(line: str) -> dict[str, object]:
    """Parameter → value as the program would get it. Raises the parser's own error for a line that it would refuse."""
    program, *words = shlex.split(line, comments=True)
    assert program == "harness"
    try:
        if not words or words[0].startswith("-"):
            group = typer.main.get_command(app)
            return dict(group.make_context("harness", words or ["--help"]).params)
        name = command_of(line)
        assert name in commands(), f"there is no command {name!r}"
        return dict(commands()[name].make_context(name, words[len(name.split()) :]).params)
    except typer.Exit as done:  # --help and --version print and leave
        assert done.exit_code == 0
        return {}
