"""Hypothesis strategies: trees of both styles with hostile names, and pairs where one tree is an edited other."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.axtree import Node, PropertyValue, Style, Tree

ROLES = (
    "RootWebArea", "main", "navigation", "list", "listitem", "row", "link", "button", "checkbox", "textbox",
    "StaticText", "generic", "InlineTextBox", "LabelText", "doc-abstract",
)  # fmt: skip
HOSTILE = (
    "", "OK", "OK", "Cart (2)", "it's", 'say "hi"', "both ' and \"", "a\nb", "\t[5] button 'x'", "\\", "\\n", "', visible",
    "x' value='y", "], [", "\u2028", "\x85", "\ud800", "😀", "\u202eabc", "focused: True", " lead", "a" * 300, "—",
)  # fmt: skip
NAMES = st.sampled_from(HOSTILE) | st.text(max_size=12)
BIDS = st.none() | st.from_regex(r"\A[A-Za-z]{0,2}[0-9]{1,4}\Z")
VALUES: st.SearchStrategy[PropertyValue] = (
    NAMES | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False)
)
KEYS = st.sampled_from(["checked", "expanded", "focused", "visible", "hasPopup", "valuemax", "url", "box", "required"])
PROPERTIES = st.lists(st.tuples(KEYS, VALUES), max_size=3, unique_by=lambda pair: pair[0]).map(tuple)
WEBARENA_PROPERTIES = st.lists(
    st.tuples(KEYS, st.booleans() | st.integers(-1000, 1000) | st.sampled_from(["menu", "http://a/?b=1", "two words"])),
    max_size=3,
    unique_by=lambda pair: pair[0],
).map(tuple)


@st.composite
def trees(draw: st.DrawFn, style: Style = "browsergym", max_nodes: int = 25) -> Tree:
    """A tree as its writer would print it: BrowserGym strips names and omits false flags, WebArena numbers all nodes."""
    count = draw(st.integers(0, max_nodes))
    nodes: list[Node] = []
    parents: list[int] = []
    path: list[int] = []
    for index in range(count):
        role, name = draw(st.sampled_from(ROLES)), draw(NAMES)
        if style == "webarena":
            node = Node(role, name, str(draw(st.integers(1, 9999))), None, draw(WEBARENA_PROPERTIES))
        else:
            value = draw(st.none() | VALUES) if role != "generic" else None
            node = Node(role, name.strip(), draw(BIDS), value, draw(PROPERTIES))
        depth = draw(st.integers(0, len(path)))
        del path[depth:]
        parents.append(path[-1] if path else -1)
        path.append(index)
        nodes.append(node)
    return Tree(tuple(nodes), tuple(parents), style)


@st.composite
def edited_pairs(draw: st.DrawFn) -> tuple[Tree, Tree]:
    """A tree and what a few page-like changes make of it: drop, copy, move or wrap a subtree, rename a node."""
    before = draw(trees(max_nodes=30))
    nodes, depths = list(before.nodes), list(before.depths)
    for _ in range(draw(st.integers(0, 5))):
        if not nodes:
            break
        start = draw(st.integers(0, len(nodes) - 1))
        end = start + 1
        while end < len(nodes) and depths[end] > depths[start]:
            end += 1
        change = draw(st.sampled_from(["drop", "copy", "move", "wrap", "rename", "state"]))
        part, part_depths = nodes[start:end], depths[start:end]
        if change == "rename":
            nodes[start] = nodes[start]._replace(name=draw(NAMES).strip())
        elif change == "state":
            nodes[start] = nodes[start]._replace(properties=draw(PROPERTIES))
        elif change == "wrap":
            nodes[start:end] = [Node(draw(st.sampled_from(ROLES)), "wrap"), *part]
            depths[start:end] = [depths[start], *(depth + 1 for depth in part_depths)]
        else:
            if change != "copy":
                del nodes[start:end], depths[start:end]
            if change != "drop":
                at = draw(st.integers(0, len(nodes)))
                nodes[at:at], depths[at:at] = part, part_depths
    return before, Tree.from_depths(nodes, depths)
