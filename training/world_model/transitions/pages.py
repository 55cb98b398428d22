"""What a page says, whatever its bids: keys for duplicates and leaks, and how much of it an action changed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from harness.actions import ACTION_SPACE
from harness.axtree import Tree, normalise, parse
from harness.types import Action

_CACHED_PAGES: Final = 16
"""A page is o_t+1 of one step and o_t of the next; few more are looked at again, and pages are large."""

SIZES: Final = ((0, "0"), (3, "1-3"), (10, "4-10"), (50, "11-50"), (200, "51-200"))


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed page. `key` is equal for pages that differ in bids and spelling only."""

    tree: Tree
    key: str
    labels: Counter[str]
    """How often each node stands on the page, printed without bid."""


@lru_cache(maxsize=_CACHED_PAGES)
def page(axtree: str) -> Page:
    tree = parse(axtree)
    plain = normalise(tree)
    return Page(tree, digest(plain.to_text()), Counter(plain.labels))


def pair_key(before: Page, action: Action) -> str:
    """Equal for the same action on the same page. Elements are compared by descriptor, since bids are counters."""
    signature = ACTION_SPACE.get(action.name)
    pointing = signature.bid_parameters if signature else ()
    rest = {name: value for name, value in action.arguments.items() if name not in pointing}
    target = action.target
    what = [action.name, rest, None if target is None else [target.role, target.name, target.index]]
    return digest(before.key + json.dumps(what, sort_keys=True))


def changed_lines(before: Page, after: Page) -> int:
    """Nodes that are on one of two pages only; one whose state or name changed counts twice, as in a line diff."""
    return (before.labels - after.labels).total() + (after.labels - before.labels).total()


def only_focus(before: Page, after: Page) -> bool:
    """May two pages differ in nothing but the focus? False is certain."""
    gone, come = before.labels - after.labels, after.labels - before.labels
    return _unfocused(gone) == _unfocused(come)


def _unfocused(labels: Counter[str]) -> list[str]:
    return sorted(label.replace(", focused", "") for label in labels.elements())


def size_of(lines: int) -> str:
    """The class of a change's size."""
    return next((name for limit, name in SIZES if lines <= limit), f"over {SIZES[-1][0]}")


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
