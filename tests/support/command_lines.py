"""`harness …` as text: parsed by the program's own parser, never executed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import typer

from harness.cli.main import app

_SHELL = re.compile(r"\s(?:\||>|&&|;|#)\s?.*$")
_PROMPT = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?(?=harness(?:\s|$))")


def commands() -> dict[str, typer.core.TyperCommand]:
    """Name → command."""
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    return {name: command for name, command in group.commands.items() if isinstance(command, typer.core.TyperCommand)}


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
        assert words[0] in commands(), f"there is no command {words[0]!r}"
        return dict(commands()[words[0]].make_context(words[0], words[1:]).params)
    except typer.Exit as done:  # --help and --version print and leave
        assert done.exit_code == 0
        return {}
