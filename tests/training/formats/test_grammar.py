"""The grammar of answers: every taught text stays possible at every letter, and what cannot be read does not."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.actions.build import well_formed
from harness.axtree import Tree
from tests.axtree.strategies import edited_pairs
from tests.training.formats.shop import act, edited, home, product, query
from training.world_model.formats import get_format
from training.world_model.formats.applying import Applier
from training.world_model.formats.grammar import Grammar
from training.world_model.formats.quoting import Slots
from training.world_model.formats.writing import Writer
from training.world_model.labels import DiffLabeler
from training.world_model.memory import PageMemory
from training.world_model.memory.trees import page_tree


def grammar(**options: object) -> Grammar:
    """Of a click on a link at the shop's first page."""
    memory = PageMemory()
    memory.add(product("Brass Lamp", 7, "£26.25"), "shop", "e0")
    return get_format("edits", memory=memory, **options).grammar(query(home(), act(home(), "click", "21")))  # type: ignore[return-value]


@settings(max_examples=60, deadline=None)
@given(edited_pairs(), st.data())
def test_every_beginning_of_a_taught_change_is_allowed(pair: tuple[Tree, Tree], data: st.DataObject) -> None:
    """Hostile names included."""
    before, after = (page_tree(well_formed(tree.to_text())) for tree in pair)
    it = data.draw(st.none() | st.integers(0, len(before) - 1)) if len(before) else None
    slots = Slots({"it": before.nodes[it].name if it is not None else "", "typed": "OK"})
    text = "\n".join(line for edit in Writer(before, it, slots).edits(after) for line in edit.lines)

    def read(said: str) -> str:
        applier = Applier(before, it, slots)
        applier.apply(said.split("\n"))
        return "; ".join(applier.skipped)

    found = Grammar(read, lambda _: before, slots, rationale=False)
    assume(not any(found.goes_in_circles(text[:length]) for length in range(len(text) + 1)))
    for length in range(1, len(text) + 1):
        assert found.allows(text[:length]), text[:length]
    assert not text or found.ends(text)


@pytest.mark.parametrize(
    "swaps",
    [
        [("link 'Clay Lamp'", "link 'Clay Lamp', focused")],
        [("£0.00", "£9.50"), ("expanded=False", "expanded=True\n\t\t\t[40] menuitem 'Sale', haspopup='menu'")],
        [("\t\t[21] link 'Clay Lamp'\n", "")],
        [],
    ],
)
def test_whole_answers_with_a_reason(swaps) -> None:
    before, after = home(), edited(home(), *swaps)
    asked = query(before, act(before, "click", "21"))
    form = get_format("edits")
    for terminal in (False, True):
        text = form.target(asked, after, DiffLabeler().label(asked, after, terminal=terminal))
        found = form.grammar(asked)
        assert found is not None and found.ends(text)
        assert all(found.allows(text[:length]) for length in range(len(text)))


@pytest.mark.parametrize(
    "text",
    [
        'focus link "Gold',  # no such node
        'drop link "Brass Lamp" #2',
        "jump",
        "same\nfocus it",
        "focus it\nsame",
        "focus it\nfocus it\n",  # in circles
        "focus it\n link",  # only `add` has lines below it
        "add in it\nfocus",  # nothing is added
        "add in it\n   link",  # too deep
        'name "Nothing" to "x"\n',  # nothing is called so
        'open /catalogue/*_N/ "{it}" ~1\ndrop link "Clay Lamp',  # not on the page that opens
        "focus it\nopen /",
        f'set it "2{"9" * 12}',
        f'set it "{"0.9." * 12}',
        "end",
        "tab 9\n",
        "back\n",  # there is no page to go back to
    ],
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    assert not grammar(rationale=False).allows(text)
    assert grammar(rationale=False).allows("")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("state", ["-controls", "-x", "x=false", 'x="a"', 'x=raw "a"', '="a"', "=raw", "-", "="])
@pytest.mark.parametrize("line", ["state it ", "add in it\n button "])
def test_a_lost_model_is_refused_at_once(line: str, state: str) -> None:
    """Where a state could be read in two ways a few dozen of them had more readings than a search comes to the end of: a training
    stood still for half an hour."""
    said = line + f"{state} " * 200
    found = grammar(rationale=False)
    assert found.allows(said)
    assert not found.allows(f'{said}"\x00')
    assert not found.allows(f'{said}" "x')


@pytest.mark.parametrize(
    ("text", "whole"),
    [("focus it", True), ("add in it", False), ("because it opens", False), ("", False), ("same\nend", True), ("focus i", False)],
)
def test_only_whole_answers_end(text: str, whole: bool) -> None:
    assert grammar().ends(f"because x\n{text}" if text and not text.startswith("because") else text) is whole


def test_the_paper_format_has_none() -> None:
    assert get_format("paper").grammar(query(home(), act(home(), "click", "21"))) is None
