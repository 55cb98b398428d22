"""What of a page is compared, and what is left out."""

from __future__ import annotations

import pytest
from hypothesis import given

from audits.fidelity import Element, read_page
from audits.fidelity.pages import plain_url
from harness.types import Observation, OpenPage
from tests.audits.fidelity.factory import PATIENT, page
from tests.axtree.strategies import trees


def test_bids_focus_and_layout_do_not_count_states_and_values_do() -> None:
    one = page("[12] textbox 'Name' value='Ada', focused, required", "[13] checkbox 'Agree', checked='true', visible")
    other = page("[99] textbox 'Name' value='Ada'", "[7] checkbox 'Agree', checked='true'")
    assert read_page(one).nodes == read_page(other).nodes
    assert read_page(one).nodes[1:] == (
        Element("textbox", "Name", "Ada"),
        Element("checkbox", "Agree", "", ("checked=true",)),
    )


@pytest.mark.parametrize(
    "line",
    [
        "checkbox 'Agree', checked='false'",
        "checkbox 'Agree'",
        "checkbox 'agree', checked='true'",
        "radio 'Agree', checked='true'",
    ],
)
def test_another_state_name_or_role_is_another_element(line: str) -> None:
    assert read_page(page("checkbox 'Agree', checked='true'")).elements != read_page(page(line)).elements


def test_nameless_wrappers_go_and_named_ones_stay() -> None:
    wrapped = page("[1] generic", "\t[2] button 'OK'", "[3] generic 'Say', visible", "\tStaticText 'Say'")
    assert read_page(wrapped).nodes[1:] == (Element("button", "OK"), Element("generic", "Say"))
    assert read_page(page("[2] button 'OK'")).places[1] == read_page(wrapped).places[1], "a wrapper is no place"


def test_another_title_moves_no_node_but_another_parent_does() -> None:
    here = read_page(page("list ''", "\tbutton 'OK'", title="One"))
    assert read_page(page("list ''", "\tbutton 'OK'", title="Two")).places[1:] == here.places[1:]
    assert read_page(page("list 'x'", "\tbutton 'OK'", title="One")).places[2] != here.places[2]


def test_order_and_tabs_are_part_of_a_page_fragments_are_not() -> None:
    a, b = page("link 'A'", "link 'B'"), page("link 'B'", "link 'A'")
    assert read_page(a).elements == read_page(b).elements
    assert not read_page(a).same_as(read_page(b))
    assert read_page(a).same_as(read_page(a.model_copy(update={"url": a.url + "#top"})))
    second = (*a.open_pages, OpenPage(url="about:blank", title=""))
    assert not read_page(a).same_as(read_page(a.model_copy(update={"open_pages": second})))


@pytest.mark.parametrize(
    ("url", "plain"),
    [("HTTP://A.example/B/?q=1#x", "http://a.example/B?q=1"), ("about:blank", "about:blank"), ("http://[oops", "http://[oops")],
)
def test_urls(url: str, plain: str) -> None:
    assert plain_url(url) == plain


@PATIENT
@given(trees())
def test_any_tree_is_read(tree: object) -> None:
    text = tree.to_text()  # type: ignore[attr-defined]
    found = read_page(Observation(url="", axtree=text))
    assert len(found.nodes) == len(found.places) == sum(found.elements.values())


def test_a_deep_and_broken_tree_is_read() -> None:
    lines = ["\t" * depth + f"[{depth}] listitem 'row {depth}'" for depth in range(3000)]
    assert len(read_page(Observation(url="", axtree="\n".join([*lines, "???", "\ud800"]))).nodes) >= 3000
