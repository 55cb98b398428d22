"""Counts of what is shared: analytic cases, laws that hold for any pages, hostile sizes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.fidelity import Edit, Overlap, compare, delta, lenient, read_page, strict
from audits.fidelity.delta import SIGNS, compare_leniently, compare_sign
from harness.axtree import Tree
from harness.types import Observation
from tests.audits.fidelity.factory import PATIENT, page
from tests.axtree.strategies import edited_pairs

BAGS = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 3), max_size=4)


def words(predicted: list[str], real: list[str]) -> Overlap:
    return lenient(Counter(predicted), Counter(real), family=lambda _: "", name=lambda word: word)


def test_a_copy_of_a_hundred_nodes_has_985_full_f1_and_no_delta_f1() -> None:
    """AUDIT.md, M4."""
    lines = [f"link 'item {number}'" for number in range(99)]
    now, then = read_page(page(*lines)), read_page(page(*lines, "alert ''", "StaticText 'Saved'", "button 'Close'"))
    assert len(now.nodes) == 100
    full = strict(now.elements, then.elements)
    assert full == Overlap(100, 100, 103)
    assert full.f1 == pytest.approx(0.985, abs=5e-4)
    assert compare(delta(now, now), delta(now, then)) == Overlap(0, 0, 3)
    assert compare(delta(now, now), delta(now, then)).f1 == 0


def test_f1_by_hand() -> None:
    found = strict({"a": 2, "b": 1}, {"a": 1, "c": 1})
    assert found == Overlap(1, 3, 2)
    assert (found.precision, found.recall, found.f1) == (1 / 3, 1 / 2, pytest.approx(2 / 5))


def test_nothing_against_nothing_is_no_success() -> None:
    empty = strict({}, {})
    assert (empty.precision, empty.recall, empty.f1) == (None, None, None)
    assert (strict({"a": 1}, {}).f1, strict({}, {"a": 1}).f1) == (0, 0)
    assert strict({}, {"a": 1}).precision is None


@PATIENT
@given(BAGS, BAGS)
def test_f1_is_symmetric_and_precision_is_the_others_recall(one: dict[str, int], other: dict[str, int]) -> None:
    a, b = strict(one, other), strict(other, one)
    assert (a.f1, a.precision, a.recall) == (b.f1, b.recall, b.precision)


@PATIENT
@given(BAGS, BAGS)
def test_lenient_hits_are_at_least_strict_and_at_most_possible(one: dict[str, int], other: dict[str, int]) -> None:
    exact = strict(one, other)
    loose = lenient(one, other, family=lambda _: "", name=lambda word: word)
    assert exact.hits <= loose.hits <= min(loose.predicted, loose.real)
    assert loose[1:] == exact[1:]


def test_similar_names_match_one_to_one_and_as_many_as_possible() -> None:
    assert words(["Add to the basket"], ["Add to basket the"]).hits == 1
    assert words(["Cart"], ["Card"]).hits == 0
    assert words(["blue shirt"] * 2, ["shirt blue"]).hits == 1
    # The first is like both, the second like the first of them only: taking what comes first would leave one over.
    assert words(["blue shirt", "red hat"], ["blue shirt red hat", "blue shirt new sale"]).hits == 2


def test_roles_never_mix_and_surrogates_do_no_harm() -> None:
    found = lenient(Counter([("link", "OK")]), Counter([("button", "OK")]), family=lambda x: x[0], name=lambda x: x[1])
    assert found.hits == 0
    assert words(["\ud800 a b c d"], ["\ud800 a b c d e"]).predicted == 1


def test_too_many_pairs_are_not_compared() -> None:
    assert words([f"x{n} same words" for n in range(600)], [f"y{n} same words" for n in range(600)]).hits == 0


def test_edits_are_signed() -> None:
    now = read_page(page("checkbox 'A', checked='false'", "StaticText '2 items'", "textbox 'Q'"))
    then = read_page(page("checkbox 'A', checked='true'", "StaticText '3 items'", "textbox 'Q' value='tea'"))
    assert delta(now, then) == Counter(
        [
            Edit("changed", "checkbox", "A", ("", ("checked=false",)), ("", ("checked=true",))),
            Edit("removed", "StaticText", "2 items", ("", ())),
            Edit("added", "StaticText", "3 items", (), ("", ())),
            Edit("changed", "textbox", "Q", ("", ()), ("tea", ())),
        ]
    )


def test_one_of_two_equal_rows_is_one_edit() -> None:
    assert sum(delta(read_page(page("row 'x'", "row 'x'")), read_page(page("row 'x'"))).values()) == 1


def test_a_change_to_the_wrong_state_is_no_hit_even_leniently() -> None:
    now = read_page(page("checkbox 'A', checked='false'"))
    right, wrong = (delta(now, read_page(page(f"checkbox 'A', checked='{state}'"))) for state in ("true", "mixed"))
    assert compare_leniently(right, right).f1 == 1
    assert compare_leniently(wrong, right).hits == compare(wrong, right).hits == 0


@PATIENT
@given(edited_pairs())
def test_edits_lead_from_one_page_to_the_other(pair: tuple[Tree, Tree]) -> None:
    now, then = (read_page(Observation(url="", axtree=tree.to_text())) for tree in pair)
    edits = delta(now, then)
    net = then.elements.copy()
    net.subtract(now.elements)
    assert sum(net.values()) == sum(count * {"added": 1, "removed": -1, "changed": 0}[e.sign] for e, count in edits.items())
    assert bool(edits) == (now.elements != then.elements)
    backwards = delta(then, now)
    assert sum(edits.values()) == sum(backwards.values())


@PATIENT
@given(edited_pairs())
def test_a_perfect_delta_scores_one_and_a_copy_none(pair: tuple[Tree, Tree]) -> None:
    now, then = (read_page(Observation(url="", axtree=tree.to_text())) for tree in pair)
    edits = delta(now, then)
    if edits:
        assert compare(edits, edits).f1 == compare_leniently(edits, edits).f1 == 1
        assert compare(delta(now, now), edits).f1 == 0
    parts = [compare_sign(edits, edits, sign) for sign in SIGNS]
    assert Overlap(*map(sum, zip(*parts, strict=True))) == compare(edits, edits)
