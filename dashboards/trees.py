"""A page's tree beside the page before it: every line with what happened to its node. Pure functions of two texts.

    mark   +  the node is new            ~  its name, value or state changed
           -  the node is gone           >  it stands elsewhere now
           (blank)  as before

Nodes are matched by `harness.axtree.diff`, not by lines: a page that moved by one line has not changed everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness.axtree import Added, Changed, Moved, Removed, Tree, diff, match, parse
from results.text import printable

Mark = Literal["+", "-", "~", ">", " "]

MAX_DIFF_CHARACTERS = 400_000
CONTEXT = 2
INDENT = 40
"""Deeper nodes are drawn at this depth: a hostile page may nest thousands."""


@dataclass(frozen=True, slots=True)
class Line:
    mark: Mark
    text: str

    def __str__(self) -> str:
        return f"{self.mark} {self.text}"


@dataclass(frozen=True)
class Marked:
    """`changes` counts nodes by mark; `compared` is False for a first page, or where pages are too large to compare."""

    lines: tuple[Line, ...]
    changes: dict[Mark, int]
    compared: bool


def marked(before: str | None, now: str) -> Marked:
    """The lines of `now`, in order, with the nodes of `before` that are gone where they stood."""
    tree = parse(now)
    if before is None or len(before) + len(now) > MAX_DIFF_CHARACTERS:
        return Marked(tuple(Line(" ", text) for text in _texts(tree)), {}, False)
    old = parse(before)
    edits = diff(old, tree)
    b_of = match(old, tree).b_of
    marks: list[Mark] = [" "] * len(tree)
    for edit in edits.of(Changed):
        marks[b_of[edit.ref.at]] = "~"
    for move in edits.of(Moved):
        marks[move.target.at] = ">" if marks[move.target.at] == " " else marks[move.target.at]
    for added in edits.of(Added):
        marks[added.ref.at] = "+"
    gone = _gone(old, b_of, {edit.ref.at for edit in edits.of(Removed)})
    lines: list[Line] = [Line("-", text) for text in gone.get(-1, ())]
    for index, text in enumerate(_texts(tree)):
        lines.append(Line(marks[index], text))
        lines.extend(Line("-", text) for text in gone.get(index, ()))
    counts: Counter[Mark] = Counter(line.mark for line in lines if line.mark != " ")
    return Marked(tuple(lines), dict(counts), True)


def changed_only(lines: Sequence[Line]) -> list[Line | None]:
    """Changed lines with `CONTEXT` lines around them; None where lines are left out."""
    keep: set[int] = set()
    for number, line in enumerate(lines):
        if line.mark != " ":
            keep.update(range(max(0, number - CONTEXT), min(len(lines), number + CONTEXT + 1)))
    found: list[Line | None] = []
    last = -1
    for number in sorted(keep):
        if number != last + 1:
            found.append(None)
        found.append(lines[number])
        last = number
    if found and last != len(lines) - 1:
        found.append(None)
    return found


def as_text(lines: Sequence[Line | None], limit: int) -> str:
    """The lines for a block of code; says how many it leaves out."""
    shown = ["  ⋮" if line is None else str(line) for line in lines[:limit]]
    if len(lines) > limit:
        shown.append(f"  … {len(lines) - limit:,} more lines: download the whole")
    return "\n".join(shown)


def _texts(tree: Tree) -> list[str]:
    return [
        f"{'  ' * min(depth, INDENT)}{f'[{node.bid}] ' if node.bid is not None else ''}{_line(label)}"
        for node, depth, label in zip(tree.nodes, tree.depths, tree.labels, strict=True)
    ]


def _line(label: str) -> str:
    return printable(label).replace("\n", " ").replace("\t", " ")


def _gone(old: Tree, b_of: Sequence[int], removed: set[int]) -> dict[int, list[str]]:
    """Index of the node of the new tree after which they stood (-1: at the top) → lines of removed nodes."""
    texts = _texts(old)
    found: dict[int, list[str]] = {}
    anchor = -1
    for index in range(len(old)):
        if index in removed:
            found.setdefault(anchor, []).append(texts[index])
        elif b_of[index] >= 0:
            anchor = b_of[index]
    return found
