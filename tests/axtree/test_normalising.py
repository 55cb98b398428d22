"""normalise: removes what differs between recordings of one page, and only that."""

from __future__ import annotations

from hypothesis import given

from harness.axtree import Tree, normalise, parse
from tests.axtree.strategies import trees

TEXT = """RootWebArea 'Shop', focused
\t[5] button 'Buy  it\tnow', visible
\t\tStaticText 'Buy  it\tnow'
\t\t\tInlineTextBox 'Buy  it'
\t\t\tInlineTextBox 'now'
\t[6] paragraph ''
\t\tStaticText 'Total'
\t\t\tInlineTextBox 'Total'
\t\tLineBreak '\\n'
\t\tStaticText '5 €'"""


def test_layout_nodes_repeated_text_bids_and_white_space_go() -> None:
    assert normalise(parse(TEXT)).to_text() == (
        "RootWebArea 'Shop', focused\n\tbutton 'Buy it now', visible\n"
        "\tparagraph ''\n\t\tStaticText 'Total'\n\t\tStaticText '5 €'"
    )


def test_each_option_switches_one_step() -> None:
    tree = parse(TEXT)
    assert normalise(tree, drop_bids=False).nodes[1].bid == "5"
    assert normalise(tree, collapse_whitespace=False).nodes[1].name == "Buy  it\tnow"
    assert "StaticText 'Buy it now'" in normalise(tree, drop_repeated_text=False).to_text()
    assert "InlineTextBox 'now'" not in normalise(tree, drop_repeated_text=False).to_text()
    assert "InlineTextBox 'Total'" in normalise(tree, drop_roles=()).to_text()
    assert "visible" not in normalise(tree, drop_properties={"visible"}).to_text()
    assert "paragraph" not in normalise(tree, drop_roles={"paragraph"}).to_text()


def test_both_text_forms_of_a_page_become_equal() -> None:
    webarena = parse(
        "Tab 0 (current): x\n\n[1] RootWebArea 'x' focused: True\n\t[4] textbox 'Name' required: False hasPopup: menu"
    )
    browsergym = parse("RootWebArea 'x', focused\n\t[a9] textbox 'Name', hasPopup='menu'\noops")
    assert normalise(webarena) == normalise(browsergym)


@given(trees())
def test_idempotent(tree: Tree) -> None:
    once = normalise(tree)
    assert normalise(once) == once
    assert parse(once.to_text()) == once


@given(trees())
def test_independent_of_bids(tree: Tree) -> None:
    other = Tree(tuple(node._replace(bid=None) for node in tree.nodes), tree.parents)
    assert normalise(tree) == normalise(other)
