"""How much of one collection is in another: strict (equal), and lenient (same kind, similar words).

    Overlap(hits, predicted, real)      precision = hits/predicted   recall = hits/real   F1 = 2·hits/(predicted + real)

F1 of two empty collections is None: nothing was to be found and nothing was claimed, which is no success at finding.
Precision is None where nothing was predicted, recall where nothing was to be found.

Lenient (AUDIT.md M4): equal role and a token-set ratio of the names of at least 0.9, as many pairs as possible, one to one
(maximum matching by the Hungarian method, Kuhn 1955; scipy). Token-set ratio is rapidfuzz's; it is 1 where one text's words
are all in the other, so lenient hits bound strict ones from above and are no proof of equality.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from rapidfuzz import fuzz, process
from scipy.optimize import linear_sum_assignment

SIMILAR: Final = 90.0
"""Least token-set ratio, of 100."""

MAX_PAIRS: Final = 250_000
"""Pairs compared within one family; a hostile page has more, and then only equal names count."""

MAX_NAME_CHARS: Final = 200

Item = TypeVar("Item", bound=Hashable)


class Overlap(NamedTuple):
    hits: int
    predicted: int
    real: int

    @property
    def precision(self) -> float | None:
        return self.hits / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        return self.hits / self.real if self.real else None

    @property
    def f1(self) -> float | None:
        total = self.predicted + self.real
        return 2 * self.hits / total if total else None


def strict(predicted: Mapping[Item, int], real: Mapping[Item, int]) -> Overlap:
    """Of two multisets: each equal pair is a hit."""
    hits = sum(min(count, real.get(item, 0)) for item, count in predicted.items())
    return Overlap(hits, sum(predicted.values()), sum(real.values()))


def lenient(
    predicted: Mapping[Item, int], real: Mapping[Item, int], family: Callable[[Item], Hashable], name: Callable[[Item], str]
) -> Overlap:
    """Hits are pairs of one family with equal names, then, of the rest, with similar ones. At least `strict`'s hits."""
    here, there = _by_family(predicted, family, name), _by_family(real, family, name)
    hits = 0
    for kind in here.keys() & there.keys():
        left, right = here[kind], there[kind]
        hits += sum((left & right).values())
        hits += _similar(list((left - right).elements()), list((right - left).elements()))
    return Overlap(hits, sum(predicted.values()), sum(real.values()))


def _by_family(
    items: Mapping[Item, int], family: Callable[[Item], Hashable], name: Callable[[Item], str]
) -> dict[Hashable, Counter[str]]:
    found: dict[Hashable, Counter[str]] = {}
    for item, count in items.items():
        found.setdefault(family(item), Counter())[name(item)[:MAX_NAME_CHARS]] += count
    return found


def _similar(left: list[str], right: list[str]) -> int:
    if not left or not right or len(left) * len(right) > MAX_PAIRS:
        return 0
    ratios: Any = process.cdist(left, right, scorer=fuzz.token_set_ratio, score_cutoff=SIMILAR)
    alike = np.asarray(ratios) >= SIMILAR
    rows, columns = linear_sum_assignment(alike, maximize=True)
    return int(alike[rows, columns].sum())
