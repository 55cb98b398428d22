"""The `edits` spelling: what a target says, and that reading it gives back the page that it was written for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.actions.build import well_formed
from harness.axtree import Tree, normalise, parse
from harness.types import Observation
from tests.axtree.strategies import edited_pairs
from tests.training.formats.shop import act, edited, home, product, query
from training.world_model.formats import get_format
from training.world_model.formats.applying import Applier
from training.world_model.formats.quoting import Slots, quote, unquote
from training.world_model.formats.writing import Writer
from training.world_model.labels import DiffLabeler
from training.world_model.memory import PageMemory
from training.world_model.memory.trees import page_tree


def same_tree(one: Observation, other: Observation) -> bool:
    return normalise(parse(one.axtree)) == normalise(parse(other.axtree))


def taught(asked, after, memory: PageMemory | None = None, terminal: bool = False, **options: object) -> str:
    form = get_format("edits", memory=memory, rationale=False, **options)
    return form.target(asked, after, DiffLabeler().label(asked, after, terminal=terminal))


@settings(max_examples=150, deadline=None)
@given(edited_pairs(), st.data())
def test_any_two_pages_round_trip(pair: tuple[Tree, Tree], data: st.DataObject) -> None:
    """Hostile names, forests, moves and wraps included: lines are a complete language of edits."""
    before, after = (page_tree(well_formed(tree.to_text())) for tree in pair)
    it = data.draw(st.none() | st.integers(0, len(before) - 1)) if len(before) else None
    slots = Slots({"it": before.nodes[it].name if it is not None else "", "typed": "OK"})
    lines = [line for edit in Writer(before, it, slots).edits(after) for line in edit.lines]
    assert all("\n" not in line for line in lines)
    applier = Applier(before, it, slots)
    found = applier.apply(lines)
    assert applier.skipped == []
    assert [(node.role, node.name, node.value, dict(node.properties)) for node in found.nodes] == [
        (node.role, node.name, node.value, dict(node.properties)) for node in after.nodes
    ]
    assert found.parents == after.parents


FOCUSED = ("[22] checkbox 'In stock', checked='false'", "[22] checkbox 'In stock', focused, checked='true'")


@pytest.mark.parametrize(
    ("action", "bid", "arguments", "swaps", "lines"),
    [
        ("click", "21", {}, [("link 'Clay Lamp'", "link 'Clay Lamp', focused")], "focus it"),
        ("click", "22", {}, [FOCUSED], "focus it\ncheck it"),
        (
            "click",
            "5",
            {},
            [("expanded=False", "expanded=True\n\t\t\t[40] menuitem 'Sale'")],
            'expand it\nadd in it\n menuitem "Sale"',
        ),
        (
            "type",
            "6",
            {"text": "brass"},
            [("textbox 'Search'", "textbox 'Search' value='brass', focused\n\t\t\tStaticText 'brass'")],
            'set it "{typed}"\nfocus it',
        ),
        ("click", "20", {}, [("£0.00", "£9.50")], 'name StaticText "£0.00" "£9.50"'),
        ("click", "20", {}, [("\t\t[21] link 'Clay Lamp'\n", "")], 'drop link "Clay Lamp"'),
        ("noop", "", {}, [], "same"),
    ],
)
def test_a_change_is_a_few_words(action, bid, arguments, swaps, lines) -> None:
    before = home()
    after = edited(before, *swaps)
    asked = query(before, act(before, action, bid, **arguments))
    assert taught(asked, after) == lines
    reading = get_format("edits").read(asked, lines)
    assert reading.malformed == ""
    assert reading.next_observation is not None
    assert same_tree(reading.next_observation, after)


def test_survivors_keep_their_bids_and_new_nodes_get_unused_ones() -> None:
    before = home()
    asked = query(before, act(before, "click", "5"))
    reading = get_format("edits").read(asked, 'add after it\n button "Close" > StaticText "x"')
    assert reading.next_observation is not None
    tree = parse(reading.next_observation.axtree)
    assert tree.by_bid["22"] and tree.nodes[tree.by_bid["23"]].name == "Close"
    assert next(node for node in tree.nodes if node.name == "x").bid is None


def test_the_end_of_the_episode_is_a_line() -> None:
    before = home()
    asked = query(before, act(before, "send_msg_to_user", text="Done"))
    text = taught(asked, before, terminal=True)
    assert text == "same\nend"
    reading = get_format("edits").read(asked, text)
    assert reading.terminal is True
    assert get_format("edits").read(asked, "same").terminal is False


def test_lines_that_do_not_fit_are_left_out_and_surfaced() -> None:
    before = home()
    asked = query(before, act(before, "click", "22"))
    reading = get_format("edits").read(asked, 'check it\ndrop button "Nowhere"\nblink it')
    assert reading.next_observation is not None
    assert "checked='true'" in reading.next_observation.axtree
    assert "Nowhere" in reading.malformed and "blink" in reading.malformed


@pytest.mark.parametrize(
    "text", ["", "   \n ", "blink it", 'focus button "Nowhere"', "open", "open / Home", "back", "tab 7", "add in page", "focus"]
)
def test_what_says_nothing_is_malformed_never_a_copy(text: str) -> None:
    before = home()
    reading = get_format("edits").read(query(before, act(before, "click", "22")), text)
    assert reading.next_observation is None
    assert reading.malformed


WORDS = [
    *("focus", "it", "page", "drop", "add", "in", "after", "@", ">", "#2", "#0", "name", "to", "state", "=", "=none"),
    *("-focused", "checked=", "open", "/", "//x/", "http://[", "~9", "tab", "close", "new", "back", "keep", "same", "end"),
    *('"Search"', '"{it}', '"\\ud800"', "\n", "\n ", "\n  ", "link", "banner", "9" * 30, "=1e999", "{{", "because x"),
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=12), st.booleans())
def test_reading_never_raises(words: list[str], remembered: bool) -> None:
    memory = PageMemory()
    if remembered:
        memory.add(product("Clay Lamp", 3, "£9.50"), "shop", "e9")
    before = home()
    reading = get_format("edits", memory=memory).read(query(before, act(before, "click", "20")), " ".join(words))
    assert reading.next_observation is not None or reading.malformed


def test_a_node_cannot_be_moved_into_itself() -> None:
    before = home()
    reading = get_format("edits").read(query(before, act(before, "click", "20")), "add in banner #1\n @ banner #1")
    assert "into itself" in reading.malformed


@given(st.dictionaries(st.sampled_from(["it", "typed", "f1", "f2"]), st.text(max_size=12)), st.text(max_size=60))
def test_slots_lose_nothing(texts: dict[str, str], text: str) -> None:
    slots = Slots(texts)
    for shown in (text, f"{{it}} {text} {{{{ {{f1}}", " ".join([text, *texts.values()])):
        assert slots.fill(slots.put(shown)) == shown
        assert unquote(quote(shown)) == shown


def test_several_lines_that_are_typed_need_not_be_written_out() -> None:
    """A field shows one text per line that is not empty; more lines, fewer and none."""
    empty = home()
    field = "textbox 'Search'"
    old = "one\n\nthe  second line\n"
    filled = edited(empty, (field, f"{field} value={old!r}\n\t\t\tStaticText 'one'\n\t\t\tStaticText 'the second line'"))
    longer = "a line\nof text " * 40
    lines = "".join(f"\n\t\t\tStaticText {' '.join(line.split())!r}" for line in longer.split("\n"))
    told = edited(empty, (field, f"{field} value={longer!r}{lines}"))
    form = get_format("edits", rationale=False)
    for before, after, text in ((empty, filled, old), (filled, told, longer), (filled, empty, ""), (told, filled, old)):
        asked = query(before, act(before, "type", "6", text=text))
        answer = taught(asked, after)
        assert answer == f'set it "{"{typed}" if text else ""}"'
        reading = form.read(asked, answer)
        assert reading.next_observation is not None and same_tree(reading.next_observation, after)
