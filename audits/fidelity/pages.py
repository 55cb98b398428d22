"""A page as fidelity compares it: what it says, without what differs between two loads of the same page.

    Observation ── parse, normalise ──▶ Page
                                          url, tabs      normalised address; number of tabs and which is in front
                                          title
                                          nodes          (role, name, value, states) in document order
                                          places         for each node a digest of its ancestors

AUDIT.md M4: a node is (role, normalised name, value, states {checked, expanded, disabled, selected}). Bids, focus, layout
and all other properties are left out: they are counters, or differ with the recorder. Decorative nodes (generic, none,
presentation) without a name are left out; with a name they are the only holder of that text, and stay.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from harness.axtree import normalise, parse
from harness.axtree.identity import DECORATIVE_ROLES
from harness.types import Observation

STATES: Final = ("checked", "disabled", "expanded", "selected")

_CACHED_PAGES: Final = 256


class Element(NamedTuple):
    """What makes two nodes of two pages the same. `states` are `state=value`, sorted."""

    role: str
    name: str
    value: str = ""
    states: tuple[str, ...] = ()


class Placed(NamedTuple):
    """An element with where it stands: equal only under equal ancestors."""

    element: Element
    place: bytes


@dataclass(frozen=True)
class Page:
    url: str
    title: str
    tabs: tuple[int, int]
    """(number of open pages, index of the one in front)."""
    nodes: tuple[Element, ...]
    places: tuple[bytes, ...]

    @cached_property
    def elements(self) -> Counter[Element]:
        return Counter(self.nodes)

    @cached_property
    def placed(self) -> Counter[Placed]:
        return Counter(map(Placed, self.nodes, self.places))

    @cached_property
    def named(self) -> frozenset[tuple[str, str]]:
        """(role, name) of all nodes."""
        return frozenset((node.role, node.name) for node in self.nodes)

    def same_as(self, other: Page) -> bool:
        """Address, tabs and nodes are equal, their order included: a sorted list is a changed page."""
        return (self.url, self.tabs, self.nodes) == (other.url, other.tabs, other.nodes)


def read_page(observation: Observation) -> Page:
    """The comparable form of an observation. Never raises: lines of a tree that are not understood are no nodes."""
    nodes, places = _read_tree(observation.axtree)
    root = next((node.name for node in nodes if node.role == "RootWebArea"), "")
    return Page(
        url=plain_url(observation.url),
        title=" ".join((observation.title or root).split()),
        tabs=(max(1, len(observation.open_pages)), observation.active_page_index),
        nodes=nodes,
        places=places,
    )


def plain_url(url: str) -> str:
    """`url` without fragment and closing slash, scheme and host in lower case. What is no URL stays as it is."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url.strip()
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), parts.query, ""))


@lru_cache(maxsize=_CACHED_PAGES)
def _read_tree(axtree: str) -> tuple[tuple[Element, ...], tuple[bytes, ...]]:
    tree = normalise(parse(axtree))
    nodes: list[Element] = []
    places: list[bytes] = []
    below: list[bytes] = []
    """For each node of the tree, decorative ones too: the place of its children."""
    for (role, name, _, value, properties), parent in zip(tree.nodes, tree.parents, strict=True):
        place = below[parent] if parent >= 0 else b""
        if role in DECORATIVE_ROLES and not name:
            below.append(place)
            continue
        states = sorted(f"{key}={str(state).lower()}" for key, state in properties if key in STATES)
        shown = "" if value is None else " ".join(str(value).split())
        nodes.append(Element(role, name, shown, tuple(states)))
        places.append(place)
        below.append(_digest(place, role, name))
    return tuple(nodes), tuple(places)


def _digest(place: bytes, role: str, name: str) -> bytes:
    # The page's title does not count as a place: one wrong title would put every node elsewhere.
    words = role if role == "RootWebArea" else f"{role}\0{name}"
    return blake2b(place + words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
