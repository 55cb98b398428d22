"""What changed between two trees, as edits that a program can apply and a person can read.

    diff(a, b)                 →  Diff(edits=(Removed, …, Changed, …, Moved, …, Added, …))
    apply(a, diff(a, b)) == b      for trees without bids (`normalise`); with bids, up to the bids

    Removed   a node of a that b lacks                     by its index in a
    Changed   same element, other name, value or states    by its index in a
    Moved     same element, other place                    by its index in a; where it stands in b
    Added     a node of b that a lacks                     by its index in b, with its parent's

Why these four are enough: everything not named survives in document order under the same parent. So in b the named
nodes stand where the edits say, and the survivors fill the other places in order. Elements that survive keep a's bid.

Each edit names its node twice: by index, which a program applies, and by role, name, path and k of N, which is stable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from harness.axtree.identity import path_of
from harness.axtree.matching import Matching, increasing, match
from harness.axtree.tree import Node, PropertyValue, Tree
from harness.errors import UsageError

_FIX = "apply a diff to the tree it was made for"


class NodeRef(NamedTuple):
    """A node of one tree. `k` of `n` nodes with this role and name, from 0, in document order."""

    at: int
    """Index in its tree."""
    role: str
    name: str
    k: int
    n: int
    path: tuple[str, ...]
    """Ancestors from the root, as in `TargetDescriptor.path`."""


class Removed(NamedTuple):
    ref: NodeRef
    node: Node
    parent: int
    """Index in a of its parent, -1 at the top."""


class Changed(NamedTuple):
    ref: NodeRef
    before: Node
    after: Node

    @property
    def fields(self) -> tuple[tuple[str, PropertyValue | None, PropertyValue | None], ...]:
        """(field, before, after) for each difference; field is `name`, `value` or a property; None = absent."""
        found: list[tuple[str, PropertyValue | None, PropertyValue | None]] = []
        if self.before.name != self.after.name:
            found.append(("name", self.before.name, self.after.name))
        if not _same(self.before.value, self.after.value):
            found.append(("value", self.before.value, self.after.value))
        old, new = dict(self.before.properties), dict(self.after.properties)
        found.extend((key, old.get(key), new.get(key)) for key in {**old, **new} if not _same(old.get(key), new.get(key)))
        return tuple(found)


class Moved(NamedTuple):
    ref: NodeRef
    target: NodeRef
    """The same element as a node of b."""
    parent: int
    """Index in b of its parent, -1 at the top."""


class Added(NamedTuple):
    ref: NodeRef
    node: Node
    parent: int
    """Index in b of its parent, -1 at the top."""


Edit = Removed | Changed | Moved | Added
_Kind = TypeVar("_Kind", Removed, Changed, Moved, Added)


@dataclass(frozen=True, slots=True)
class Diff:
    """The edits, in the order Removed, Changed, Moved (document order of a), Added (document order of b)."""

    edits: tuple[Edit, ...] = ()

    def __len__(self) -> int:
        return len(self.edits)

    def of(self, kind: type[_Kind]) -> list[_Kind]:
        """The edits of one kind."""
        return [edit for edit in self.edits if isinstance(edit, kind)]


def diff(a: Tree, b: Tree) -> Diff:
    """The edits that turn `a` into `b`. Bids, header and odd spellings of lines are not compared."""
    if b.style != a.style:
        b = Tree(b.nodes, b.parents, a.style)
    matching = match(a, b)
    moved = _moved(a, b, matching)
    refs_a, refs_b = _Refs(a), _Refs(b)
    removed = [Removed(refs_a.of(i), a.nodes[i], a.parents[i]) for i in range(len(a)) if matching.b_of[i] < 0]
    changed = [
        Changed(refs_a.of(i), a.nodes[i], b.nodes[j]._replace(bid=a.nodes[i].bid))
        for i, j in enumerate(matching.b_of)
        if j >= 0 and a.labels[i] != b.labels[j]
    ]
    moves = [Moved(refs_a.of(i), refs_b.of(j), b.parents[j]) for i, j in moved]
    added = [Added(refs_b.of(j), b.nodes[j], b.parents[j]) for j in range(len(b)) if matching.a_of[j] < 0]
    return Diff((*removed, *changed, *moves, *added))


def apply(tree: Tree, edits: Diff) -> Tree:
    """`tree` after `edits`. Raises UsageError if they were not made for this tree."""
    gone: set[int] = set()
    nodes = list(tree.nodes)
    placed: dict[int, tuple[int, Node, int]] = {}
    """Place in the new tree → (index in the old one or -1, node, parent's place)."""
    for edit in edits.edits:
        if not isinstance(edit, Added):
            _check(tree, edit.ref)
        if isinstance(edit, Removed):
            gone.add(edit.ref.at)
        elif isinstance(edit, Changed):
            nodes[edit.ref.at] = edit.after
        elif isinstance(edit, Moved):
            gone.add(edit.ref.at)
            placed[edit.target.at] = (edit.ref.at, nodes[edit.ref.at], edit.parent)
        else:
            placed[edit.ref.at] = (-1, edit.node, edit.parent)
    return _assemble(tree, nodes, gone, placed)


def _assemble(tree: Tree, nodes: list[Node], gone: set[int], placed: dict[int, tuple[int, Node, int]]) -> Tree:
    survivors = iter([index for index in range(len(nodes)) if index not in gone])
    total = len(nodes) - len(gone) + len(placed)
    place_of: dict[int, int] = {-1: -1}
    new_nodes: list[Node] = []
    parents: list[int] = []
    try:
        for place in range(total):
            if place in placed:
                old, node, parent = placed[place]
            else:
                old = next(survivors)
                node, parent = nodes[old], place_of[tree.parents[old]]
            if old >= 0:
                place_of[old] = place
            new_nodes.append(node)
            parents.append(parent)
        return Tree(tuple(new_nodes), tuple(parents), tree.style)
    except (StopIteration, KeyError, ValueError) as error:
        raise UsageError(
            "these edits do not fit together on this tree", fix="apply a diff to the tree it was made for"
        ) from error


def _moved(a: Tree, b: Tree, matching: Matching) -> list[tuple[int, int]]:
    """Matched pairs that break the rule for survivors: out of order, or under another parent."""
    b_of = matching.b_of
    stayed: list[tuple[int, int]] = []
    moved: list[tuple[int, int]] = []
    for i, j in enumerate(b_of):
        if j >= 0:
            parent, new_parent = a.parents[i], b.parents[j]
            same = new_parent == (b_of[parent] if parent >= 0 else -1) and (parent < 0) == (new_parent < 0)
            (stayed if same else moved).append((i, j))
    in_order = set(increasing([j for _, j in stayed]))
    return sorted([*moved, *(pair for k, pair in enumerate(stayed) if k not in in_order)])


class _Refs:
    """Makes `NodeRef`s of one tree; counts namesakes only if one is asked for, since most diffs are small."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._ks: list[int] = []
        self._counts: dict[tuple[str, str], int] = {}
        self._paths: dict[int, tuple[str, ...]] = {-1: ()}

    def of(self, index: int) -> NodeRef:
        if not self._ks:
            self._count()
        role, name = self._tree.nodes[index][:2]
        path = self._paths.get(self._tree.parents[index])
        if path is None:
            path = path_of(self._tree, index, self._paths)
        return NodeRef(index, role, name, self._ks[index], self._counts[role, name], path)

    def _count(self) -> None:
        counts, ks = self._counts, self._ks
        for node in self._tree.nodes:
            key = (node[0], node[1])
            k = counts.get(key, 0)
            ks.append(k)
            counts[key] = k + 1


def _check(tree: Tree, ref: NodeRef) -> None:
    if not 0 <= ref.at < len(tree) or tree.nodes[ref.at][:2] != (ref.role, ref.name):
        raise UsageError(
            f"the tree has no {ref.role} {ref.name[:60]!r} at node {ref.at}",
            fix=_FIX,
        )


def _same(x: object, y: object) -> bool:
    """Equality that tells True from 1."""
    return x == y and type(x) is type(y)
