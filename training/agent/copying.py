"""Steps told again with other names: what a goal names must be copied, and a small model that sees few goals remembers them.

    goal "Select 5G0A and click Submit."      →    goal "Select 3R8K and click Submit."
    radio "3v" checked=false                  →    radio "Elga" checked=false
    radio "5G0A" checked=false                →    radio "3R8K" checked=false
    click radio "5G0A"                        →    click radio "3R8K"

A word is a name if few goals go with it, whatever its case, and no address says it: `Submit` stands on the pages of many goals,
`5G0A` on those of one. Names change for others, the same one everywhere in prompt and reply, spelt in the case that it had there:
half for names of other steps, half for invented ones of the same shape, since a tokenizer knows the former by heart and must
spell the latter. What the goal alone says keeps its meaning (`the 2nd field`), and so does a number that is said once (the
day of a date, whose link on the page is spelt otherwise).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

import numpy as np

from training.world_model.sft.rows import Row

RARE_SHARE: Final = 0.02
"""A word that goes with a larger share of the goals belongs to the site, not to the case."""
CHANGED_SHARE: Final = 0.8
"""Of a row's names, so that known and new names stand side by side."""
INVENTED_SHARE: Final = 0.5
"""Of the changes."""

_WORD = re.compile(r"(?<![\w\\])[A-Za-z0-9]{2,}(?!\w)")
_ADDRESS = re.compile(r"^at (\S+)", re.MULTILINE)
_ALPHABETS: Final = (ascii_lowercase, ascii_uppercase, digits)


def told_again(rows: Sequence[Row], times: int, seed: int) -> Iterator[Row]:
    """Each row `times` more, with other names; a row without names not at all. A function of its arguments.

    The first line of a prompt is its goal, and one says `at ADDRESS` (`training.agent.view`). Every row is told once more before
    one is told twice.
    """
    known = _by_kind(_names(rows))
    names = {name.lower() for alike in known.values() for name in alike}
    for turn in range(times):
        for number, row in enumerate(rows):
            mine = _changeable(row, names)
            random = np.random.default_rng(np.random.SeedSequence((seed, 0xC097, turn, number)))
            others = {key: _other(word, known, random) for key, word in mine.items() if random.random() < CHANGED_SHARE}
            if mine:
                yield Row(row.kind, _renamed(row.prompt, others), _renamed(row.completion, others))


def renaming(
    texts: Sequence[tuple[str, str]], seed: int, kept: Collection[str] = ()
) -> Callable[[int, int], Callable[[str], str] | None]:
    """For (goal, all that belongs to it) pairs: (number of the pair, turn) → what changes its names; None where it has none.

    As `told_again`, but a name is a word that few of the pairs have, and numbers and what is `kept` (in lower case) stay.
    """
    rows = [Row("transition", f"{goal}\n{text}", "") for goal, text in texts]
    spelt = {word.lower(): word for row in rows for word in _words(row) if not word.isdigit() and word.lower() not in kept}
    held = Counter(word for row in rows for word in {word.lower() for word in _words(row)})
    known = _by_kind({word for key, word in spelt.items() if held[key] <= max(1.0, RARE_SHARE * len(rows))})
    names = {name.lower() for alike in known.values() for name in alike}
    mine = [_changeable(row, names) for row in rows]

    def rename(number: int, turn: int) -> Callable[[str], str] | None:
        random = np.random.default_rng(np.random.SeedSequence((seed, 0xD3EA, turn, number)))
        others = {key: _other(word, known, random) for key, word in mine[number].items() if random.random() < CHANGED_SHARE}
        return (lambda text: _renamed(text, others)) if others else None

    return rename


def _changeable(row: Row, names: set[str]) -> dict[str, str]:
    """In lower case → as it is spelt. What is said once must not be the goal's own word, nor a number."""
    said, goal = _words(row), row.prompt.partition("\n")[0]
    often = Counter(word.lower() for word in said)
    kept = {word.lower() for word in _WORD.findall(goal)} | {word for word in often if word.isdigit()}
    spelt = {word.lower(): word for word in said}
    return {key: word for key, word in spelt.items() if key in names and (often[key] > 1 or key not in kept)}


def _names(rows: Sequence[Row]) -> set[str]:
    """As they are spelt."""
    goals = defaultdict(set)
    spelt: dict[str, str] = {}
    addresses: set[str] = set()
    for row in rows:
        goal = row.prompt.partition("\n")[0]
        for word in _words(row):
            goals[word.lower()].add(goal)
            spelt.setdefault(word.lower(), word)
        addresses.update(word.lower() for address in _ADDRESS.findall(row.prompt) for word in _WORD.findall(address))
    most = max(1.0, RARE_SHARE * len({row.prompt.partition("\n")[0] for row in rows}))
    return {spelt[key] for key, with_it in goals.items() if len(with_it) <= most and key not in addresses}


def _words(row: Row) -> list[str]:
    return _WORD.findall(f"{row.prompt}\n{row.completion}")


def _by_kind(names: set[str]) -> dict[str, list[str]]:
    found = defaultdict(list)
    for word in sorted(names):
        found[_kind(word)].append(word)
    return found


def _kind(word: str) -> str:
    """`Elga` is no name for what was called `5G0A`."""
    return "number" if word.isdigit() else "capitalised" if word.istitle() else "lower" if word.islower() else "mixed"


def _other(word: str, known: Mapping[str, Sequence[str]], random: np.random.Generator) -> str:
    alike = known.get(_kind(word), ())
    if word.isdigit() or not alike or random.random() < INVENTED_SHARE:
        return "".join(_like(letter, random) for letter in word)
    return alike[int(random.integers(len(alike)))]


def _like(letter: str, random: np.random.Generator) -> str:
    alphabet = next(one for one in _ALPHABETS if letter in one)
    return alphabet[int(random.integers(len(alphabet)))]


def _renamed(text: str, others: Mapping[str, str]) -> str:
    return _WORD.sub(lambda match: _spelt(others.get(match[0].lower(), match[0]), match[0]), text)


def _spelt(name: str, before: str) -> str:
    if before.isupper():
        return name.upper()
    return name.lower() if before.islower() else name
