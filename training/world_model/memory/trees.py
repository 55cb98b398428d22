"""The tree of a page as labels, formats and memory compare pages: normalised, with bids, states in the order of the page."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from harness.axtree import Tree, normalise, parse

CACHED_PAGES: Final = 64
"""One query's pages are parsed once; trees are immutable, so sharing them is safe."""


@lru_cache(CACHED_PAGES)
def page_tree(axtree: str) -> Tree:
    """`axtree` (any text) parsed and normalised. Bids stay: they take no part in matching or in node labels."""
    return normalise(parse(axtree), drop_bids=False)
