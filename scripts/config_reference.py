"""Writes the tables of docs/configuration.md from the configuration models themselves: field, type, default, docstring.

    python scripts/config_reference.py            rewrite the tables in place
    python scripts/config_reference.py --check    exit 1 if they are not what the code says (tests/docs does the same)

A table stands between `<!-- table: SECTION -->` and `<!-- end -->`; all other text of the page is written by hand.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from datetime import date
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from harness.benchmarks.arena import ArenaConfig
from harness.benchmarks.gym import GymConfig
from harness.benchmarks.miniwob import MiniwobConfig
from harness.benchmarks.webarena.config import InstanceSet, WebArenaConfig
from harness.benchmarks.webarena.sites import Probe
from harness.benchmarks.webvoyager import WebVoyagerConfig
from harness.completions import EndpointConfig
from harness.config import RunSection
from harness.envs.config import BrowserConfig
from harness.limits import Limits
from harness.policies import ExploreConfig, LlmConfig, PolicyConfig, ReplayConfig

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"

SECTIONS: dict[str, type[BaseModel]] = {
    "run": RunSection,
    "browser": BrowserConfig,
    "limits": Limits,
    "policy": PolicyConfig,
    "policy.llm": LlmConfig,
    "policy.llm.endpoint": EndpointConfig,
    "policy.replay": ReplayConfig,
    "policy.explore": ExploreConfig,
    "miniwob": MiniwobConfig,
    "webarena": WebArenaConfig,
    "webarena.instances": InstanceSet,
    "webarena.probes": Probe,
    "webvoyager": WebVoyagerConfig,
    "arena": ArenaConfig,
    "gym": GymConfig,
}
"""`[judge]` has the fields of `[policy.llm.endpoint]`."""

_BLOCK = re.compile(r"(?<=<!-- table: )(?P<section>[\w.]+)(?P<open> -->\n).*?(?=<!-- end -->)", re.DOTALL)
_PLAIN_TYPES: dict[Any, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    Path: "path",
    date: "date",
    dict: "table",
}
_BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def fill_in(text: str) -> str:
    """The page with every table as the code has it today."""
    return _BLOCK.sub(lambda block: f"{block['section']}{block['open']}{table(SECTIONS[block['section']])}", text)


def table(model: type[BaseModel]) -> str:
    """One Markdown row per field, in the order of the model."""
    meanings = docstrings(model)
    rows = ["| field | type | default | meaning |", "| --- | --- | --- | --- |"]
    for name, field in model.model_fields.items():
        cells = (f"`{name}`", type_of(field), default_of(field), _escaped(meanings.get(name, "")))
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n" + "\n".join(rows) + "\n\n"


def _escaped(text: str) -> str:
    """`<` would start an HTML element, except in code."""
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(text.split("`")))


def docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Field → the string literal below it, on one line. Inherited fields are those of their own class."""
    found: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if owner is BaseModel or not issubclass(owner, BaseModel):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
        assert isinstance(body, ast.ClassDef)
        for statement, following in zip(body.body, body.body[1:], strict=False):
            if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
                continue
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                found[statement.target.id] = " ".join(str(following.value.value).split())
    return found


def type_of(field: FieldInfo) -> str:
    """The type in TOML's words, with bounds or choices."""
    bounds = {key: value for item in field.metadata for key in _BOUNDS if (value := getattr(item, key, None)) is not None}
    if {"ge", "le"} <= bounds.keys():
        return f"{_type(field.annotation)}, {_number(bounds['ge'])} to {_number(bounds['le'])}"
    return " ".join([_type(field.annotation), *(f"{_BOUNDS[key]} {_number(value)}" for key, value in bounds.items())])


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{json.dumps(choice)}`" for choice in arguments)
    if origin in (Union, UnionType):
        return _type(next(argument for argument in arguments if argument is not type(None)))
    if origin is tuple:
        item = arguments[0]
        return "list of tables" if isinstance(item, type) and issubclass(item, BaseModel) else f"list of {_type(item)}"
    if origin is dict or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return "table"
    return _PLAIN_TYPES.get(annotation, str(annotation))


def default_of(field: FieldInfo) -> str:
    """The default as TOML would write it; TOML has no null, so None is `not set`."""
    if field.is_required():
        return "required"
    if field.default_factory is not None and get_origin(field.annotation) is not dict:
        return "today (UTC)" if field.annotation is date else "see text"
    value = {} if field.default is PydanticUndefined else field.default
    if value is None:
        return "not set"
    return f"`{json.dumps(list(value) if isinstance(value, tuple) else value, default=str)}`"


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    made = fill_in(text)
    if "--check" in sys.argv[1:]:
        if made != text:
            print("docs/configuration.md is not what the code says; run: python scripts/config_reference.py")
        return int(made != text)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
