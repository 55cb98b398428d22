"""diff and apply: applying the edits gives the other tree, for all trees; and the edits are the ones a person sees."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.axtree import Added, Changed, Diff, Moved, Removed, Tree, apply, diff, match, normalise, parse
from harness.errors import UsageError
from tests.axtree.strategies import edited_pairs, trees


def bidless(tree: Tree) -> Tree:
    return Tree(tuple(node._replace(bid=None) for node in tree.nodes), tree.parents, tree.style)


@given(st.tuples(trees(), trees()) | edited_pairs())
@settings(max_examples=200)
def test_applying_the_edits_gives_the_other_tree(pair: tuple[Tree, Tree]) -> None:
    a, b = pair
    result = apply(a, diff(a, b))
    assert bidless(result) == bidless(b)
    assert result.labels == b.labels
    a, b = normalise(a), normalise(b)
    assert apply(a, diff(a, b)) == b


@given(trees())
def test_equal_trees_differ_in_nothing(tree: Tree) -> None:
    assert diff(tree, bidless(tree)) == Diff()


@given(edited_pairs())
def test_a_matching_is_one_to_one_between_equal_roles_and_deterministic(pair: tuple[Tree, Tree]) -> None:
    a, b = pair
    matching = match(a, b)
    for i, j in enumerate(matching.b_of):
        assert j < 0 or (matching.a_of[j] == i and a.nodes[i].role == b.nodes[j].role)
    assert sum(j >= 0 for j in matching.b_of) == sum(i >= 0 for i in matching.a_of)
    assert match(a, b).b_of == matching.b_of


@given(edited_pairs())
def test_elements_that_survive_keep_their_bid(pair: tuple[Tree, Tree]) -> None:
    a, b = pair
    changes = diff(a, b)
    kept = sorted(str(node.bid) for node in apply(a, changes).nodes)
    gone = [edit.node.bid for edit in changes.of(Removed)]
    new = [edit.node.bid for edit in changes.of(Added)]
    assert sorted([*kept, *map(str, gone)]) == sorted(str(bid) for bid in [*(n.bid for n in a.nodes), *new])


PAGE = """RootWebArea 'Orders'
\t[1] main ''
\t\t[2] list 'Open'
\t\t\t[3] listitem 'Ada'
\t\t\t\t[4] button 'Ship'
\t\t\t\tStaticText '2 items'
\t\t\t[5] listitem 'Bob'
\t\t\t\t[6] button 'Ship'
\t\t\t\tStaticText '3 items'
\t\t[7] list 'Done'
\t\t[8] checkbox 'Express', checked='false'"""


def edits(before: str, after: str) -> list[tuple[str, str, str]]:
    """(kind, role, name) of each edit."""
    return [(type(e).__name__, e.ref.role, e.ref.name) for e in diff(parse(before), parse(after)).edits]


def without_lines(text: str, *lines: int) -> str:
    return "\n".join(line for number, line in enumerate(text.split("\n")) if number not in lines)


def test_a_state_change_is_one_edit() -> None:
    changes = diff(parse(PAGE), parse(PAGE.replace("'false'", "'true', focused")))
    (edit,) = changes.edits
    assert isinstance(edit, Changed)
    assert edit.fields == (("checked", "false", "true"), ("focused", None, True))
    assert edit.ref.path == ('RootWebArea "Orders"', "main")


def test_a_text_change_is_one_edit() -> None:
    assert edits(PAGE, PAGE.replace("3 items", "4 items")) == [("Changed", "StaticText", "3 items")]


def test_a_renamed_button_is_changed_and_not_replaced() -> None:
    other = PAGE.replace("checkbox 'Express'", "checkbox 'Overnight'")
    assert edits(PAGE, other) == [("Changed", "checkbox", "Express")]


def test_a_removed_row_among_similar_ones_is_that_row() -> None:
    assert edits(PAGE, without_lines(PAGE, 3, 4, 5)) == [
        ("Removed", "listitem", "Ada"),
        ("Removed", "button", "Ship"),
        ("Removed", "StaticText", "2 items"),
    ]


def test_an_added_row_at_the_front_is_that_row() -> None:
    changes = diff(parse(without_lines(PAGE, 3, 4, 5)), parse(PAGE))
    assert [(edit.ref.name, edit.ref.k, edit.ref.n) for edit in changes.of(Added)] == [
        ("Ada", 0, 1),
        ("Ship", 0, 2),
        ("2 items", 0, 1),
    ]
    assert len(changes) == 3


def test_a_row_that_goes_to_another_list_has_moved() -> None:
    lines = PAGE.split("\n")
    moved = "\n".join([*lines[:3], *lines[6:10], *lines[3:6], lines[10]])
    changes = diff(parse(PAGE), parse(moved))
    assert {type(edit) for edit in changes.edits} == {Moved}
    assert changes.of(Moved)[0].ref.name == "Ada"
    assert changes.of(Moved)[0].target.path[-1] == 'list "Done"'


def test_rows_that_change_places_have_moved() -> None:
    lines = PAGE.split("\n")
    swapped = "\n".join([*lines[:3], *lines[6:9], *lines[3:6], *lines[9:]])
    changes = diff(parse(PAGE), parse(swapped))
    assert {type(edit) for edit in changes.edits} == {Moved}
    assert len(changes) == 3


def test_a_new_wrapper_keeps_what_it_wraps() -> None:
    lines = PAGE.split("\n")
    wrapped = "\n".join([*lines[:2], "\t\t[9] region 'New'", *("\t" + line for line in lines[2:])])
    changes = diff(parse(PAGE), parse(wrapped))
    assert [edit.ref.name for edit in changes.of(Added)] == ["New"]
    assert not changes.of(Removed) and not changes.of(Changed)


def test_a_part_that_loses_its_only_ancestor_has_moved_to_the_top() -> None:
    a, b = parse("dialog 'd'\n\tlist 'l'\n\t\tlink 'x'"), parse("list 'l'\n\tlink 'x'")
    changes = diff(a, b)
    assert [type(edit) for edit in changes.edits] == [Removed, Moved]
    assert apply(a, changes) == b


def test_equal_parts_inside_and_outside_of_a_moved_part_are_not_matched_twice() -> None:
    part = "\t\tgroup 'O'\n\t\t\tlink 'n'"
    a = parse(f"RootWebArea 'x'\n\tmain ''\n\t\tlink 'n'\n{part}")
    b = parse(f"RootWebArea 'x'\n\tcomplementary ''\n{part}\n\t\tlink 'n'")
    matching = match(a, b)
    assert all(matching.a_of[j] == i for i, j in enumerate(matching.b_of) if j >= 0)
    assert apply(a, diff(a, b)) == b


def test_rows_without_names_are_told_apart_by_their_cells() -> None:
    def table(*rows: tuple[str, str]) -> str:
        cells = [f"\t\trow ''\n\t\t\tcell {name!r}\n\t\t\tcell {count!r}" for name, count in rows]
        return "\n".join(["RootWebArea 'T'", "\ttable ''", *cells])

    before = table(("Ada", "1"), ("Bob", "2"), ("Cy", "3"))
    after = table(("New", "9"), ("Ada", "1"), ("Bob", "5"), ("Cy", "7"))
    assert edits(before, after) == [
        ("Changed", "cell", "2"),
        ("Changed", "cell", "3"),
        ("Added", "row", ""),
        ("Added", "cell", "New"),
        ("Added", "cell", "9"),
    ]


def test_another_page_is_one_page_replaced_under_the_same_root() -> None:
    kinds = edits("RootWebArea 'A'\n\tlink 'x y'\n\theading 'one'", "RootWebArea 'B'\n\ttable ''\n\t\tcell 'two'")
    assert kinds[:3] == [("Removed", "link", "x y"), ("Removed", "heading", "one"), ("Changed", "RootWebArea", "A")]


def test_true_and_one_are_different_values() -> None:
    a, b = parse("slider 'x' value=1"), parse("slider 'x' value=True")
    assert apply(a, diff(a, b)).to_text() == b.to_text()
    assert diff(a, b).of(Changed)[0].fields == (("value", 1, True),)


def test_edits_for_another_tree_are_refused() -> None:
    changes = diff(parse(PAGE), parse(without_lines(PAGE, 3, 4, 5)))
    with pytest.raises(UsageError, match="no listitem 'Ada' at node 3"):
        apply(parse("RootWebArea 'x'"), changes)
    added = diff(Tree(), parse(PAGE))
    with pytest.raises(UsageError, match="do not fit"):
        apply(Tree(), Diff(added.edits[1:]))


def test_deep_and_wide_trees_are_compared_without_recursion() -> None:
    deep = Tree.from_depths(parse("\n".join(f"link 'l{i}'" for i in range(5000))).nodes, range(5000))
    wide = parse("\n".join(["list ''", *(f"\tlistitem '{i % 7}'" for i in range(5000))]))
    reverse = parse("\n".join(["list ''", *(f"\tlistitem '{i}'" for i in range(5000, 0, -1))]))
    for a in (deep, wide, reverse):
        for b in (deep, wide, reverse):
            a, b = normalise(a), normalise(b)
            assert apply(a, diff(a, b)) == b
