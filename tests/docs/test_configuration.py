"""docs/configuration.md is what the code says, field by field."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from harness.cli.prepare import Request, prepare
from harness.config import RunConfig
from scripts import config_reference as reference
from tests.support.repository import ROOT


def test_the_tables_are_those_of_the_code() -> None:
    written = reference.PAGE.read_text(encoding="utf-8")
    assert written == reference.fill_in(written), "run: .venv/bin/python scripts/config_reference.py"


def test_every_table_is_on_the_page() -> None:
    written = reference.PAGE.read_text(encoding="utf-8")
    assert re.findall(r"<!-- table: ([\w.]+) -->", written) == list(reference.SECTIONS)


@pytest.mark.parametrize("section", reference.SECTIONS)
def test_every_field_says_what_it_means(section: str) -> None:
    model = reference.SECTIONS[section]
    meanings = reference.docstrings(model)
    assert [name for name in model.model_fields if not meanings.get(name)] == []


def test_every_section_of_run_toml_is_documented() -> None:
    """Also those inside sections: a model that can be written in the file has a table."""
    seen = {RunConfig, *models_in(RunConfig)}
    assert seen - {RunConfig} == set(reference.SECTIONS.values())


def models_in(model: type[BaseModel]) -> set[type[BaseModel]]:
    found: set[type[BaseModel]] = set()
    for field in model.model_fields.values():
        for inner in _models(field.annotation):
            found |= {inner} | models_in(inner)
    return found


def _models(annotation: Any) -> set[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    return {model for argument in get_args(annotation) for model in _models(argument)}


def test_an_option_wins_over_the_file(tmp_path: Path) -> None:
    """As the page says; a policy is replaced whole, since the options of one mean nothing to another."""
    file = ROOT / "examples" / "run.toml"
    asked = Request(file, {"run": {"tasks": ("click-link",)}}, "noop", "1", tmp_path / "run")
    prepared = prepare(asked)
    assert (prepared.config.policy.name, prepared.config.policy.options) == ("noop", {})
    assert [task.task_id for task in prepared.tasks] == ["click-link"]
    assert (prepared.config.run.repeats, prepared.config.limits.episode_seconds) == (2, 60)
