"""Trees of real pages in real Chromium, printed by BrowserGym's and WebArena's own code: read exactly, node by node.

The oracle is Chromium's own list of nodes, not another text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import miniwob
import pytest
from browsergym.core.observation import _post_extract, _pre_extract, extract_merged_axtree
from browsergym.utils.obs import flatten_axtree_to_str
from hypothesis import given
from hypothesis import strategies as st

from harness.axtree import apply, describe, diff, find, normalise, parse
from tests.axtree.strategies import NAMES, ROLES, VALUES

PAGES = sorted((Path(__file__).parents[1] / "pages" / "axtree").glob("*.html"))
MINIWOB = Path(miniwob.__file__).parent / "html" / "miniwob"
TASKS = ("login-user", "click-checkboxes-large", "book-flight", "email-inbox", "social-media", "choose-date", "use-slider")
ALL_PAGES = [*PAGES, *(MINIWOB / f"{task}.html" for task in TASKS)]


def extract(page: Any, path: Path) -> dict[str, Any]:
    """Chromium's tree with BrowserGym's bids."""
    page.goto(path.as_uri())
    if path.parent == MINIWOB:
        page.evaluate("Math.seedrandom('5'); core.startEpisodeReal()")
    _pre_extract(page)
    try:
        tree: dict[str, Any] = extract_merged_axtree(page)
    finally:
        _post_extract(page)
    return tree


def printed_nodes(tree: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    """(role, name, bid) of what BrowserGym prints with all its filters off, straight from Chromium's nodes."""
    by_id = {node["nodeId"]: node for node in tree["nodes"]}
    found: list[tuple[str, str, str | None]] = []
    todo = [tree["nodes"][0]["nodeId"]]
    while todo:
        node = by_id.get(todo.pop())
        if node is None:
            continue
        if "name" in node:
            found.append((node["role"]["value"], node["name"]["value"].strip(), node.get("browsergym_id")))
        todo.extend(reversed(node["childIds"]))
    return found


@pytest.mark.browser
@pytest.mark.parametrize("path", ALL_PAGES, ids=lambda path: path.stem)
def test_every_node_of_a_real_page_is_read(page: Any, path: Path) -> None:
    chromium = extract(page, path)
    text = flatten_axtree_to_str(chromium, ignored_roles=(), skip_generic=False, remove_redundant_static_text=False)
    tree = parse(text)
    assert tree.to_text() == text
    assert (tree.malformed_lines, dict(tree.verbatim)) == (0, {})
    assert [(node.role, node.name, node.bid) for node in tree.nodes] == printed_nodes(chromium)
    assert len(tree) > 10


@pytest.mark.browser
@pytest.mark.parametrize("path", ALL_PAGES, ids=lambda path: path.stem)
def test_a_reload_is_no_change_and_every_element_is_found_again(page: Any, path: Path) -> None:
    first = parse(flatten_axtree_to_str(extract(page, path)))
    again = parse(flatten_axtree_to_str(extract(page, path), ignored_roles=("LineBreak", "InlineTextBox")))
    assert normalise(first) == normalise(again)
    for bid in first.by_bid:
        assert bid in find(again, describe(first, bid))


@pytest.mark.browser
def test_what_a_click_changes_is_what_the_diff_says(page: Any) -> None:
    path = PAGES[0]
    before = normalise(parse(flatten_axtree_to_str(extract(page, path))))
    page.get_by_label("I agree").uncheck()
    page.get_by_label("Name", exact=True).fill("Bob")
    _pre_extract(page)
    after = normalise(parse(flatten_axtree_to_str(extract_merged_axtree(page))))
    changes = diff(before, after)
    assert apply(before, changes) == after
    assert len(changes) <= 6
    fields = {(edit.ref.role, edit.ref.name, field[0]) for edit in changes.edits for field in getattr(edit, "fields", ())}
    assert ("checkbox", "I agree", "checked") in fields
    assert ("textbox", "Name", "value") in fields


@pytest.mark.browser
@pytest.mark.webarena
@pytest.mark.parametrize("path", ALL_PAGES, ids=lambda path: path.stem)
def test_what_webarenas_own_printer_writes_is_read_exactly(page: Any, path: Path) -> None:
    processors = pytest.importorskip("webarena.browser_env.processors")
    # The two additions stand for a step of WebArena's that looks up the place of each node.
    nodes = [{"backendDOMNodeId": 0, **node, "union_bound": [0, 0, 1, 1]} for node in extract(page, path)["nodes"]]
    # WebArena shows Chromium's node ids, which were numbers in its time.
    renamed = {node["nodeId"]: str(number) for number, node in enumerate(nodes, start=1)}
    for node in nodes:
        node["nodeId"] = renamed[node["nodeId"]]
        node["childIds"] = [renamed[child] for child in node["childIds"] if child in renamed]
    content, info = processors.TextObervationProcessor.parse_accessibility_tree(nodes)
    text = f"Tab 0 (current): {page.title()}\n\n{content}"
    tree = parse(text)
    assert tree.to_text() == text
    assert (tree.style, tree.malformed_lines, dict(tree.verbatim)) == ("webarena", 0, {})
    assert [node.bid for node in tree.nodes] == list(info)


@st.composite
def cdp_trees(draw: st.DrawFn) -> dict[str, Any]:
    """Trees as Chromium's protocol gives them, with any text in any field."""
    count = draw(st.integers(1, 12))
    nodes: list[dict[str, Any]] = []
    for index in range(count):
        node: dict[str, Any] = {"nodeId": str(index), "role": {"value": draw(st.sampled_from(ROLES))}, "childIds": []}
        node["name"] = {"value": draw(NAMES)}
        if draw(st.booleans()):
            node["value"] = {"value": draw(VALUES)}
        if draw(st.booleans()):
            node["browsergym_id"] = f"a{index}"
        names = draw(st.lists(st.sampled_from(["checked", "focused", "required", "url", "hasPopup"]), unique=True, max_size=3))
        node["properties"] = [{"name": name, "value": {"value": draw(VALUES)}} for name in names]
        nodes.append(node)
        if index:
            nodes[draw(st.integers(0, index - 1))]["childIds"].append(str(index))
    return {"nodes": nodes}


@given(cdp_trees(), st.booleans())
def test_whatever_browsergym_prints_is_read_without_loss(tree: dict[str, Any], visible: bool) -> None:
    properties = {
        f"a{i}": {"visibility": i % 2, "bbox": (1, 2, 3, 4), "clickable": i % 3, "set_of_marks": True} for i in range(99)
    }
    text = flatten_axtree_to_str(
        tree,
        properties,
        with_visible=visible,
        with_clickable=True,
        with_som=visible,
        with_center_coords=visible,
        with_bounding_box_coords=visible,
    )
    read = parse(text)
    assert read.to_text() == text
    assert read.malformed_lines == 0
    assert len(read) == (text.count("\n") + 1 if text else 0)
