"""What people and scripts type keeps working: commands, arguments, options, examples, exit codes.

`command_line.txt` lists every command with its arguments and options. When this test fails because you meant it: edit that
file, and say in CHANGELOG.md what was renamed or removed.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from harness import errors
from tests.support.command_lines import command_of, commands, lines_in, parse
from tests.support.repository import ROOT

GOLDEN = Path(__file__).parent / "command_line.txt"


def found() -> list[str]:
    """One line per parameter: `run --seeds`, `report --format -f`, `show EPISODE`."""
    lines = []
    for name, command in commands().items():
        for parameter in command.params:
            names = [*parameter.opts, *parameter.secondary_opts]
            if parameter.param_type_name == "argument":
                names = [str(parameter.name).upper() if parameter.required else f"[{str(parameter.name).upper()}]"]
            lines.append(f"{name} {' '.join(names)}")
    return sorted(lines)


def test_commands_and_options_are_those_listed() -> None:
    listed = GOLDEN.read_text(encoding="utf-8").splitlines()
    now = found()
    assert not set(listed) - set(now), "gone: see this file's docstring"
    assert not set(now) - set(listed), "new: list them in command_line.txt"
    assert listed == now


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_explains_itself_with_an_example_that_parses(name: str) -> None:
    command = commands()[name]
    text = command.help or ""
    examples = list(lines_in(text.replace("Example: ", "")))
    assert examples, f"harness {name} --help has no example"
    assert name in [command_of(example) for example in examples], "other commands may follow, its own must be there"
    for example in examples:
        parse(example)
    for parameter in command.params:
        assert getattr(parameter, "help", ""), f"{name}: {parameter.name} has no help"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("harness run --benchmark miniwob", "--benchmark"),
        ("harness run --seeds 0", "1"),
        ("harness show runs/x", "episode"),
        ("harness report a --format pdf", "pdf"),
    ],
)
def test_a_wrong_line_is_refused(line: str, why: str) -> None:
    """The parser that judges our examples and documents does refuse."""
    usage_error = typer.BadParameter.__mro__[1]
    with pytest.raises(usage_error, match=f"(?i){re.escape(why)}"):
        parse(line)


def test_exit_codes_are_distinct_and_documented() -> None:
    codes = {name: value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert len(set(codes.values())) == len(codes) == 5
    page = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert documented == set(codes.values()) | {errors.HarnessError.exit_code}
    for code in codes.values():
        assert re.search(rf"\b{code}\b", commands()["run"].help or "")
