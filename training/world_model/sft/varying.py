"""Rows told again with other names: a small model that sees each page many times must learn to copy, not to remember.

    at shop/dashboard/orders/N/ "Order 100155"      →    at shop/dashboard/orders/N/ "Order 348210"
    name cell "Imogen Yarrowmore" "{typed}"              name cell "Felix Brackenfell" "{typed}"

Rare words and numbers of a row (people, towns, products, order numbers) change for others of their kind, the same one
everywhere in prompt and target. Words that many prompts share (buttons, headings, roles) stay, since what a page is called
tells where its links lead. Only train rows are varied; the originals stay beside them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from training.world_model.sft.rows import Row

RARE_SHARE: Final = 0.02
"""A word in a larger share of the prompts belongs to the site, not to the case."""
CHANGED_SHARE: Final = 0.8
"""Of a row's rare words, so that known and new names stand side by side."""

_WORD = re.compile(r"(?<![\w\\])(?:[A-Z][a-z]{2,}|[0-9]{2,})(?!\w)")


def varied(rows: Sequence[Row], times: int, seed: int) -> Iterator[Row]:
    """Each row `times` more, with other names; a row without rare words not at all. A function of its arguments."""
    counts = Counter(word for row in rows for word in set(_WORD.findall(row.prompt)))
    most = max(1.0, RARE_SHARE * len(rows))
    names = sorted(word for word, count in counts.items() if count <= most and not word[0].isdigit())
    common = {word for word, count in counts.items() if count > most}
    for number, row in enumerate(rows):
        random = np.random.default_rng(np.random.SeedSequence((seed, 0x5A4E, number)))
        rare = sorted(set(_WORD.findall(row.prompt)) - common)
        for _ in range(times if rare else 0):
            others = {word: _other(word, names, random) for word in rare if random.random() < CHANGED_SHARE}
            yield Row(row.kind, _renamed(row.prompt, others), _renamed(row.completion, others))


def _other(word: str, names: Sequence[str], random: np.random.Generator) -> str:
    """Another word of its kind: a name from other rows, or a number with as many digits."""
    if word[0].isdigit():
        first, *rest = random.integers(1, 10, size=1).tolist() + random.integers(0, 10, size=len(word) - 1).tolist()
        return "".join(map(str, [first, *rest]))
    return str(names[int(random.integers(len(names)))])


def _renamed(text: str, others: dict[str, str]) -> str:
    return _WORD.sub(lambda match: others.get(match[0], match[0]), text)
