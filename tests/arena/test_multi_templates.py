"""Tasks on several sites: the fact is on one site only, each wrong value changes it, and pages are read rightly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from harness.benchmarks.arena.collection import task_rows, templates_of
from harness.benchmarks.arena.hands import Hands, OracleLost
from harness.benchmarks.arena.template import Template
from harness.benchmarks.arena.templates import multi, multi_filing, multi_moves, multi_posting
from harness.sites.catalog import SITES
from harness.sites.worlds.names import TOWNS
from harness.types import JsonDict, Observation

TEMPLATES = tuple(templates_of("multi").values())
STATED = ("multi-page-of-ticket-component", "multi-price-of-missing")
"""Nothing is to be said or written there."""

ORDER = """RootWebArea 'Order 100152'
\t[1] table ''
\t\t[2] row ''
\t\t\t[3] columnheader 'Name'
\t\t\t[4] columnheader 'Email address'
\t\t[5] row ''
\t\t\t[6] cell 'Rhea Juniperthwaite'
\t\t\t[7] cell 'rhea.juniperthwaite@example.com'
\t[8] table ''
\t\t[9] row ''
\t\t\t[10] columnheader 'Order Total'
\t\t\t[11] columnheader 'Status'
\t\t[12] row ''
\t\t\t[13] cell '£53.50'
\t\t\t[14] cell 'Being processed'
\t[15] table ''
\t\t[16] row ''
\t\t\t[17] columnheader 'Status'
\t\t[18] row ''
\t\t\t[19] cell 'Shipped'"""


def hands(tree: str) -> Hands:
    o = Hands(Random(0), "http://shop.localhost:1/", {})
    o.see(Observation(url="http://shop.localhost:1/", axtree=tree))
    return o


def tasks() -> Iterator[tuple[Template, dict[str, Any]]]:
    for template in TEMPLATES:
        for row in task_rows(template, "train"):
            yield template, dict(row)


def outcomes(evaluation: JsonDict) -> list[str]:
    """Every text that must have been said or written at the end."""
    answers: dict[str, Any] = evaluation["reference_answers"] or {}  # type: ignore[assignment]
    state: dict[str, Any] = evaluation.get("state") or {"checks": []}  # type: ignore[assignment]
    cells = [str(cell) for check in state["checks"] for row in check["rows"] for cell in row]
    return [*answers.get("must_include", []), *cells]


def test_there_are_enough_tasks_and_every_site_takes_part() -> None:
    assert len(TEMPLATES) >= 10
    assert sum(template.count for template in TEMPLATES) >= 45
    assert {site for template in TEMPLATES for site in template.sites} == set(SITES)
    assert {template.kind for template in TEMPLATES} == {"information", "navigation", "content", "configuration"}
    unachievable = sum(template.count for template in TEMPLATES if template.unachievable)
    assert unachievable / sum(template.count for template in TEMPLATES) >= 0.05


def test_a_goal_does_not_say_what_has_to_be_found() -> None:
    """At least one text of the outcome is nowhere in the goal as a word."""
    for template, row in tasks():
        if template.id not in STATED:
            words = [text for text in outcomes(row["eval"]) if not re.search(rf"\b{re.escape(text)}\b", row["intent"])]
            assert words, row["task_id"]


def test_goals_are_filled_in_and_read_like_sentences() -> None:
    for _, row in tasks():
        assert not re.search(r"[{}]|\ba (?=[aeiou])|  ", row["intent"].replace("a unit", "")), row["intent"]


def test_only_the_sites_that_are_written_to_may_change() -> None:
    """Reading leaves no trace: the first site of a task that writes elsewhere declares no change."""
    for template, row in tasks():
        changes = (row["eval"].get("state") or {"changes": {}})["changes"]
        assert set(changes) <= {template.sites[-1]}, row["task_id"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.id)
def test_what_the_nearly_right_oracle_is_told_has_another_outcome(template: Template) -> None:
    for row in task_rows(template, "train"):
        values = row["instantiation_dict"]
        assert isinstance(values, dict)
        wrong = template.nearly(values)
        if "asked" not in values and not template.unachievable:
            assert template.expected(wrong)["eval_types"] == template.expected(values)["eval_types"]
            assert template.expected(wrong) != template.expected(values)


def test_where_another_thing_is_looked_up_its_fact_differs() -> None:
    def facts_of(template: Template, values: dict[str, Any], key: str, truth: Any) -> tuple[Any, Any]:
        return truth(values[key]), truth(template.nearly(values)["asked"])

    truths = {
        "multi-count-to-wiki": ("component", multi_filing._open_in),
        "multi-order-to-wiki": ("number", lambda number: multi_moves.order_numbered(number).email),
        "multi-order-status-to-topic": ("number", lambda number: multi_moves.order_numbered(number).status),
        "multi-milestone-to-board": ("milestone", multi_posting.due_of),
    }
    seen = set()
    for template, row in tasks():
        if "asked" in row["instantiation_dict"]:
            right, wrong = facts_of(template, row["instantiation_dict"], *truths[template.id])
            assert right != wrong, row["task_id"]
            seen.add(template.id)
    assert seen == set(truths)


def test_tables_are_read_below_their_heads() -> None:
    o = hands(ORDER)
    assert multi_moves.under(o, "Name") == "Rhea Juniperthwaite"
    assert multi_moves.under(o, "Status") == "Being processed", "the order's, not a line's"
    assert multi_moves.under(o, "Phone") == ""
    assert multi_moves.row_of(o, "£53.50") == ["£53.50", "Being processed"]
    with pytest.raises(OracleLost, match="no row of Shop"):
        multi_moves.row_of(o, "Shop")


def test_a_town_is_told_from_a_person_of_the_same_name() -> None:
    town = "Fernhollow"
    assert town in TOWNS
    assert multi._town_in(f"Leopold {town} 3 Lantern Row Mosswick Northfold NF4 2QD United Kingdom") == "Mosswick"
    assert multi._town_in(f"Leopold Oakcroft, 3 Lantern Row, {town}, Midvale, NF4 2QD") == town
    assert multi._town_in("nowhere") == "nowhere"
