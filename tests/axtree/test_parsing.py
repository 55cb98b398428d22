"""parse and to_text: exact round trips of both forms, nothing lost and nothing raised on any text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.axtree import Node, RawLiteral, Tree, parse
from tests.axtree.strategies import HOSTILE, trees


@given(trees())
def test_browsergym_trees_print_and_parse_back(tree: Tree) -> None:
    back = parse(tree.to_text())
    assert back == tree
    assert back.labels == tree.labels
    assert not back.verbatim and not back.malformed_lines


@given(trees("webarena").filter(lambda tree: any(node.properties for node in tree.nodes)))
def test_webarena_trees_print_and_parse_back(tree: Tree) -> None:
    back = parse(tree.to_text())
    assert back == tree
    assert not back.verbatim and not back.malformed_lines


LINES = st.sampled_from(
    [
        "[1] RootWebArea 'x' focused: True",
        "RootWebArea 'x', focused",
        "\t\t\t[2] button 'deep'",
        "  [3] link 'spaces'",
        '\t[4] link "double"',
        "\tlink 'unclosed",
        "[5] button",
        "generic",
        "\tgeneric ''",
        "prose: a page",
        "",
        "Tab 0 (current): t | Tab 1: u\n",
        "\tslider 'x' value=5, valuemax=9.50, checked=mixed, owns=[1, 2], required=False",
        "\t[6] textbox 'a' value='it\\'s', required: True",
        "\tbutton 'x', , visible",
        "\tbutton '\\q\\x4'",
        "\r",
        "\x00",
    ]
)


@example("Tab 0 (current): t\n\nno node at all")
@given(st.text(max_size=300) | st.lists(LINES, max_size=12).map("\n".join))
def test_any_text_is_read_without_loss(text: str) -> None:
    assert parse(text).to_text() == text


def test_a_browsergym_text_in_full() -> None:
    text = "\n".join(
        [
            "RootWebArea 'Shop', focused",
            "\t[12] navigation 'Main', visible",
            "\t\t[13] link \"It's\", clickable, visible, url='http://a/?b=1,c=2'",
            "\t[a4] slider 'Size' value=5, valuemin=0, valuemax=9.5, orientation='horizontal'",
            "\t[15] checkbox 'I agree', checked='false', required",
            "\t[16] generic, expanded=False, owns=[1, 2]",
            "\tStaticText 'two\\nlines \\u2028'",
            "\t[17] button '', center=\"(1,2)\"",
        ]
    )
    tree = parse(text)
    assert (tree.to_text(), tree.malformed_lines, dict(tree.verbatim)) == (text, 0, {})
    assert tree.parents == (-1, 0, 1, 0, 0, 0, 0, 0)
    assert tree.nodes[2] == Node(
        "link", "It's", "13", None, (("clickable", True), ("visible", True), ("url", "http://a/?b=1,c=2"))
    )
    assert (tree.nodes[3].value, tree.nodes[3].get("valuemax"), tree.nodes[3].get("step")) == (5, 9.5, None)
    assert tree.nodes[4].properties == (("checked", "false"), ("required", True))
    assert tree.nodes[5].get("owns") == RawLiteral("[1, 2]")
    assert tree.nodes[6].name == "two\nlines \u2028"
    assert tree.by_bid["a4"] == 3


def test_a_webarena_text_in_full() -> None:
    text = "\n".join(
        [
            "Tab 0 (current): Shop | Tab 1: Other",
            "",
            "[1] RootWebArea 'Shop' focused: True url: http://a/ b",
            "\t[7] button 'Menu' hasPopup: menu expanded: False",
            "\t\t[9] StaticText 'a: b'",
        ]
    )
    tree = parse(text)
    assert (tree.to_text(), tree.style, tree.malformed_lines, dict(tree.verbatim)) == (text, "webarena", 0, {})
    assert tree.header.startswith("Tab 0") and tree.parents == (-1, 0, 1)
    assert tree.nodes[0].properties == (("focused", True), ("url", "http://a/ b"))
    assert tree.nodes[1].properties == (("hasPopup", "menu"), ("expanded", False))


def test_lines_that_cannot_be_read_are_counted_and_do_not_adopt_children() -> None:
    text = "RootWebArea 'x'\n\t[1] list 'l'\nOh no\n\n\t\t[2] listitem 'i'\n"
    tree = parse(text)
    assert tree.malformed_lines == 1
    assert tree.parents == (-1, 0, 1)
    assert tree.to_text() == text


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_cannot_forge_a_node(name: str) -> None:
    tree = Tree((Node("RootWebArea", "x"), Node("link", name.strip(), "1")), (-1, 0))
    assert parse(tree.to_text()) == tree


def test_a_tree_must_be_in_document_order() -> None:
    node = Node("link", "x")
    for parents in [(0,), (-1, 1), (-1, 0, -1, 1), (-1, 5)]:
        with pytest.raises(ValueError, match="document order"):
            Tree((node,) * len(parents), parents)
    with pytest.raises(ValueError, match="length"):
        Tree((node,), ())


def test_trees_are_frozen() -> None:
    tree = parse("link 'x'\n  link 'y'")
    with pytest.raises(AttributeError):
        tree.nodes = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        tree.verbatim[0] = ""  # type: ignore[index]


def test_a_hostile_text_is_read_in_linear_time() -> None:
    """Each of these takes minutes if a step is quadratic in the length (pytest-timeout ends it)."""
    for text in (
        "\n".join("\t" * 300 + f"[{i}] button '" for i in range(20_000)),
        "button '" + "\\" * 1_000_001,
        "[1] link 'x'" + " a: " * 200_000,
        "[1] link 'x'" + ", a=[" * 200_000,
        "\n" * 200_000,
        "x\n" * 100_000,
        "\n".join("\t" * (i % 3000) + f"[{i}] link 'x'" for i in range(6000)),
    ):
        assert parse(text).to_text() == text
