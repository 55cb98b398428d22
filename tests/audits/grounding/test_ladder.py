"""The resolver ladder: each rung, each refusal, and that bids never take part."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.grounding import GroundingConfig, ground, ground_other, resolve
from audits.grounding.measure import cases, measure
from harness.actions import make_action, parse_action
from harness.axtree import Tree, describe, parse
from harness.types import TargetDescriptor
from tests.axtree.strategies import trees

CONFIG = GroundingConfig()
SHOP = parse(
    """RootWebArea 'Shop'
	[1] navigation 'Main'
		[2] link 'Home'
		[3] link 'Basket'
	[4] main ''
		[5] list ''
			[6] listitem ''
				[7] heading 'Red mug'
				[8] button 'Add'
			[9] listitem ''
				[10] heading 'Blue mug'
				[11] button 'Add'
		[12] button 'Pay', disabled=True
		[13] textbox 'Note' value='hello'"""
)


def renumbered(tree: Tree, seed: int = 0) -> Tree:
    numbers = Random(seed).sample(range(1000, 9000), len(tree))
    return Tree(tuple(n._replace(bid=str(b) if n.bid else None) for n, b in zip(tree.nodes, numbers, strict=True)), tree.parents)


def place(tree: Tree, bid: str) -> int:
    return tree.by_bid[bid]


@pytest.mark.parametrize(("bid", "rung"), [("3", "exact"), ("8", "index"), ("11", "index"), ("13", "exact")])
def test_the_same_page_with_other_bids(bid: str, rung: str) -> None:
    real = renumbered(SHOP)
    found = resolve(real, describe(SHOP, bid), CONFIG)
    assert (found.kind, found.rung) == ("exact", rung)
    assert place(real, found.bid) == place(SHOP, bid)


def test_another_number_of_namesakes_is_decided_by_their_place() -> None:
    more = parse(SHOP.to_text().replace("\t[12] button 'Pay'", "\t[20] button 'Add'\n\t\t[12] button 'Pay'"))
    found = resolve(more, describe(SHOP, "11"), CONFIG)
    assert (found.kind, found.rung, found.bid) == ("contextual", "context", "11")


def test_one_left_of_several_is_not_taken_for_the_one_meant_if_it_stands_elsewhere() -> None:
    fewer = parse("RootWebArea 'Shop'\n\t[1] dialog 'Gift'\n\t\t[2] heading 'Card'\n\t\t[3] button 'Add'\n\t\t[4] link 'No'")
    assert resolve(fewer, describe(SHOP, "8"), CONFIG).kind == "absent"


def test_a_label_with_another_count_is_found_by_similarity() -> None:
    real = parse(SHOP.to_text().replace("'Basket'", "'Basket (1)'"))
    found = resolve(real, describe(SHOP, "3"), CONFIG)
    assert (found.kind, found.bid) == ("fuzzy", "3")
    assert found.score is not None and found.score >= CONFIG.threshold
    assert resolve(real, describe(SHOP, "3"), GroundingConfig(similarity=False)).kind == "absent"


def test_an_element_of_another_name_is_another_element() -> None:
    real = parse(SHOP.to_text().replace("'Basket'", "'Imprint'"))
    found = resolve(real, describe(SHOP, "3"), CONFIG)
    assert found.kind == "absent"
    assert found.bid == "" and found.candidates, "what came near is kept as evidence"


def test_two_equally_similar_elements_are_ambiguous() -> None:
    real = parse("RootWebArea 'S'\n\t[1] list ''\n\t\t[2] button 'Buy 1'\n\t\t[3] button 'Buy 3'")
    wanted = TargetDescriptor(role="button", name="Buy 2", path=('RootWebArea "S"', "list"))
    found = resolve(real, wanted, GroundingConfig(threshold=0.5))
    assert found.kind == "ambiguous" and found.margin is not None and found.margin < CONFIG.margin


def test_what_is_there_and_cannot_take_the_action() -> None:
    found = ground(SHOP, describe(SHOP, "12"), "click", CONFIG)
    assert (found.kind, found.bid, found.acted_on) == ("wrong_state", "12", False)
    readonly = parse("RootWebArea 'S'\n\t[1] textbox 'Note', readonly=True")
    assert ground(readonly, describe(readonly, "1"), "fill", CONFIG).kind == "wrong_state"
    assert ground(readonly, describe(readonly, "1"), "click", CONFIG).kind == "exact"


@pytest.mark.parametrize("action", ["hover", "focus", "press", "drag_and_drop", "upload_file"])
def test_what_a_browser_does_with_a_disabled_element_is_replayed(action: str) -> None:
    """`sign-agreement` is solved by hovering over a disabled text and scrolling it: its recorded replays failed here."""
    assert ground(SHOP, describe(SHOP, "12"), action, CONFIG).kind == "exact"


def test_actions_without_an_element() -> None:
    sites = ("http://shop.localhost:1",)
    assert ground_other(parse_action('goto("http://shop.localhost:1/a")'), sites).kind == "no_element"
    assert ground_other(parse_action('goto("http://shop.localhost:1.evil.org/")'), sites).kind == "off_origin"
    assert ground_other(parse_action('goto("javascript:alert(1)")'), sites).kind == "off_origin"
    assert ground_other(parse_action("klick(3)"), sites).kind == "invalid_argument"
    assert ground_other(make_action("scroll", {"delta_x": 0, "delta_y": 9}), sites).kind == "no_element"


@given(tree=trees(), seed=st.integers(0, 99), data=st.data())
@settings(max_examples=60, deadline=None)
def test_on_the_same_page_the_element_itself_is_found_whatever_its_bid(tree: Tree, seed: int, data: st.DataObject) -> None:
    tree = renumbered(tree, seed=-1)
    if not tree.by_bid:
        return
    bid = data.draw(st.sampled_from(sorted(tree.by_bid)))
    real = renumbered(tree, seed)
    found = resolve(real, describe(tree, bid), CONFIG)
    assert found.kind == "exact"
    assert place(real, found.bid) == place(tree, bid)


@given(tree=trees(), other=trees(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_page_gives_an_answer_and_the_same_one_twice(tree: Tree, other: Tree, data: st.DataObject) -> None:
    if not tree.by_bid:
        return
    wanted = describe(tree, data.draw(st.sampled_from(sorted(tree.by_bid))))
    found = resolve(other, wanted, CONFIG)
    assert found == resolve(other, wanted, CONFIG)
    assert (found.bid in other.by_bid) if found.acted_on else found.bid == ""


def test_measuring_counts_wrong_choices_against_precision() -> None:
    from tests.audits.replay.dreams import episode, trajectory  # built by hand, so that the right answers are known

    recorded = episode(trajectory([(SHOP.to_text(), 'click("3")'), (SHOP.to_text(), 'click("11")')]))
    scores = {score.change: score for score in measure(cases([recorded]), CONFIG)}
    assert scores["same"].recall.value == 1.0 and scores["same"].precision.value == 1.0
    assert scores["renamed"].recall.n == 0, "no element is right there"
    assert scores["deleted"].cases == 2
