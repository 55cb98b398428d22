"""describe and find: an element is found again after a reload, and ambiguity shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.axtree import Tree, describe, find, parse
from harness.errors import UsageError
from harness.types import TargetDescriptor
from tests.axtree.strategies import trees

PAGE = """RootWebArea 'Shop'
\t[1] navigation 'Main'
\t\t[2] link 'Home'
\t[3] main ''
\t\t[4] generic, visible
\t\t\t[5] listitem 'Ada'
\t\t\t\tStaticText 'Ada  L.'
\t\t\t\t[6] button 'Delete'
\t\t\t[7] listitem 'Bob'
\t\t\t\t[8] button 'Delete'
\t\t[9] textbox 'Name' value='x'"""


def test_describe() -> None:
    assert describe(parse(PAGE), "8") == TargetDescriptor(
        role="button",
        name="Delete",
        path=('RootWebArea "Shop"', "main", 'listitem "Bob"'),
        index=1,
        count=2,
        landmark="main",
        neighbours=("Delete", "Name"),
    )
    assert describe(parse(PAGE), "6").neighbours == ("Ada L.", "Bob")
    assert describe(parse(PAGE), "9").value == "x"
    assert describe(parse(PAGE), "2").landmark == 'navigation "Main"'


def test_an_unknown_bid_is_an_error() -> None:
    with pytest.raises(UsageError, match="99"):
        describe(parse(PAGE), "99")


def test_found_after_a_reload_with_other_bids_and_a_new_wrapper() -> None:
    target = describe(parse(PAGE), "8")
    other = PAGE.replace("[8]", "[b3]").replace("[4] generic, visible", "[4] generic, busy=True")
    assert find(parse(other), target) == ["b3"]


def test_the_path_decides_between_namesakes_that_changed_places() -> None:
    lines = PAGE.split("\n")
    swapped = "\n".join([*lines[:5], *lines[8:10], *lines[5:8], lines[10]])
    assert find(parse(swapped), describe(parse(PAGE), "8")) == ["8"]
    assert find(parse(swapped), describe(parse(PAGE), "6")) == ["6"]


ROWS = "RootWebArea 'x'\n\tmain ''\n\t\t[1] button 'Go'\n\t\tStaticText 'a'\n\t\t[2] button 'Go' value='v'\n\t\t[3] button 'Go'"


def test_value_then_neighbours_then_place_decide_under_one_parent() -> None:
    tree = parse(ROWS)
    assert find(parse(ROWS.replace("\t\t[1] button 'Go'\n", "")), describe(tree, "2")) == ["2"]
    assert find(parse(ROWS + "\n\t\t[9] button 'Go'"), describe(tree, "1")) == ["1"]
    assert find(parse("RootWebArea 'x'\n\t[5] button 'Go'\n\t[6] button 'Go'\n\t[7] button 'Go'"), describe(tree, "2")) == ["6"]


def test_gone_is_empty_and_ambiguous_is_several() -> None:
    target = describe(parse(PAGE), "8")
    assert find(parse(PAGE.replace("Delete", "Remove")), target) == []
    rows = "RootWebArea 'Shop'\n" + "\n".join(f"\t[{i}] button 'Delete'" for i in range(3))
    assert find(parse(rows), target) == ["0", "1", "2"]


@given(trees(), st.data())
def test_an_element_is_found_in_its_own_tree_and_only_namesakes_with_it(tree: Tree, data: st.DataObject) -> None:
    bids = sorted(tree.by_bid)
    if not bids:
        return
    bid = data.draw(st.sampled_from(bids))
    target = describe(tree, bid)
    TargetDescriptor.model_validate_json(target.model_dump_json())
    found = find(tree, target)
    assert found == [bid]
    assert 0 <= target.index < target.count
