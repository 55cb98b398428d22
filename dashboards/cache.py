"""Keeps the latest value of a few things, each for as long as what it was made from stays the same.

Streamlit's own caches keep every version: a growing run of 100,000 episodes would be in memory several times.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Latest(Generic[Value]):
    """At most `size` values, one per key, the least recently used going first. Threads wait for each other's making."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Hashable, tuple[Hashable, Value]] = OrderedDict()
        self._lock = RLock()

    def get(self, key: Hashable, stamp: Hashable, make: Callable[[], Value]) -> Value:
        """The value of `key`, made anew if `stamp` is another than when it was made."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept[0] != stamp:
                self._kept.pop(key, None)  # before making: two versions at once are what this class avoids
                kept = (stamp, make())
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
            return kept[1]
