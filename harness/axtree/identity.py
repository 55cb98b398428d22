"""Which element is meant, in terms that survive a reload: role, name, value, path, k of N, landmark, neighbours.

describe(tree, "12")  →  TargetDescriptor(role="button", name="Delete", path=('main', 'row "Ada"'), index=1, count=3)
find(other, target)   →  ["47"]      one bid: found; several: ambiguous; none: gone
"""

from __future__ import annotations

from typing import Final

from harness.axtree.tree import Node, Tree
from harness.errors import UsageError
from harness.types import TargetDescriptor

DECORATIVE_ROLES: Final = frozenset({"generic", "none", "presentation", "InlineTextBox", "LineBreak"})
"""Roles that say nothing about an element; pages gain and lose such wrappers without a visible change."""

LANDMARK_ROLES: Final = frozenset(
    {
        "banner",
        "complementary",
        "contentinfo",
        "dialog",
        "alertdialog",
        "form",
        "main",
        "navigation",
        "region",
        "search",
    }
)
"""ARIA's landmarks, and dialogs, which work like one."""

INTERACTIVE_ROLES: Final = frozenset(
    {
        "button",
        "checkbox",
        "combobox",
        "gridcell",
        "link",
        "listbox",
        "menuitem",
        "menuitemcheckbox",
        "menuitemradio",
        "option",
        "radio",
        "searchbox",
        "slider",
        "spinbutton",
        "switch",
        "tab",
        "textbox",
        "treeitem",
    }
)
"""Roles that an agent can act on."""

MAX_PATH: Final = 64
"""Ancestors kept, the nearest: a hostile page nests thousands, and every node would carry them all."""


def describe(tree: Tree, bid: str) -> TargetDescriptor:
    """The element `bid` of `tree`. Raises UsageError if the tree has no such bid."""
    index = tree.by_bid.get(bid)
    if index is None:
        raise UsageError(f"the tree has no element {bid!r}", fix="take the bid from the same observation")
    return describe_index(tree, index)


def describe_index(tree: Tree, index: int) -> TargetDescriptor:
    """The node at `index` of `tree`."""
    return _describe(tree, index, _namesakes(tree, tree.nodes[index].role, _text(tree.nodes[index].name)))


def _describe(tree: Tree, index: int, same: list[int]) -> TargetDescriptor:
    node = tree.nodes[index]
    ancestors = tree.ancestors(index)
    landmarks = (title(tree.nodes[i]) for i in ancestors if tree.nodes[i].role in LANDMARK_ROLES)
    return TargetDescriptor(
        role=node.role,
        name=_text(node.name),
        value=_value(node),
        path=path_of(tree, index),
        index=same.index(index),
        count=len(same),
        landmark=next(landmarks, ""),
        neighbours=_neighbours(tree, index, ancestors),
    )


def find(tree: Tree, target: TargetDescriptor) -> list[str]:
    """Bids of the nodes of `tree` that `target` can mean, in document order.

    Role and name must be equal. Path, landmark, value, neighbours and k of N (if N is the same) then narrow the
    candidates, each only if it leaves one: they decide between namesakes, and never make a sole element vanish.
    """
    same = _namesakes(tree, target.role, target.name)
    candidates = [index for index in same if tree.nodes[index].bid is not None]
    if len(candidates) > 1:
        candidates = _narrow(tree, candidates, same, target)
    return [bid for index in candidates if (bid := tree.nodes[index].bid) is not None]


def _namesakes(tree: Tree, role: str, name: str) -> list[int]:
    return [index for index, node in enumerate(tree.nodes) if node.role == role and _text(node.name) == name]


def _narrow(tree: Tree, candidates: list[int], same: list[int], target: TargetDescriptor) -> list[int]:
    described = {index: _describe(tree, index, same) for index in candidates}
    for field in ("path", "landmark", "value", "neighbours"):
        wanted = getattr(target, field)
        equal = [index for index in candidates if getattr(described[index], field) == wanted]
        candidates = equal or candidates
        if len(candidates) == 1:
            return candidates
    return [
        index for index in candidates if described[index].count != target.count or described[index].index == target.index
    ] or candidates


def path_of(tree: Tree, index: int, known: dict[int, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """Ancestors of a node from the root, each as `role "name"`, without decorative ones.

    `known` keeps the paths of inner nodes between calls on one tree; it starts as {-1: ()}.
    """
    paths: dict[int, tuple[str, ...]] = {-1: ()} if known is None else known
    todo: list[int] = []
    parent = tree.parents[index]
    while parent not in paths:
        todo.append(parent)
        parent = tree.parents[parent]
    # `paths[i]` is the path of i's children: that of i, and i itself unless decorative.
    for inner in reversed(todo):
        node = tree.nodes[inner]
        above = paths[tree.parents[inner]]
        paths[inner] = above if node.role in DECORATIVE_ROLES else (*above, title(node))[-MAX_PATH:]
    return paths[tree.parents[index]]


def _neighbours(tree: Tree, index: int, ancestors: list[int]) -> tuple[str, str]:
    """Names of the nearest named nodes before and after, empty at an end; ancestors and descendants do not count."""
    above = set(ancestors)
    before = (_text(tree.nodes[i].name) for i in range(index - 1, -1, -1) if i not in above)
    after = (_text(node.name) for node in tree.nodes[tree.ends[index] :])
    return next(filter(None, before), ""), next(filter(None, after), "")


def title(node: Node) -> str:
    """`role "name"`, or the role alone of a nameless node."""
    name = _text(node.name)
    return f'{node.role} "{name}"' if name else node.role


def _value(node: Node) -> str:
    return "" if node.value is None else _text(str(node.value))


def _text(text: str) -> str:
    """White space collapsed; lone surrogates, which no file can hold, replaced."""
    collapsed = " ".join(text.split())
    return collapsed if collapsed.isascii() else collapsed.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
