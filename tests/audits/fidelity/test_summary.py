"""From pages to figures: conventions, the 2×2, cuts, paired differences."""

from __future__ import annotations

import pytest

from audits.fidelity import Overlap, PageScore, differences, figures, score
from audits.fidelity.records import ChangeTable
from audits.fidelity.summary import change_table, cuts, malformed_reasons
from harness.types import Observation
from tests.audits.fidelity.factory import Row, foreseen, page, row

EMPTY, FULL = page("StaticText 'no items'"), page("StaticText 'one item'", "link 'Pay'")


def scored(now: Observation, then: Observation, guess: Observation | None, **where: str) -> PageScore:
    example: Row = row(now, "click('1')", then, step=where.pop("step", 0), **where)  # type: ignore[arg-type]
    return score(example, [foreseen(guess, malformed="" if guess else "drop 'x': no such node")])


RIGHT = scored(EMPTY, FULL, FULL, template="a")
COPIED = scored(EMPTY, FULL, EMPTY, template="b")
QUIET = scored(EMPTY, EMPTY, EMPTY, template="c")
INVENTED = scored(EMPTY, EMPTY, FULL, template="d")
BROKEN = scored(EMPTY, FULL, None, template="e")
ALL = [RIGHT, COPIED, QUIET, INVENTED, BROKEN]


def test_conventions_of_the_headline() -> None:
    found = figures(ALL)
    assert (found["delta.f1"].value, found["delta.f1"].n) == (pytest.approx(1 / 4), 4), (
        "nothing changed, nothing claimed: left out"
    )
    assert (found["delta.f1_changed"].value, found["delta.f1_changed"].n) == (pytest.approx(1 / 3), 3)
    # hits 3 of (3 + 0 + 0 + 3 + 0) predicted and (3 + 3 + 0 + 0 + 3) real
    assert found["delta.micro_f1"].value == pytest.approx(2 * 3 / (6 + 9))
    assert found["delta.recall"].value == pytest.approx(1 / 3)
    assert found["answer.malformed"].value == pytest.approx(1 / 5)


def test_change_detection_counts_unreadable_answers_as_wrong() -> None:
    assert change_table(ALL) == ChangeTable(
        changed_foreseen=1, changed_missed=1, changed_malformed=1, unchanged_foreseen=1, unchanged_invented=1
    )
    found = figures(ALL)
    assert found["change.accuracy"].value == pytest.approx(2 / 5)
    assert (found["change.recall"].value, found["change.noop_accuracy"].value) == (pytest.approx(1 / 3), 0.5)
    broken_noop = scored(EMPTY, EMPTY, None, template="e")
    assert figures([broken_noop])["change.noop_accuracy"].value == 0
    assert malformed_reasons(ALL) == {"no such node": 1}


def test_skill_is_zero_for_copy_one_for_truth_and_negative_below_copy() -> None:
    assert figures([COPIED, QUIET])["full.skill"].value == 0
    assert figures([RIGHT, QUIET])["full.skill"].value == 1
    worse = figures([BROKEN])["full.skill"].value
    assert worse is not None
    assert worse < 0
    assert figures([QUIET])["full.skill"].value is None, "where copy is perfect there is nothing to gain"


def test_cuts_split_the_same_pages() -> None:
    found = cuts(ALL, seen_sites={"shop"}, seen_templates={"a"})
    by = {}
    for cut in found:
        by.setdefault(cut.by, {})[cut.value] = cut.figures["full.f1"].n
    assert by["site"] == {"shop": 5}
    assert by["edits"] == {"0": 2, "1-3": 3}
    assert by["seen"] == {"seen template": 1, "new template on a seen site": 4}
    assert all(sum(values.values()) == 5 for values in by.values())


def test_models_are_compared_on_the_pages_that_both_have() -> None:
    examples = [row(EMPTY, "click('1')", FULL, step=step, template=f"t{step}") for step in range(4)]
    right = [score(example, [foreseen(FULL)]) for example in examples]
    copied = [score(example, [foreseen(EMPTY)]) for example in examples[:3]]
    found = {d.figure: d.difference for d in differences([("right", right), ("copy", copied)])}
    assert (found["delta.f1_changed"].value, found["delta.f1_changed"].n) == (1, 3)
    assert (found["change.accuracy"].value, found["change.accuracy"].n) == (1, 3)


def test_scores_survive_storage() -> None:
    for each in ALL:
        again = PageScore.model_validate_json(each.model_dump_json())
        assert again == each
        assert isinstance(again.edits, Overlap)
    assert figures([PageScore.model_validate_json(s.model_dump_json()) for s in ALL]) == figures(ALL)
