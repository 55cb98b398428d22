"""summary: golden sentences for the changes that pages make."""

from __future__ import annotations

import pytest
from hypothesis import given

from harness.axtree import Tree, diff, normalise, parse, summary
from tests.axtree.strategies import edited_pairs

PAGE = """RootWebArea 'Orders'
\t[1] main 'Work'
\t\t[2] button 'Menu', expanded=False
\t\t[3] checkbox 'Express', checked='false'
\t\t[4] textbox 'Name'
\t\tStaticText '2 items'
\t\t[5] button 'Ship', disabled=True
\t\t[6] button 'Ship'"""

DIALOG = """
\t\t[7] dialog 'Delete?'
\t\t\tgeneric, busy=True
\t\t\t\tStaticText 'Sure?'
\t\t\t[8] button 'Yes'
\t\t\t[9] button 'No'"""


@pytest.mark.parametrize(
    ("old", "new", "sentences"),
    [
        ("", "", []),
        ("checked='false'", "checked='true'", ['The checkbox "Express" is now checked.']),
        ("expanded=False", "expanded=True", ['The button "Menu" is now expanded.']),
        (
            "'Name'",
            "'Name' value='Ada', focused",
            ['The textbox "Name" now contains "Ada".', 'The textbox "Name" has the focus.'],
        ),
        ("2 items", "3 items", ['The text "2 items" became "3 items".']),
        ("'Orders'", "'Order 5'", ['The page\'s title became "Order 5".']),
        ("disabled=True", "disabled=False", ['The button "Ship" (1 of 2) is now enabled.']),
        ("button 'Menu'", "button 'Close'", ['The button "Menu" is now named "Close".']),
        ("'Express', checked", "'Express', hasPopup='menu', checked", ['The checkbox "Express" now has hasPopup "menu".']),
        ("\n\t\t[4] textbox 'Name'", "", ['A textbox "Name" disappeared from main "Work".']),
        (
            "\n\t\t[6] button 'Ship'",
            "\n\t\t[6] button 'Ship'" + DIALOG,
            ['A dialog "Delete?" appeared in main "Work", with text "Sure?", button "Yes" and button "No".'],
        ),
    ],
)
def test_golden(old: str, new: str, sentences: list[str]) -> None:
    assert summary(diff(parse(PAGE), parse(PAGE.replace(old, new)))) == sentences


def test_a_moved_part_is_one_sentence() -> None:
    before = parse("RootWebArea 'x'\n\tlist 'A'\n\t\tlistitem 'i'\n\t\t\tlink 'l'\n\tlist 'B'")
    after = parse("RootWebArea 'x'\n\tlist 'A'\n\tlist 'B'\n\t\tlistitem 'i'\n\t\t\tlink 'l'")
    assert summary(diff(before, after)) == ['The listitem "i" moved into list "B".']


def test_a_large_part_names_a_few_and_counts_the_rest() -> None:
    rows = "".join(f"\n\t\toption 'o{i}'" for i in range(9))
    before, after = parse("RootWebArea 'x'"), parse("RootWebArea 'x'\n\tlistbox 'L'" + rows)
    assert summary(diff(before, after)) == [
        'A listbox "L" appeared, with option "o0", option "o1", option "o2", option "o3" and 5 more.'
    ]


@given(edited_pairs())
def test_sentences_are_single_bounded_lines_and_none_only_where_nothing_is_to_tell(pair: tuple[Tree, Tree]) -> None:
    a, b = map(normalise, pair)
    changes = diff(a, b)
    told = summary(changes)
    assert all("\n" not in line and line.endswith(".") and len(line) < 1000 for line in told)
    assert changes or not told
