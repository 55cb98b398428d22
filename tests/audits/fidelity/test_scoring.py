"""One page scored: every field, malformed answers, confidence, samples."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from audits.fidelity import Overlap, delta_f1, example_id, score
from audits.fidelity.scoring import confidence
from harness.axtree import Tree, describe, parse
from harness.types import Observation, Usage
from tests.audits.fidelity.factory import PATIENT, foreseen, page, row
from tests.axtree.strategies import edited_pairs

NOW = page("[1] button 'Buy'", "StaticText 'Empty'")
THEN = page("[1] button 'Buy'", "StaticText '1 item'", "[2] link 'Checkout'", url="http://shop.localhost/cart", title="Cart")


@PATIENT
@given(edited_pairs())
def test_a_perfect_prediction_is_right_in_every_respect(pair: tuple[Tree, Tree]) -> None:
    now, then = (Observation(url="http://a.example/", axtree=tree.to_text()) for tree in pair)
    found = score(row(now, "noop()", then), [foreseen(then)])
    assert found.nodes.f1 in (1, None)
    assert found.nodes_placed.f1 in (1, None)
    assert delta_f1(found) in (1, None)
    assert found.foreseen_change == found.changed
    assert found.right
    assert found.url_right
    assert found.title_right


@PATIENT
@given(edited_pairs())
def test_a_copy_is_right_exactly_where_nothing_changed(pair: tuple[Tree, Tree]) -> None:
    now, then = (Observation(url="http://a.example/", axtree=tree.to_text()) for tree in pair)
    found = score(row(now, "noop()", then), [foreseen(now)])
    assert found.nodes == found.nodes_copy
    assert found.foreseen_change is False
    assert found.right == (not found.changed)
    assert delta_f1(found) in (0, None)


def test_counts_by_hand() -> None:
    guess = page("[1] button 'Buy'", "StaticText '1 item'", title="Cart")
    found = score(row(NOW, "click('1')", THEN), [foreseen(guess)], seconds=0.5)
    # title, text: removed and added are right on both, the link is missing
    assert found.edits == Overlap(4, 4, 5)
    assert found.edits_by_sign == {"added": Overlap(2, 2, 3), "removed": Overlap(2, 2, 2), "changed": Overlap(0, 0, 0)}
    assert found.nodes == Overlap(3, 3, 4)
    assert found.nodes_copy == Overlap(1, 3, 4)
    assert (found.url_right, found.url_changed, found.title_right, found.title_changed) == (False, True, True, True)
    assert (found.changed, found.foreseen_change, found.right) == (True, True, False)
    assert (found.example, found.action, found.seconds) == ("r/e1/0", "click", 0.5)


def test_an_unreadable_answer_found_nothing_and_foresaw_nothing() -> None:
    bad = foreseen(None, malformed="no such node")
    changed, still = score(row(NOW, "click('1')", THEN), [bad]), score(row(NOW, "noop()", NOW), [bad])
    assert changed.nodes == Overlap(0, 0, 4)
    assert changed.edits == Overlap(0, 0, 5)
    for found in (changed, still):
        assert found.malformed == "no such node"
        assert found.foreseen_change is None
        assert not found.right
        assert not found.url_right
        assert delta_f1(found) == 0, "also where nothing changed"


def test_an_answer_read_in_part_is_scored_and_said() -> None:
    found = score(row(NOW, "click('1')", THEN), [foreseen(THEN, malformed="drop x: no such node", retrieved="exact /cart")])
    assert (found.malformed, found.flawed, found.retrieved, found.right) == ("", "drop x: no such node", True, True)


def test_a_changed_address_alone_is_a_change_without_edits() -> None:
    elsewhere = NOW.model_copy(update={"url": "http://shop.localhost/room/?page=2"})
    still = score(row(NOW, "click('1')", elsewhere), [foreseen(NOW)])
    assert (still.changed, still.foreseen_change, delta_f1(still), still.right) == (True, False, None, False)
    assert score(row(NOW, "click('1')", elsewhere), [foreseen(elsewhere)]).right


def test_critical_elements_are_those_of_the_real_next_page() -> None:
    tree = parse(THEN.axtree)
    wanted = [describe(tree, "1"), describe(tree, "2"), describe(parse("[9] button 'Pay'"), "9")]
    half = score(row(NOW, "click('1')", THEN, critical=wanted), [foreseen(NOW)])
    assert (half.critical, half.critical_new) == (Overlap(1, 1, 2), Overlap(0, 0, 1)), "Pay comes later, it is not asked for"
    whole = score(row(NOW, "click('1')", THEN, critical=wanted), [foreseen(THEN)])
    assert (whole.critical.hits, whole.critical_new.hits) == (2, 1)


@pytest.mark.parametrize(
    ("logprobs", "expected"),
    [
        (None, None),
        ((), None),
        ((-0.1, -0.3), math.exp(-0.2)),
        ((0.0,), 1.0),
        ((0.5,), None),
        ((math.nan,), None),
        ((-math.inf,), 0.0),
    ],
)
def test_confidence_is_the_mean_token_probability(logprobs: tuple[float, ...] | None, expected: float | None) -> None:
    found = confidence(foreseen(NOW, token_logprobs=logprobs))
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_samples_agree_by_what_they_change_and_the_first_is_scored() -> None:
    example = row(NOW, "click('1')", THEN)
    assert score(example, [foreseen(THEN)]).agreement is None
    assert score(example, [foreseen(THEN)] * 3).agreement == 1
    assert score(example, [foreseen(NOW)] * 2).agreement == 1, "both say that nothing happens"
    mixed = score(example, [foreseen(NOW), foreseen(THEN), foreseen(THEN)])
    assert mixed.agreement == pytest.approx(1 / 3)
    assert mixed.foreseen_change is False
    assert score(example, [foreseen(None), foreseen(None)]).agreement == 0
    with pytest.raises(ValueError, match="no prediction"):
        score(example, [])


def test_tokens_are_the_first_answers() -> None:
    used = foreseen(THEN, usage=Usage(prompt_tokens=7, completion_tokens=3))
    found = score(row(NOW, "click('1')", THEN, step=4), [used])
    assert (found.prompt_tokens, found.completion_tokens) == (7, 3)
    assert example_id(row(NOW, "noop()", NOW, step=4)) == found.example == "r/e1/4"
