"""A tree that can be edited in place, and whose original nodes keep their names while it changes.

A line of edits names nodes as the page before showed them: `link "View" #2` is the second such link of that page,
whatever earlier lines did. Nodes that lines added have no name. `it` is the acted element, `page` the root.

    WorkingTree(tree, it)
      find(role, name, k)  →  WorkingNode         names cut at MAX_NAME_CHARS: what a reference shows
      to_tree()            →  Tree                bids of survivors kept, new ones for new nodes
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from harness.axtree import Node, PropertyValue, Tree

MAX_NAME_CHARS: Final = 40
"""Of a name in a reference; longer ones are cut and end in `…`."""

PAGE, IT = "page", "it"

_ORDER: Final = (
    "disabled", "invalid", "focused", "hasPopup", "autocomplete", "multiselectable", "orientation", "checked", "pressed",
    "selected", "expanded", "required", "readonly", "valuemin", "valuemax", "valuetext", "live", "atomic", "relevant", "busy",
    "owns", "controls",
)  # fmt: skip
"""Chromium's order of states; others follow in the order in which they come."""
_RANK: Final = {key: rank for rank, key in enumerate(_ORDER)}


@dataclass(eq=False, slots=True)
class WorkingNode:
    role: str
    name: str
    bid: str | None = None
    value: PropertyValue | None = None
    states: dict[str, PropertyValue] = field(default_factory=dict)
    children: list[WorkingNode] = field(default_factory=list)
    parent: WorkingNode | None = None
    dropped: bool = False
    """Gone at the end with all below it; until then it still marks its place."""

    def set_state(self, key: str, value: PropertyValue) -> None:
        """Set a state; a new one takes its place in Chromium's order."""
        if key in self.states or key not in _RANK:
            self.states[key] = value
            return
        items = list(self.states.items())
        place = next((i for i, (other, _) in enumerate(items) if _RANK.get(other, -1) > _RANK[key]), len(items))
        self.states = dict([*items[:place], (key, value), *items[place:]])

    def insert(self, index: int, child: WorkingNode) -> int:
        """Put `child` before what is now the `index`-th child, out of its old place if it had one; its index then."""
        if child.parent is not None:
            old = child.parent.children.index(child)
            del child.parent.children[old]
            if child.parent is self and old < index:
                index -= 1
        child.parent = self
        self.children.insert(index, child)
        return index

    def is_above(self, other: WorkingNode) -> bool:
        """Is `other` this node or below it?"""
        node: WorkingNode | None = other
        while node is not None:
            if node is self:
                return True
            node = node.parent
        return False


class WorkingTree:
    """A copy of `tree`, to be edited. `it` is the index of the acted element, None where there is none."""

    def __init__(self, tree: Tree, it: int | None = None) -> None:
        self.top = WorkingNode("", "")
        self.originals: list[WorkingNode] = []
        self._indices: dict[tuple[str, str], list[int]] = {}
        for (role, name, bid, value, properties), parent in zip(tree.nodes, tree.parents, strict=True):
            above = self.top if parent < 0 else self.originals[parent]
            node = WorkingNode(role, name, bid, value, dict(properties), parent=above)
            above.children.append(node)
            self.originals.append(node)
            self._indices.setdefault((role, short(name)), []).append(len(self.originals) - 1)
        self.it = None if it is None else self.originals[it]

    @property
    def page(self) -> WorkingNode | None:
        return self.originals[0] if self.originals else None

    def find(self, role: str, name: str, k: int) -> WorkingNode | None:
        """The `k`-th (from 1) original node that a reference shows so."""
        same = self._indices.get((role, name), [])
        return self.originals[same[k - 1]] if 0 < k <= len(same) else None

    def same_as(self, index: int | None) -> list[int]:
        """Indices of the original nodes that a reference shows like the one at `index`, in document order."""
        if index is None:
            return []
        node = self.originals[index]
        return self._indices[node.role, short(node.name)]

    def named(self, name: str) -> list[WorkingNode]:
        """Original nodes with exactly this name, as it is now."""
        return [node for node in self.originals if node.name == name and not node.dropped]

    def focus(self, target: WorkingNode | None) -> None:
        """Move the focus to `target`, or take it away; the page itself keeps its own."""
        todo = [*self.top.children]
        while todo:
            node = todo.pop()
            todo.extend(node.children)
            if node is not self.page and node is not target:
                node.states.pop("focused", None)
        if target is not None:
            target.set_state("focused", True)

    def to_tree(self) -> Tree:
        """The tree as it stands, without dropped subtrees."""
        fresh = max((int(node.bid) for node in self.originals if _is_number(node.bid)), default=0) + 1  # type: ignore[arg-type]
        nodes: list[Node] = []
        parents: list[int] = []
        for node, parent in self._alive():
            bid = node.bid
            if bid == "":
                bid, fresh = str(fresh), fresh + 1
            nodes.append(Node(node.role, node.name, bid, node.value, tuple(node.states.items())))
            parents.append(parent)
        return Tree(tuple(nodes), tuple(parents))

    def original_indices(self) -> list[int | None]:
        """For each node of `to_tree()` its index in the tree before; None for a new one."""
        index_of = {id(node): index for index, node in enumerate(self.originals)}
        return [index_of.get(id(node)) for node, _ in self._alive()]

    def _alive(self) -> Iterator[tuple[WorkingNode, int]]:
        """Nodes that are not dropped, in document order, each with the place of its parent."""
        place = 0
        todo = [(node, -1) for node in reversed(self.top.children)]
        while todo:
            node, parent = todo.pop()
            if not node.dropped:
                todo.extend((child, place) for child in reversed(node.children))
                yield node, parent
                place += 1


def _is_number(bid: str | None) -> bool:
    return bid is not None and bid.isascii() and bid.isdigit() and len(bid) < 10


def short(name: str) -> str:
    """A name as references show it."""
    return name if len(name) <= MAX_NAME_CHARS else name[: MAX_NAME_CHARS - 1] + "…"
