"""The accessibility tree of a page: immutable nodes in document order, and their text form.

    Tree
      nodes    (RootWebArea 'Shop', link 'Cart', button 'Buy')   preorder
      parents  (-1,                 0,           0)              index of each node's parent, -1 at the top
      ends     (3,                  2,           3)              index after each node's subtree
    node i's subtree is nodes[i:ends[i]]

Two text forms are known, and `Tree.style` says which one a tree is printed in:

    browsergym   [12] button 'OK', clickable, visible          \\t[15] slider 'Size' value=5, valuemax=9
    webarena     [12] button 'OK' focused: True                under a line "Tab 0 (current): Shop"

A bid names a DOM element of one loaded document; it is not part of a node's identity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

Style = Literal["browsergym", "webarena"]


class RawLiteral(str):
    """A property value that is neither a text, a number nor a flag (a list, None), as it was written."""

    __slots__ = ()


PropertyValue = str | int | float | bool | RawLiteral

BARE_FLAGS: Final = frozenset({"required", "focused", "atomic", "visible", "clickable", "som"})
"""Properties that BrowserGym prints as a word alone, and only if true."""

DOUBLE_QUOTED: Final = frozenset({"center", "box"})
"""Properties that BrowserGym prints as `center="(1,2)"`."""

_PLAIN = re.compile(r"""[^"'\\\n]*""")

Properties = tuple[tuple[str, PropertyValue], ...]


class Node(NamedTuple):
    """One element. `properties` are the states, in the order of the text: (("checked", "false"), ("focused", True)).

    Beware that Python holds True == 1 == 1.0; compare `Tree.labels` where that matters.
    """

    role: str
    name: str = ""
    bid: str | None = None
    value: PropertyValue | None = None
    properties: Properties = ()

    def get(self, name: str) -> PropertyValue | None:
        """The value of one property, None where the node does not have it."""
        return next((value for key, value in self.properties if key == name), None)


@dataclass(frozen=True, eq=False)
class Tree:
    """A page's accessibility tree; a forest if the text has several top nodes.

    Two trees are equal if nodes (bids included), parents, style and header are: not the spelling of odd lines.
    Raises ValueError if `parents` is not a preorder of `nodes`.
    """

    nodes: tuple[Node, ...] = ()
    parents: tuple[int, ...] = ()
    style: Style = "browsergym"
    header: str = ""
    """WebArena's line of tabs with the empty line after it; printed as it is."""
    verbatim: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    """Source lines that were understood but are not written as we would: index of the node → line."""
    malformed: tuple[tuple[int, str], ...] = ()
    """Source lines that were not understood: (line number after the header, from 0; line), in order."""

    def __post_init__(self) -> None:
        if len(self.nodes) != len(self.parents):
            raise ValueError("nodes and parents differ in length")
        self.ends  # noqa: B018  (computing it is the check)

    @classmethod
    def from_depths(cls, nodes: Sequence[Node], depths: Sequence[int], style: Style = "browsergym") -> Tree:
        """A tree from nodes in document order and their indentation; a deeper jump than one level counts as one."""
        parents: list[int] = []
        stack: list[tuple[int, int]] = []
        for index, depth in enumerate(depths):
            while stack and stack[-1][0] >= depth:
                stack.pop()
            parents.append(stack[-1][1] if stack else -1)
            stack.append((depth, index))
        return cls(tuple(nodes), tuple(parents), style)

    def __len__(self) -> int:
        return len(self.nodes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (self.nodes, self.parents, self.style, self.header) == (
            other.nodes,
            other.parents,
            other.style,
            other.header,
        )

    def __hash__(self) -> int:
        return hash((self.nodes, self.parents, self.style, self.header))

    @property
    def malformed_lines(self) -> int:
        """How many lines of the source were not understood; empty lines do not count."""
        return sum(1 for _, line in self.malformed if line.strip())

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """For each node the index after its last descendant."""
        count = len(self.parents)
        ends = [count] * count
        path: list[int] = []
        for index, parent in enumerate(self.parents):
            while path and path[-1] != parent:
                ends[path.pop()] = index
            if not path and parent != -1:
                raise ValueError(f"node {index} does not follow its parent {parent} in document order")
            path.append(index)
        return tuple(ends)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """For each node the number of its ancestors."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(0 if parent < 0 else depths[parent] + 1)
        return tuple(depths)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each node its children, and under index -1 (the last entry) the top nodes."""
        lists: list[list[int]] = [[] for _ in range(len(self.nodes) + 1)]
        for index, parent in enumerate(self.parents):
            lists[parent].append(index)
        return tuple(map(tuple, lists))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """For each node its printed form without bid and indentation: equal labels, equal nodes."""
        return tuple(print_label(node, self.style) for node in self.nodes)

    @cached_property
    def by_bid(self) -> Mapping[str, int]:
        """Index of each bid; the first node wins where a hostile text repeats one."""
        found: dict[str, int] = {}
        for index, node in enumerate(self.nodes):
            if node.bid is not None:
                found.setdefault(node.bid, index)
        return MappingProxyType(found)

    def ancestors(self, index: int) -> list[int]:
        """Indices from the parent up to the top."""
        found: list[int] = []
        while (index := self.parents[index]) >= 0:
            found.append(index)
        return found

    def to_text(self) -> str:
        """The text form. `parse(text).to_text() == text` for every text."""
        lines: list[str] = []
        odd_lines = dict(self.malformed)
        for index, (node, depth, label) in enumerate(zip(self.nodes, self.depths, self.labels, strict=True)):
            while len(lines) in odd_lines:
                lines.append(odd_lines[len(lines)])
            bid = f"[{node.bid}] " if node.bid is not None else ""
            lines.append(self.verbatim[index] if index in self.verbatim else "\t" * depth + bid + label)
        while len(lines) in odd_lines:
            lines.append(odd_lines[len(lines)])
        return self.header + "\n".join(lines)


def print_label(node: Node, style: Style) -> str:
    """One node without bid and indentation."""
    role, name, _, value, properties = node
    if style == "webarena":
        text = f"{role} {name!r}"
        return text + "".join(f" {key}: {value}" for key, value in properties) if properties else text
    text = role if role == "generic" and not name else f"{role} {name!r}"
    if value is not None:
        text += f" value={_literal(value)}"
    return text + print_properties(properties) if properties else text


def print_properties(properties: Properties) -> str:
    """BrowserGym's form of the states, each with its leading comma."""
    parts: list[str] = []
    for key, value in properties:
        if value is True and key in BARE_FLAGS:
            parts.append(f", {key}")
        elif type(value) is str and key not in DOUBLE_QUOTED:
            # The common case, spared a call.
            parts.append(f", {key}={value!r}")
        elif key in DOUBLE_QUOTED and isinstance(value, str) and _PLAIN.fullmatch(value):
            parts.append(f', {key}="{value}"')
        else:
            parts.append(f", {key}={_literal(value)}")
    return "".join(parts)


def _literal(value: PropertyValue) -> str:
    return str(value) if isinstance(value, RawLiteral) else repr(value)
