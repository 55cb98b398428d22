"""Which edits of a page that opens are worth teaching: those a model can foresee, the weightiest per token first.

A remembered page is never quite the page that comes: another price, another list. Teaching all of it would teach a
model to make texts up. So an edit is taught where every word that it quotes stands in what the model may know (the
prompt, the present page; not the remembered page, which no model is shown), and where it names its node by a word, not by a
bare number or a price. Of these the ones that put most nodes right per token stay, within a budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from harness.axtree import CountTokens
from training.world_model.formats.quoting import unquote

_WORD: Final = re.compile(r"\w+")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_BY_NUMBER: Final = re.compile(r'[a-z]+(?: in| first| after| before)? [A-Za-z][\w-]* (?:#|"[\W\d_]*")')


@dataclass(frozen=True, slots=True)
class Edit:
    """One line of edits with the lines below it."""

    lines: tuple[str, ...]
    weight: int
    """Nodes that it puts right."""

    @property
    def by_number(self) -> bool:
        """Does it name a node without a word, by its number on the page alone? Nobody can foresee which one that is."""
        return _BY_NUMBER.match(self.lines[0]) is not None

    @property
    def quoted(self) -> set[str]:
        """Words of all that it quotes: of the nodes it names and of the texts it writes; slots by their names."""
        return {word for line in self.lines for text in _QUOTED.findall(line) for word in words_of(unquote(text))}


def choose(edits: Sequence[Edit], known: Callable[[], set[str]], count_tokens: CountTokens, max_tokens: int) -> list[str]:
    """The lines of the edits that are taught, in their order. `known` gives the words that the model may know."""
    if not edits or max_tokens <= 0:
        return []
    words = known()
    ranked: list[tuple[float, int, int]] = []
    for index, edit in enumerate(edits):
        if not edit.by_number and edit.quoted <= words:
            cost = count_tokens("\n".join(edit.lines) + "\n")
            ranked.append((-edit.weight / max(cost, 1), index, cost))
    chosen: set[int] = set()
    left = max_tokens
    for _, index, cost in sorted(ranked):
        if cost <= left:
            chosen.add(index)
            left -= cost
    return [line for index, edit in enumerate(edits) if index in chosen for line in edit.lines]


def words_of(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
