"""Cut a tree's text to a token budget, and say what was cut.

    which lines stay, in this order of preference, each in the order of the page
      1. the first line (and WebArena's line of tabs)
      2. the focused element with its surroundings
      3. leading lines, for most of the budget
      4. elements that can be acted on, further down
      5. whatever else still fits
    then one line at the end: … 120 lines dropped to fit 2,000 tokens

A policy that never sees half of a page must not look as if it had seen it all: `Fitted.dropped_lines` goes into the
result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from harness.axtree.identity import INTERACTIVE_ROLES
from harness.errors import UsageError

CountTokens = Callable[[str], int]

FOCUS_LINES: Final = 5
"""Lines kept on each side of the focused element."""

LEADING_SHARE: Final = 0.75
"""Share of the budget that leading lines get before actionable lines further down."""

_BYTES_PER_TOKEN: Final = 3

_FOCUSED = re.compile(r", focused(?:,|$)| focused: True(?: |$)")
_ROLE = re.compile(r"[\t ]*\[[A-Za-z0-9]+\] ([A-Za-z][\w-]*)")


@dataclass(frozen=True, slots=True)
class Fitted:
    """A text of at most the wanted number of tokens. `dropped_lines` of `total_lines` lines are not in it."""

    text: str
    dropped_lines: int
    total_lines: int
    tokens: int


def approximate_tokens(text: str) -> int:
    """A stand-in where no tokenizer is at hand: one token per three bytes of UTF-8, rounded up.

    Rough by design: trees are full of brackets, digits and quotes, on which byte-pair vocabularies need about that.
    Give `fit` the model's own tokenizer where a limit is hard.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def fit(text: str, max_tokens: int, count_tokens: CountTokens = approximate_tokens) -> Fitted:
    """`text`, or as many of its lines as fit into `max_tokens` as `count_tokens` counts them, never more.

    If not even the closing notice fits, the text is empty. Raises UsageError for a negative budget.
    """
    if max_tokens < 0:
        raise UsageError(f"a budget of {max_tokens} tokens", fix="give a budget of 0 or more tokens")
    lines = text.split("\n")
    tokens = count_tokens(text)
    if tokens <= max_tokens:
        return Fitted(text, 0, len(lines), tokens)
    # Counted with its line break: in most vocabularies, the sum over lines is then close to the count of the whole.
    costs = [count_tokens(line + "\n") for line in lines]
    budget = max_tokens - count_tokens(_notice(len(lines), max_tokens))
    while budget > 0:
        kept = _choose(lines, costs, budget)
        if not kept:
            break
        shorter = "\n".join([*(lines[index] for index in sorted(kept)), _notice(len(lines) - len(kept), max_tokens)])
        tokens = count_tokens(shorter)
        if tokens <= max_tokens:
            return Fitted(shorter, len(lines) - len(kept), len(lines), tokens)
        budget -= max(tokens - max_tokens, budget // 20, 1)
    notice = _notice(len(lines), max_tokens)
    tokens = count_tokens(notice)
    if tokens <= max_tokens:
        return Fitted(notice, len(lines), len(lines), tokens)
    return Fitted("", len(lines), len(lines), count_tokens(""))


def _notice(dropped: int, max_tokens: int) -> str:
    return f"… {dropped:,} lines dropped to fit {max_tokens:,} tokens"


def _choose(lines: list[str], costs: list[int], budget: int) -> set[int]:
    """Indices of the lines that stay, at most `budget` tokens by `costs`. A line that does not fit is passed over."""
    kept: set[int] = set()
    left = budget

    def take(indices: range | list[int], reserve: int = 0) -> None:
        nonlocal left
        for index in indices:
            if index not in kept and 0 <= costs[index] <= left - reserve:
                kept.add(index)
                left -= costs[index]

    # WebArena: the line of tabs, an empty line, the root.
    take(range(min(3 if lines[0].startswith("Tab ") else 1, len(lines))))
    focused = next((i for i, line in enumerate(lines) if i and _FOCUSED.search(line)), None)
    if focused is not None:
        near = range(max(0, focused - FOCUS_LINES), min(len(lines), focused + FOCUS_LINES + 1))
        take(sorted(near, key=lambda index: abs(index - focused)))
    take(range(len(lines)), reserve=int(budget * (1 - LEADING_SHARE)))
    take([i for i, line in enumerate(lines) if (role := _ROLE.match(line)) and role[1] in INTERACTIVE_ROLES])
    take(range(len(lines)))
    return kept
