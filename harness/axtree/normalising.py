"""Make trees from different recorders comparable.

What a tree says is the same whether Chromium added `InlineTextBox` leaves (version 156 does), whether the recorder
printed WebArena's form or BrowserGym's, and whichever bids the document happened to have. `normalise` removes these
differences and nothing else; each is an option. It is idempotent.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from harness.axtree.tree import Node, Properties, Tree

LAYOUT_ROLES: Final = frozenset({"InlineTextBox", "LineBreak"})
"""Roles of Chromium's layout, not of the page: their text stands in their parent."""

_FALSE_IS_ABSENT: Final = frozenset({"required", "focused", "atomic"})


def normalise(
    tree: Tree,
    *,
    drop_bids: bool = True,
    collapse_whitespace: bool = True,
    drop_repeated_text: bool = True,
    drop_roles: Collection[str] = LAYOUT_ROLES,
    drop_properties: Collection[str] = (),
) -> Tree:
    """`tree` without what differs between recordings of the same page, in BrowserGym's style.

    drop_bids            bids are counters of one loaded document
    collapse_whitespace  in names: any run of white space becomes one blank, ends are stripped
    drop_repeated_text   StaticText whose text is part of its parent's name (BrowserGym prints none of these)
    drop_roles           nodes that go; their children move up to the parent
    drop_properties      states to ignore, such as `visible` and `clickable`, which only some recorders print

    Always: header, unread lines and odd spellings go, and `required`, `focused`, `atomic` only stay if true.
    """
    nodes: list[Node] = []
    parents: list[int] = []
    new_index: list[int] = []
    for node, old_parent in zip(tree.nodes, tree.parents, strict=True):
        role, name, bid, value, properties = node
        parent = new_index[old_parent] if old_parent >= 0 else -1
        if collapse_whitespace:
            name = " ".join(name.split())
        repeated = drop_repeated_text and role == "StaticText" and parent >= 0 and name in nodes[parent].name
        if repeated or role in drop_roles:
            new_index.append(parent)
            continue
        new_index.append(len(nodes))
        parents.append(parent)
        kept = _kept(properties, drop_properties) if properties else properties
        nodes.append(Node(role, name, None if drop_bids else bid, value, kept))
    return Tree(tuple(nodes), tuple(parents))


def _kept(properties: Properties, dropped: Collection[str]) -> Properties:
    return tuple(
        (key, value) for key, value in properties if key not in dropped and not (value is False and key in _FALSE_IS_ABSENT)
    )
