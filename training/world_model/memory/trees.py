"""The tree of a page as labels, formats and memory compare pages: normalised, with bids, states in the order of the page."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from harness.actions.build import well_formed
from harness.axtree import PropertyValue, RawLiteral, Tree, normalise, parse

CACHED_PAGES: Final = 64
"""One query's pages are parsed once; trees are immutable, so sharing them is safe."""


@lru_cache(CACHED_PAGES)
def page_tree(axtree: str) -> Tree:
    """`axtree` (any text) parsed and normalised. Bids stay: they take no part in matching or in node labels.

    An escaped lone surrogate, which no answer can spell and no file can hold, becomes U+FFFD.
    """
    tree = normalise(parse(axtree), drop_bids=False)
    return _spellable(tree) if "\\ud" in axtree.lower() else tree


def _spellable(tree: Tree) -> Tree:
    nodes = [
        node._replace(
            name=well_formed(node.name),
            value=_value(node.value) if node.value is not None else None,
            properties=tuple((key, _value(value)) for key, value in node.properties),
        )
        for node in tree.nodes
    ]
    return Tree(tuple(nodes), tree.parents)


def _value(value: PropertyValue) -> PropertyValue:
    if isinstance(value, RawLiteral):
        return RawLiteral(well_formed(value))
    return well_formed(value) if isinstance(value, str) else value
