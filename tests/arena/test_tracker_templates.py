"""The tracker's and the wiki's tasks: answers recomputed from the database's point of view, and rules that all keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.benchmarks.arena.collection import task_rows, templates_of
from harness.benchmarks.arena.template import Template
from harness.sites.worlds.tracker import build

WORLD = build()
ALL = [*templates_of("tracker").values(), *templates_of("wiki").values()]
EACH = pytest.mark.parametrize("template", ALL, ids=lambda t: t.id)


def tasks(template: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(values, eval) of each task."""
    found = next(t for t in ALL if t.id == template)
    for row in task_rows(found, "train"):
        yield row["instantiation_dict"], row["eval"]  # type: ignore[misc]


def test_there_are_enough() -> None:
    assert len(templates_of("tracker")) >= 12 and len(templates_of("wiki")) >= 8
    assert sum(t.unachievable for t in ALL) / len(ALL) >= 0.05
    assert {t.kind for t in ALL} == {"information", "navigation", "content", "configuration"}


@EACH
def test_a_nearly_right_task_expects_something_else(template: Template) -> None:
    for row in task_rows(template, "train"):
        values: Any = row["instantiation_dict"]
        wrong: Any = row["nearly"]
        if not template.unachievable:
            assert template.expected({**values, **wrong}) != row["eval"], row["task_id"]


@EACH
def test_writing_tasks_say_what_may_change(template: Template) -> None:
    for row in task_rows(template, "train"):
        evaluation: Any = row["eval"]
        if template.kind in ("content", "configuration") and not template.unachievable:
            assert evaluation["state"]["checks"] and evaluation["state"]["changes"], row["task_id"]
        else:
            assert "state" not in evaluation, row["task_id"]


def test_counts_of_open_tickets() -> None:
    for values, evaluation in tasks("tracker-count-open"):
        wanted = [t for t in WORLD.tickets if (t.component, t.type) == (values["component"], values["type"])]
        assert evaluation["reference_answers"] == {"exact_match": str(sum(t.status != "closed" for t in wanted))}


def test_the_newest_ticket_is_the_one_reported_last() -> None:
    for values, evaluation in tasks("tracker-newest-ticket"):
        newest = max((t for t in WORLD.tickets if t.component == values["component"]), key=lambda t: t.created)
        assert evaluation["reference_answers"] == {"must_include": [str(newest.id)]}


def test_answers_can_be_read_on_the_pages_they_are_asked_of() -> None:
    for values, evaluation in tasks("wiki-setting-default"):
        (answer,) = evaluation["reference_answers"]["must_include"]
        assert f"|| {values['setting']} || {answer} ||" in WORLD.page(f"Components/{values['component'].capitalize()}").text
    for values, evaluation in tasks("wiki-meeting-action"):
        who, until = evaluation["reference_answers"]["must_include"]
        assert f"|| {values['what']} || {who} || {until} ||" in WORLD.page(f"Meetings/{values['day']}").text
    for values, evaluation in tasks("wiki-town-of-server"):
        (town,) = evaluation["reference_answers"]["must_include"]
        assert f"|| server || {values['server']} ||" in WORLD.page(f"Deployments/{town.replace(' ', '')}").text


def test_what_cannot_be_done_is_not_there() -> None:
    text = "".join(page.text for page in WORLD.pages)
    for values, _ in tasks("wiki-unknown-town"):
        assert f"The library of {values['town']} " not in text
    for values, _ in tasks("tracker-comment-on-missing"):
        assert values["summary"] not in {t.summary for t in WORLD.tickets}
    owners = {t.owner for t in WORLD.tickets}
    for values, _ in tasks("tracker-assign-to-outsider"):
        assert next(a.username for a in WORLD.accounts if a.name == values["person"]) not in owners


def test_what_is_to_be_made_is_not_there_yet() -> None:
    for values, _ in tasks("tracker-create-ticket"):
        assert values["summary"] not in {t.summary for t in WORLD.tickets}
    for values, _ in tasks("tracker-add-component"):
        assert values["name"] not in {c.name for c in WORLD.components}
    for values, _ in tasks("wiki-create-page"):
        assert values["page"] not in {p.name for p in WORLD.pages}
    for values, _ in tasks("wiki-rename-page"):
        assert values["name"] not in {p.name for p in WORLD.pages}
