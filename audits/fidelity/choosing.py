"""Which examples, episodes and chains are asked when not all are: a sample that depends on names alone, never on order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from heapq import nsmallest
from typing import TypeVar

Item = TypeVar("Item")


def spread(items: Iterable[Item], limit: int | None, key: Callable[[Item], str]) -> list[Item]:
    """All items, or `limit` drawn by a hash of their key: evenly over everything, the same ones on each machine.

    Chosen items keep the order they came in, so that a larger limit contains a smaller one and its answers.
    """
    everything = list(items)
    if limit is None or limit >= len(everything):
        return everything
    chosen = nsmallest(limit, range(len(everything)), key=lambda at: (rank(key(everything[at])), at))
    return [everything[at] for at in sorted(chosen)]


def rank(key: str) -> bytes:
    """A number for a name that has nothing to do with its alphabetical place."""
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
