"""The training transitions most like a query: same action on the same element of the same page first.

    level   site   page                action   element              the first level with candidates wins,
      0      =     this very page        =      role and name        and further ones fill up to k
      1      =     this kind of page     =      role and name
      2      =     any                   =      role and name
      3      =     this kind of page     =      role
      4      =     any                   =      role
      5     any    any                   =      role
      6     any    any                   =      any

Within a level the page with most elements in common comes first (Jaccard index of roles and names), then the later one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from harness.axtree import normalise, parse
from harness.predictions import WorldModelQuery
from training.world_model.memory.addresses import pattern, route, shelf
from training.world_model.transitions import WorldModelExample

MAX_COMPARED: Final = 64
"""Candidates of one level that are compared with the query, the latest."""

Names = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Known:
    example: WorldModelExample
    names: Names


class Neighbours:
    """An index over transitions, held in memory."""

    def __init__(self, examples: Iterable[WorldModelExample]) -> None:
        self._levels: dict[Hashable, list[_Known]] = {}
        self._count = 0
        for example in examples:
            known = _Known(example, _names(example.query))
            self._count += 1
            for key in _keys(example.query):
                self._levels.setdefault(key, []).append(known)

    def __len__(self) -> int:
        return self._count

    def nearest(self, query: WorldModelQuery, k: int) -> list[WorldModelExample]:
        """Up to `k`, most alike first."""
        found: list[WorldModelExample] = []
        for known in self._by_likeness(query):
            if not any(known.example is other for other in found):
                found.append(known.example)
            if len(found) == k:
                break
        return found

    def _by_likeness(self, query: WorldModelQuery) -> Iterator[_Known]:
        names = _names(query)
        for key in _keys(query):
            latest = self._levels.get(key, [])[: -MAX_COMPARED - 1 : -1]
            yield from sorted(latest, key=lambda known: -_jaccard(names, known.names))


def example_name(example: WorldModelExample) -> str:
    """RUN/EPISODE/STEP."""
    return "/".join(str(example.provenance.get(part, "")) for part in ("run", "episode", "step"))


def _keys(query: WorldModelQuery) -> list[Hashable]:
    url, action = query.observation.url, query.action.name
    role, name = (query.action.target.role, query.action.target.name) if query.action.target else ("", "")
    site, page = shelf(url, query.site), route(url)
    kind = pattern(page)
    return [
        (0, site, page, action, role, name), (1, site, kind, action, role, name), (2, site, action, role, name),
        (3, site, kind, action, role), (4, site, action, role), (5, action, role), (6, action),
    ]  # fmt: skip


def _names(query: WorldModelQuery) -> Names:
    return frozenset((node.role, node.name) for node in normalise(parse(query.observation.axtree)).nodes)


def _jaccard(one: Names, other: Names) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 1.0
