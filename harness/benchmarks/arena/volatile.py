"""A page without what may differ between two recordings of it: `volatile.toml` says what, and why."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import NamedTuple

from harness.axtree import Tree, normalise


class Volatile(NamedTuple):
    nodes: frozenset[tuple[str, str]]
    """(role, role of the parent)."""
    properties: tuple[str, ...]


@cache
def volatile() -> Volatile:
    text = resources.files(__package__).joinpath("volatile.toml").read_text(encoding="utf-8")
    listed = tomllib.loads(text)
    return Volatile(
        frozenset((node["role"], node["parent"]) for node in listed["node"]),
        tuple(entry["name"] for entry in listed["property"]),
    )


def steady(tree: Tree) -> Tree:
    """`tree` without bids, layout and what is volatile: equal for equal pages. Nodes below a node that goes, go with it."""
    listed = volatile()
    plain = normalise(tree, drop_properties=listed.properties)
    kept: dict[int, int] = {}
    for index, (node, parent) in enumerate(zip(plain.nodes, plain.parents, strict=True)):
        above = plain.nodes[parent].role if parent >= 0 else ""
        if (parent < 0 or parent in kept) and (node.role, above) not in listed.nodes:
            kept[index] = len(kept)
    return Tree(
        tuple(plain.nodes[index] for index in kept),
        tuple(kept[plain.parents[index]] if plain.parents[index] >= 0 else -1 for index in kept),
    )
