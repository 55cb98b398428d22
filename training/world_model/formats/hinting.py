"""Which remembered answers stand in a prompt: those that could be read on this page come first, else in the order given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from training.world_model.formats.asking import Asked
from training.world_model.formats.grammar import HEADS, ON_A_NODE, PLACES
from training.world_model.formats.quoting import Token, Unreadable, tokens_of
from training.world_model.formats.working import IT, PAGE, short

MAX_HINT_CHARS: Final = 200
SPARE: Final = 4
"""Answers that are looked at beyond those that are wanted."""


def hints(answers: Sequence[str], asked: Asked, count: int) -> list[str]:
    """`count` of the answers, each on one line and cut."""
    shown = {(node.role, short(node.name)) for node in asked.tree.nodes}
    ranked = sorted(answers, key=lambda answer: not _fits(answer, asked, shown))
    return [_on_one_line(answer) for answer in ranked[:count]]


def _fits(answer: str, asked: Asked, shown: set[tuple[str, str]]) -> bool:
    """Are all nodes that it names on the page? Of a page that opens nothing is asked."""
    lines = [line for line in answer.split("\n") if not line.startswith(" ")]
    if lines[0].split(" ")[0] in HEADS:
        return True
    try:
        return all(_names_a_node(tokens_of(line), asked, shown) for line in lines)
    except Unreadable:
        return False


def _names_a_node(tokens: list[Token], asked: Asked, shown: set[tuple[str, str]]) -> bool:
    verb, *rest = tokens or [Token("")]
    if verb.text == "add" and rest and rest[0].text in PLACES:
        rest = rest[1:]
    elif verb.text not in ON_A_NODE:
        return True
    if not rest or rest[0].quoted or rest[0].text in (IT, PAGE):
        return bool(rest) and (rest[0].text != IT or asked.it is not None)
    named = len(rest) > 1 and rest[1].quoted and verb.text != "set"
    name = asked.slots.fill(rest[1].text) if named or (len(rest) > 2 and rest[1].quoted) else ""
    return (rest[0].text, name) in shown


def _on_one_line(answer: str) -> str:
    line = " ; ".join(answer.split("\n"))
    return line if len(line) <= MAX_HINT_CHARS else line[: MAX_HINT_CHARS - 1] + "…"
