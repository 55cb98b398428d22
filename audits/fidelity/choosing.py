"""Which examples, episodes and chains are asked when not all are: a sample that depends on names alone, never on order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from heapq import nsmallest
from typing import TypeVar

Item = TypeVar("Item")


def spread(items: Iterable[Item], limit: int | None, key: Callable[[Item], str]) -> list[Item]:
    """All items, or `limit` of them drawn by a hash of their key: evenly over everything, the same ones on each machine.

    They keep the order they came in. A larger limit contains a smaller one, and so its stored answers. Holds `limit` items.
    """
    if limit is None:
        return list(items)
    chosen = nsmallest(limit, ((rank(key(item)), at, item) for at, item in enumerate(items)), key=lambda row: row[:2])
    return [item for _, _, item in sorted(chosen, key=lambda row: row[1])]


def rank(key: str) -> bytes:
    """A number for a name that has nothing to do with its alphabetical place."""
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
