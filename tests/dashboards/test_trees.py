"""The marked tree: every node of the new page once, in order; every gone node once; nothing else."""

from __future__ import annotations

from hypothesis import given, settings

from dashboards.trees import CONTEXT, Line, as_text, changed_only, marked
from harness.axtree import Tree, parse
from tests.axtree.strategies import trees

BEFORE = "RootWebArea 'Shop', focused\n\t[1] button 'Buy'\n\t[2] link 'Old'\n\t[3] textbox 'Search' value='a'"
AFTER = "RootWebArea 'Shop', focused\n\t[1] button 'Buy'\n\t[3] textbox 'Search' value='b'\n\t[4] alert 'Bought'"


def test_each_line_says_what_became_of_its_node() -> None:
    found = marked(BEFORE, AFTER)
    assert [str(line) for line in found.lines] == [
        "  RootWebArea 'Shop', focused",
        "    [1] button 'Buy'",
        "-   [2] link 'Old'",
        "~   [3] textbox 'Search' value='b'",
        "+   [4] alert 'Bought'",
    ]
    assert found.changes == {"-": 1, "~": 1, "+": 1}


def test_a_page_that_only_moved_down_a_line_has_one_change() -> None:
    now = BEFORE.replace("\t[1]", "\t[9] banner ''\n\t[1]")
    assert marked(BEFORE, now).changes == {"+": 1}


def test_the_first_page_is_compared_with_nothing() -> None:
    found = marked(None, AFTER)
    assert not found.compared
    assert {line.mark for line in found.lines} == {" "}


@settings(max_examples=60, deadline=None)
@given(trees(), trees())
def test_every_node_stands_once(before: Tree, after: Tree) -> None:
    found = marked(before.to_text(), after.to_text())
    old, new = len(parse(before.to_text())), len(parse(after.to_text()))
    gone = sum(line.mark == "-" for line in found.lines)
    added = sum(line.mark == "+" for line in found.lines)
    assert len(found.lines) - gone == new
    assert old - gone == new - added  # what is neither gone nor new is on both pages


@settings(max_examples=60, deadline=None)
@given(trees())
def test_a_page_does_not_differ_from_itself(tree: Tree) -> None:
    assert not marked(tree.to_text(), tree.to_text()).changes


def test_only_changes_keep_their_surroundings_and_show_gaps() -> None:
    lines = [Line(" ", str(n)) for n in range(20)]
    lines[10] = Line("+", "10")
    found = changed_only(lines)
    assert found[0] is None and found[-1] is None
    assert [line.text for line in found if line] == [str(n) for n in range(10 - CONTEXT, 10 + CONTEXT + 1)]
    assert changed_only([Line(" ", "same")]) == []


def test_long_trees_say_how_much_is_left_out() -> None:
    text = as_text([Line(" ", str(n)) for n in range(50)], 10)
    assert text.splitlines()[-1].strip() == "… 40 more lines: download the whole"


def test_a_tree_as_deep_as_it_is_long_stays_readable() -> None:
    deep = "\n".join("\t" * n + f"[{n}] generic" for n in range(3_000))
    assert max(len(line.text) for line in marked(None, deep).lines) < 200
