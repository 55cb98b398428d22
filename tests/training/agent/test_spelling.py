"""Actions by descriptor: what is spelt is read back, and nothing that is written raises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.actions import ACTION_SPACE, make_action
from harness.axtree import Node, Tree, parse
from harness.errors import UsageError
from harness.types import Action
from training.agent.spelling import MAX_NAME_CHARS, elements, read, spell, spelt_name

PAGE = parse(
    """RootWebArea 'Shop'
\t[1] button 'Save'
\t[2] button 'Save'
\t[3] textbox 'Search'
\t[4] link ''
\t[5] combobox 'Sort by'
\tStaticText 'Save'
\t[6] link 'A very long name of a product that nobody would ever want to write out in full'
\t[7] link 'A very long name of a product that nobody would ever want to read, but for its end'
"""
)


@pytest.mark.parametrize(
    ("action", "line"),
    [
        (("click", {"bid": "2"}), 'click button "Save" 2/2'),
        (("fill", {"bid": "3", "value": 'a "b"\n'}), r'fill textbox "Search" "a \"b\"\n"'),
        (("type", {"bid": "3", "text": "lamp"}), 'type textbox "Search" "lamp"'),
        (("type", {"bid": "3", "text": "lamp", "press_enter": False}), 'type textbox "Search" "lamp" press_enter=false'),
        (("select_option", {"bid": "5", "options": "Price"}), 'select combobox "Sort by" "Price"'),
        (("select_option", {"bid": "5", "options": ["a", "b"]}), 'select combobox "Sort by" "a" "b"'),
        (("press", {"bid": "3", "key_comb": "Enter"}), 'press textbox "Search" "Enter"'),
        (("drag_and_drop", {"from_bid": "1", "to_bid": "4"}), 'drag_and_drop button "Save" 1/2 to link ""'),
        (("click", {"bid": "4", "modifiers": ["Shift"]}), 'click link "" modifiers=["Shift"]'),
        (("send_msg_to_user", {"text": "12 €"}), 'answer "12 €"'),
        (("report_infeasible", {"reason": "no such item"}), 'infeasible "no such item"'),
        (("go_back", {}), "back"),
        (("goto", {"url": "http://x/"}), 'goto "http://x/"'),
        (("scroll", {"delta_x": 0, "delta_y": -200}), "scroll 0 -200"),
        (("noop", {"wait_ms": 5}), "noop wait_ms=5"),
        (("tab_focus", {"index": 1}), "tab_focus 1"),
        (("click", {"bid": "7"}), 'click link "A very long name of a product that nobo…" 2/2'),
    ],
)
def test_spellings(action: tuple[str, dict[str, Any]], line: str) -> None:
    made = make_action(*action)
    assert spell(made, PAGE) == line
    found = read(line, PAGE)
    assert (found.name, found.arguments, found.raw) == (made.name, made.arguments, line)
    assert read(line, PAGE, nearest=True) == found


LISTS = parse(
    """RootWebArea 'Form'
\t[1] listbox 'Who'
\t\t[2] option 'Sonny'
\t\t[3] option 'Dee Dee'
\t[4] combobox 'Height'
\t\tMenuListPopup ''
\t\t\t[5] option '5ft 9in'
\t\t\t[6] option '6 ft'
\t[7] button 'Submit'
\t[8] button 'Cancel'
\t[9] button 'Cancel'
"""
)


@pytest.mark.parametrize(
    ("line", "name", "arguments"),
    [
        ('click button "Submut"', "click", {"bid": "7"}),
        ('click button "Cancel"', "click", {"bid": "8"}),  # which of two is not said: the first
        ('click button "Cancl" 2/2', "click", {"bid": "9"}),
        ('click button "Cancel" 7/9', "click", {"bid": "9"}),
        ('select listbox "Wh" "Deeee" "Sony"', "select_option", {"bid": "1", "options": ["Dee Dee", "Sonny"]}),
        ('select combobox "" "6oG"', "select_option", {"bid": "4", "options": "6 ft"}),
        ('drag_and_drop option "Sonn" to option "5 9in"', "drag_and_drop", {"from_bid": "2", "to_bid": "5"}),
    ],
)
def test_a_name_that_the_page_does_not_have_means_the_nearest(line: str, name: str, arguments: dict[str, Any]) -> None:
    found = read(line, LISTS, nearest=True)
    assert (found.name, found.arguments, found.raw) == (name, arguments, line)
    assert found.target is not None


def test_the_nearest_is_of_the_role_that_was_said_and_texts_stay() -> None:
    assert read('click link "Submit"', LISTS, nearest=True).error.endswith('there is no link "Submit" on this page')
    assert read('fill textbox "" "Submut"', PAGE, nearest=True).arguments == {"bid": "3", "value": "Submut"}
    assert read('click "Submut"', LISTS, nearest=True).name == "invalid"


def test_an_element_is_described_for_the_next_reload() -> None:
    target = read('click button "Save" 2/2', PAGE).target
    assert target is not None
    assert (target.role, target.name, target.index, target.count) == ("button", "Save", 1, 2)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('click button "Save"', "2 elements are"),
        ('click button "Buy"', "no button"),
        ('click button "Save" 3/3', "only 2 elements"),
        ('click "Save"', "its role and its name"),
        ("click", "its role and its name"),
        ('click StaticText "Save"', "no StaticText"),
        ("scroll 0", "needs delta_y"),
        ('answer "x" "y"', "too much"),
        ('click link "" colour="red"', "no parameter"),
        ('press_the button "Save"', "no action"),
        ('go_back', "no action"),
        ('answer "x', "not closed"),
        ("", "begins with its name"),
        ('"Save"', "begins with its name"),
        ("scroll NaN 1", "too much"),
        ("x" * 30_000, "longer than"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_invalid_and_says_why(line: str, says: str) -> None:
    found = read(line, PAGE)
    assert found.name == "invalid"
    assert says in found.error
    assert found.target is None


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=80), st.text(alphabet='click "\\\n{}[]0/9=-eE.é', max_size=60)))
def test_no_text_raises(text: str) -> None:
    read(text, LISTS, nearest=True)
    assert isinstance(read(text, PAGE), Action)
    assert isinstance(read(f"click button {text}", PAGE), Action)


NAMES = st.sampled_from(["", "Save", "Edit \"it\"", "a" * 60, "a" * 61, "x\ue001", "  two   blanks ", "é\u2028"])  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["button", "link", "textbox"]), NAMES, st.booleans()), min_size=1, max_size=8),
    st.text(max_size=30),
    st.data(),
)
def test_every_action_on_any_page_is_read_back(nodes: list[tuple[str, str, bool]], text: str, data: st.DataObject) -> None:
    made = tuple(Node(role, name, str(k) if bid or k == 0 else None) for k, (role, name, bid) in enumerate(nodes))
    tree = Tree(made, (-1,) * len(made))
    bid = data.draw(st.sampled_from(sorted(tree.by_bid)))
    values: dict[str, Any] = {
        "bid": bid, "from_bid": bid, "to_bid": bid, "text": text, "value": text, "url": text, "key": "Enter", "key_comb": "Enter",
        "reason": text, "options": text, "file": text, "index": 2,
    }  # fmt: skip
    signature = ACTION_SPACE[data.draw(st.sampled_from(sorted(ACTION_SPACE)))]
    action = make_action(signature.name, {p.name: values.get(p.name, 7) for p in signature.parameters if p.required})
    found = read(spell(action, tree), tree)
    assert (found.name, found.arguments) == (action.name, action.arguments)


def test_icons_and_long_names_are_spelt_as_they_are_shown() -> None:
    assert spelt_name("\ue001  Like\n(0)") == "Like (0)"
    assert len(spelt_name("x" * 99)) == MAX_NAME_CHARS
    assert {str(element) for element in elements(PAGE).values()} >= {'link ""', 'button "Save" 1/2', 'combobox "Sort by"'}


def test_what_the_page_does_not_have_is_not_spelt() -> None:
    with pytest.raises(UsageError, match="no element"):
        spell(make_action("click", {"bid": "99"}), PAGE)
    with pytest.raises(UsageError, match="no action"):
        spell(Action(name="fly"), PAGE)
    assert spell(Action(name="invalid", raw="I am lost", error="parse: x"), PAGE) == "I am lost"
