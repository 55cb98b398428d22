"""The page before and the action, in a few hundred tokens: what the `edits` format shows a model. See `view`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.actions import print_action
from harness.axtree import INTERACTIVE_ROLES, CountTokens, Node, describe_index
from harness.predictions import WorldModelQuery
from harness.types import Action
from training.world_model.formats.asking import Asked, ask, plain, typed_of
from training.world_model.formats.opening import abstract
from training.world_model.formats.quoting import quote
from training.world_model.formats.working import short
from training.world_model.memory.addresses import route, shelf
from training.world_model.memory.links import presses_enter

PAST_ACTIONS: Final = 3
MAX_TEXT_CHARS: Final = 80
MAX_GOAL_CHARS: Final = 160
MAX_HEADINGS: Final = 6
STATES: Final = ("checked", "selected", "expanded", "pressed", "focused")
ALERTS: Final = frozenset({"alert", "status", "dialog", "alertdialog", "heading"})


@dataclass(frozen=True, slots=True)
class View:
    text: str
    dropped_lines: int
    """Lines of the page's tree that are not shown."""


def view(
    query: WorldModelQuery, *, count_tokens: CountTokens, max_tokens: int, goal: bool = True, hints: Sequence[str] = ()
) -> View:
    """The pruned view of a query. Which lines stay, in this order, until `max_tokens` are used:

    1. always: site, address, title; the action; the acted element with k of N, landmark, states and neighbours
    2. what the most similar actions led to in training (`hints`, from the page memory)
    3. the goal
    4. where the focus is; fields with a value, which have slots (f1 …), then what else is checked, chosen or open
    5. the last three actions
    6. alerts, and the first six headings
    7. lines of the tree around the acted element, the nearest first; nameless wrappers are skipped

    Long texts are cut at 80 characters and end in `…`. `dropped_lines` counts the lines of the tree left out.
    """
    asked = ask(query)
    now = query.observation
    title = quote(_cut(now.title))
    head = [f"at {shelf(now.url, query.site)}{abstract(route(now.url))} {title}", f"do {_action(query.action, asked)}"]
    budget = _Budget(count_tokens, max_tokens, [*head, *_acted(asked)])
    for hint in hints:
        budget.take(f"seen {hint}")
    if goal and query.goal:
        budget.take(f"goal {quote(_cut(query.goal, MAX_GOAL_CHARS))}")
    shown = {index for index, line in _fields(asked) if budget.take(line)}
    for step in query.history[-PAST_ACTIONS:][::-1]:
        budget.take(f"past {_past(step.action)}")
    shown.update(index for index, line in _notable(asked) if index not in shown and budget.take(line))
    near = _near(asked, shown, budget)
    if near:
        budget.lines.append("near")
        budget.lines.extend(near)
    counted = len(shown) + len(near) + (asked.it is not None) + 1
    return View("\n".join(budget.lines), max(0, len(asked.tree) - counted))


class _Budget:
    """Lines taken while they fit. A line that does not fit is passed over: a shorter one may."""

    def __init__(self, count_tokens: CountTokens, max_tokens: int, lines: list[str]) -> None:
        self.lines = lines
        self._count = count_tokens
        self._left = max_tokens - sum(count_tokens(f"{line}\n") for line in lines)

    def fits(self, line: str) -> bool:
        cost = self._count(f"{line}\n")
        if cost > self._left:
            return False
        self._left -= cost
        return True

    def take(self, line: str) -> bool:
        if not self.fits(line):
            return False
        self.lines.append(line)
        return True


def _notable(asked: Asked) -> Iterator[tuple[int, str]]:
    headings = 0
    for index, node in enumerate(asked.tree.nodes):
        if node.role in ALERTS and node.name:
            headings += node.role == "heading"
            if node.role != "heading" or headings <= MAX_HEADINGS:
                yield index, _line(node)


def _near(asked: Asked, shown: set[int], budget: _Budget) -> list[str]:
    """Lines around the acted element in document order, as many as fit, the nearest first."""
    start = asked.it or 0
    chosen: list[int] = []
    for index in sorted(range(1, len(asked.tree)), key=lambda index: abs(index - start)):
        node = asked.tree.nodes[index]
        if index in shown or index == asked.it or not (node.name or node.role in INTERACTIVE_ROLES):
            continue
        if not budget.fits(_line(node)):
            break
        chosen.append(index)
    return [_line(asked.tree.nodes[index]) for index in sorted(chosen)]


def _action(action: Action, asked: Asked) -> str:
    if asked.it is None:
        return print_action(action)[: 2 * MAX_TEXT_CHARS]
    words = [action.name, "it"]
    if asked.typed:
        words.append(quote(_cut(asked.typed)))
    if presses_enter(action):
        words.append("enter")
    if action.name == "press":
        words.append(str(action.arguments.get("key_comb", ""))[:MAX_TEXT_CHARS])
    return " ".join(words)


def _acted(asked: Asked) -> Iterator[str]:
    if asked.it is None:
        return
    node = asked.tree.nodes[asked.it]
    told = describe_index(asked.tree, asked.it)
    words = [_line(node)]
    if told.count > 1:
        words.append(f"{told.index + 1} of {told.count}")
    if told.landmark:
        words.append(f"in {told.landmark}")
    yield "it " + " ".join(words)
    yield f"beside {quote(short(plain(told.neighbours[0])))} {quote(short(plain(told.neighbours[1])))}"


def _fields(asked: Asked) -> Iterator[tuple[int, str]]:
    slot_of = {index: f"f{k}" for k, (index, _) in enumerate(asked.fields, 1)}
    for index, node in enumerate(asked.tree.nodes):
        if index in slot_of:
            yield index, f"{slot_of[index]} {_line(node)}"
    for index, node in enumerate(asked.tree.nodes):
        if index and index not in slot_of and index != asked.it and any(node.get(key) in (True, "true") for key in STATES):
            yield index, _line(node)


def _past(action: Action) -> str:
    target = action.target
    words = [action.name]
    if target is not None:
        words.append(f"{target.role} {quote(short(plain(target.name)))}")
    if text := typed_of(action):
        words.append(quote(_cut(text)))
    return " ".join(words)


def _line(node: Node) -> str:
    words = [node.role]
    if node.name:
        words.append(quote(_cut(plain(node.name))))
    if node.value not in (None, ""):
        words.append(f"= {quote(_cut(str(node.value)))}")
    words.extend(key if value is True else f"{key}={value}" for key, value in node.properties if key in STATES)
    return " ".join(words)


def _cut(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
