"""Align two trees: which node of `a` is which node of `b`. Deterministic, near linear in the number of nodes.

    1. from the top down: children of a matched pair are aligned with each other, in this order
         identical subtrees     the i-th with the i-th of the same content
         same label             role, name, value and states                between the same already matched siblings
         same role and name     states or value changed                          〃
         same role              one text replaced by another                      〃
    2. what is left, wherever it stands: identical subtrees, then nodes with a unique role and name (moved, wrapped)

Bids take no part: they change on every load. Roles of matched nodes are always equal.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Final

from harness.axtree.tree import Tree

MAX_PAIRS_COMPARED: Final = 400
"""In a stretch of siblings, up to this many pairs are compared by content; beyond, the i-th meets the i-th."""

MAX_RENAMED_SIZE: Final = 3
"""Nodes of the largest subtree that may change all its words and still be taken for the same element."""


class Matching:
    """A partial one-to-one map: `b_of[i]` is the node of b for node i of a, or -1; `a_of` is its inverse."""

    def __init__(self, a: Tree, b: Tree) -> None:
        self.b_of = [-1] * len(a)
        self.a_of = [-1] * len(b)

    def add(self, i: int, j: int) -> None:
        self.b_of[i] = j
        self.a_of[j] = i


def match(a: Tree, b: Tree) -> Matching:
    """Align `a` with `b`. Trees of different style are compared by content only after `normalise`."""
    return _Matcher(a, b).run()


def subtree_ids(trees: Sequence[Tree]) -> list[list[int]]:
    """A number for each node of each tree; equal numbers, equal subtrees (bids aside)."""
    known: dict[tuple[str, tuple[int, ...]], int] = {}
    result: list[list[int]] = []
    for tree in trees:
        ids = [0] * len(tree)
        labels, children = tree.labels, tree.children
        for index in range(len(tree) - 1, -1, -1):
            key = (labels[index], tuple([ids[child] for child in children[index]]))
            ids[index] = known.setdefault(key, len(known))
        result.append(ids)
    return result


class _Matcher:
    def __init__(self, a: Tree, b: Tree) -> None:
        self.a, self.b = a, b
        self.matching = Matching(a, b)
        self.a_ids, self.b_ids = subtree_ids((a, b))

    def run(self) -> Matching:
        self._align([(self.a.children[-1], self.b.children[-1])])
        self._rescue()
        return self.matching

    def _align(self, todo: list[tuple[Sequence[int], Sequence[int]]]) -> None:
        """Align lists of siblings, then the children of every pair found. A stack: trees may be deep."""
        while todo:
            left, right = todo.pop()
            pairs = self._align_siblings(left, right)
            todo.extend(
                (self.a.children[i], self.b.children[j]) for i, j in reversed(pairs) if self.a.children[i] and self.b.children[j]
            )

    def _align_siblings(self, left: Sequence[int], right: Sequence[int]) -> list[tuple[int, int]]:
        """Match what belongs together; returns the pairs whose children are still to be aligned."""
        a_ids, b_ids = self.a_ids, self.b_ids
        start, stop = 0, 0
        shorter = min(len(left), len(right))
        while start < shorter and a_ids[left[start]] == b_ids[right[start]]:
            self._add_subtree(left[start], right[start])
            start += 1
        while stop < shorter - start and a_ids[left[-1 - stop]] == b_ids[right[-1 - stop]]:
            self._add_subtree(left[-1 - stop], right[-1 - stop])
            stop += 1
        rest_a = self._free(left[start : len(left) - stop], self.matching.b_of)
        rest_b = self._free(right[start : len(right) - stop], self.matching.a_of)
        if not rest_a or not rest_b:
            return []
        for i, j in _ith_with_ith(rest_a, rest_b, a_ids.__getitem__, b_ids.__getitem__):
            self._add_subtree(i, j)
        found: list[tuple[int, int]] = []
        for stretch_a, stretch_b in self._stretches(rest_a, rest_b):
            found.extend(self._align_stretch(stretch_a, stretch_b))
        return found

    def _stretches(self, left: list[int], right: list[int]) -> list[tuple[list[int], list[int]]]:
        """Unmatched siblings between the same pair of matched ones. Siblings that changed places bound nothing."""
        b_of = self.matching.b_of
        place = {j: k for k, j in enumerate(right)}
        anchored = [(k, place[b_of[i]]) for k, i in enumerate(left) if b_of[i] in place]
        kept = increasing([position for _, position in anchored])
        bounds = [(-1, -1), *(anchored[k] for k in kept), (len(left), len(right))]
        stretches = []
        for (i0, j0), (i1, j1) in pairwise(bounds):
            free_a = self._free(left[i0 + 1 : i1], b_of)
            free_b = self._free(right[j0 + 1 : j1], self.matching.a_of)
            if free_a and free_b:
                stretches.append((free_a, free_b))
        return stretches

    def _align_stretch(self, left: list[int], right: list[int]) -> list[tuple[int, int]]:
        a, b = self.a, self.b
        found: list[tuple[int, int]] = []
        rounds: tuple[tuple[Callable[[int], Hashable], Callable[[int], Hashable], bool], ...] = (
            (a.labels.__getitem__, b.labels.__getitem__, True),
            (lambda i: a.nodes[i][:2], lambda j: b.nodes[j][:2], True),
            (lambda i: a.nodes[i].role, lambda j: b.nodes[j].role, False),
        )
        for a_key, b_key, certain in rounds:
            pairs = self._pair_by_key(left, right, a_key, b_key, certain)
            for i, j in pairs:
                self.matching.add(i, j)
            found.extend(pairs)
            left = self._free(left, self.matching.b_of)
            right = self._free(right, self.matching.a_of)
            if not left or not right:
                break
        return found

    def _pair_by_key(
        self,
        left: list[int],
        right: list[int],
        a_key: Callable[[int], Hashable],
        b_key: Callable[[int], Hashable],
        certain: bool,
    ) -> list[tuple[int, int]]:
        """Pairs with equal keys. Where a key stands on several nodes, or only the role is equal, content decides."""
        pairs: list[tuple[int, int]] = []
        of_key = _grouped(right, b_key)
        for key, group_a in _grouped(left, a_key).items():
            group_b = of_key.get(key)
            if group_b is None:
                continue
            if certain and len(group_a) == len(group_b):
                pairs.extend(zip(group_a, group_b, strict=True))
            elif len(group_a) * len(group_b) <= MAX_PAIRS_COMPARED:
                pairs.extend(self._most_alike(group_a, group_b, certain))
            elif certain:
                pairs.extend(zip(group_a, group_b, strict=False))
        return pairs

    def _most_alike(self, left: list[int], right: list[int], certain: bool) -> list[tuple[int, int]]:
        """Greedy: the most similar pair first, earlier and nearer ones among equals."""
        words_a = [self._words(self.a, i) for i in left]
        words_b = [self._words(self.b, j) for j in right]
        in_place = len(left) == len(right) == 1 and self._renamed(left[0], right[0])
        scored = []
        for x in range(len(left)):
            for y in range(len(right)):
                alike = _overlap(words_a[x], words_b[y])
                if certain or alike > 0 or in_place:
                    scored.append((-alike, abs(x - y), x, y))
        pairs: list[tuple[int, int]] = []
        used_a: set[int] = set()
        used_b: set[int] = set()
        for _, _, x, y in sorted(scored):
            if x not in used_a and y not in used_b:
                used_a.add(x)
                used_b.add(y)
                pairs.append((left[x], right[y]))
        return sorted(pairs)

    def _renamed(self, i: int, j: int) -> bool:
        """Is `j`, alone in the place of `i` and of its role, the same element under a new name?

        A text, a page and a small control (Show → Hide) are; a large part without a word in common is another part.
        """
        sizes = self.a.ends[i] - i, self.b.ends[j] - j
        return self.a.nodes[i].role == "RootWebArea" or max(sizes) <= MAX_RENAMED_SIZE

    def _words(self, tree: Tree, index: int) -> frozenset[str]:
        """Words of a node's name and of the names just below it: what makes a row that row."""
        names = [tree.nodes[index].name, *(tree.nodes[child].name for child in tree.children[index][:8])]
        return frozenset(word for name in names for word in name.split())

    def _rescue(self) -> None:
        """Match leftovers across the whole trees: parts that moved, or that a new wrapper took in."""
        left = self._free(range(len(self.a)), self.matching.b_of)
        right = self._free(range(len(self.b)), self.matching.a_of)
        if not left or not right:
            return
        for i, j in _ith_with_ith(
            self._telling(self.a, left),
            self._telling(self.b, right),
            self.a_ids.__getitem__,
            self.b_ids.__getitem__,
        ):
            self._add_subtree(i, j)
        by_name_a = _grouped(self._telling(self.a, self._free(left, self.matching.b_of)), lambda i: self.a.nodes[i][:2])
        by_name_b = _grouped(self._telling(self.b, self._free(right, self.matching.a_of)), lambda j: self.b.nodes[j][:2])
        for key, group_a in by_name_a.items():
            group_b = by_name_b.get(key, [])
            if len(group_a) == len(group_b) == 1:
                i, j = group_a[0], group_b[0]
                if self.matching.b_of[i] < 0 and self.matching.a_of[j] < 0:
                    self.matching.add(i, j)
                    self._align([(self.a.children[i], self.b.children[j])])

    def _add_subtree(self, i: int, j: int) -> None:
        """Match two identical subtrees node by node, as far as both sides are free."""
        b_of, a_of = self.matching.b_of, self.matching.a_of
        for x, y in zip(range(i, self.a.ends[i]), range(j, self.b.ends[j]), strict=True):
            if b_of[x] < 0 and a_of[y] < 0:
                b_of[x] = y
                a_of[y] = x

    @staticmethod
    def _free(indices: Iterable[int], partner: list[int]) -> list[int]:
        return [index for index in indices if partner[index] < 0]

    @staticmethod
    def _telling(tree: Tree, indices: list[int]) -> list[int]:
        """Nodes that say who they are: a nameless leaf looks like any other."""
        return [i for i in indices if tree.nodes[i].name or tree.ends[i] > i + 2]


def increasing(values: Sequence[int]) -> list[int]:
    """Positions of a longest increasing subsequence of distinct `values`: O(n log n), O(n) if already sorted."""
    if all(x < y for x, y in pairwise(values)):
        return list(range(len(values)))
    tails: list[int] = []
    tail_positions: list[int] = []
    previous = [-1] * len(values)
    for position, value in enumerate(values):
        length = bisect_left(tails, value)
        previous[position] = tail_positions[length - 1] if length else -1
        tails[length : length + 1] = [value]
        tail_positions[length : length + 1] = [position]
    found: list[int] = []
    position = tail_positions[-1] if tail_positions else -1
    while position >= 0:
        found.append(position)
        position = previous[position]
    return found[::-1]


def _grouped(indices: Iterable[int], key: Callable[[int], Hashable]) -> dict[Hashable, list[int]]:
    groups: dict[Hashable, list[int]] = {}
    for index in indices:
        groups.setdefault(key(index), []).append(index)
    return groups


def _ith_with_ith(
    left: list[int], right: list[int], a_key: Callable[[int], Hashable], b_key: Callable[[int], Hashable]
) -> list[tuple[int, int]]:
    of_key = _grouped(right, b_key)
    return [pair for key, group in _grouped(left, a_key).items() for pair in zip(group, of_key.get(key, ()), strict=False)]


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard index of two sets of words; 0.0 if both are empty."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0
