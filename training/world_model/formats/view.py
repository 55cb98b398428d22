"""The page before and the action, in a few hundred tokens: what the `edits` format shows a model. See `view`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harness.actions import print_action
from harness.axtree import CountTokens, Node, describe_index
from harness.axtree.identity import DECORATIVE_ROLES
from harness.predictions import WorldModelQuery
from harness.types import Action
from training.world_model.formats.asking import Asked, ask, plain, typed_of
from training.world_model.formats.opening import abstract
from training.world_model.formats.quoting import quote
from training.world_model.formats.working import short
from training.world_model.memory.addresses import route, shelf

PAST_ACTIONS: Final = 3
MAX_TEXT_CHARS: Final = 80
STATES: Final = ("checked", "selected", "expanded", "pressed", "focused")
ALERTS: Final = frozenset({"alert", "status", "dialog", "alertdialog", "heading"})


@dataclass(frozen=True, slots=True)
class View:
    text: str
    dropped_lines: int
    """Lines of the page's tree that are not shown."""


def view(query: WorldModelQuery, *, count_tokens: CountTokens, max_tokens: int, goal: bool = True) -> View:
    """The pruned view of a query. Which lines stay, in this order, until `max_tokens` are used:

    1. always: site, address, title; the action; the acted element with k of N, landmark, neighbours and states
    2. the goal
    3. where the focus is; fields with a value, which have slots (f1 …), then what else is checked, chosen or open
    4. the last three actions
    5. alerts and headings
    6. lines of the tree around the acted element, the nearest first

    Long texts are cut at 80 characters and end in `…`. `dropped_lines` counts the lines of the tree left out.
    """
    asked = ask(query)
    now = query.observation
    must = [
        f"at {shelf(now.url, query.site)}{abstract(route(now.url))} {quote(_cut(now.title))}",
        f"do {_action(query.action, asked)}",
        *_acted(asked),
    ]
    parts: list[str] = list(must)
    shown: set[int] = set()
    used = count_tokens("\n".join(parts)) + 1

    def take(line: str) -> bool:
        nonlocal used
        cost = count_tokens(line + "\n")
        if used + cost > max_tokens:
            return False
        used += cost
        parts.append(line)
        return True

    if goal and query.goal:
        take(f"goal {quote(_cut(query.goal, 2 * MAX_TEXT_CHARS))}")
    for index, line in _fields(asked):
        if take(line):
            shown.add(index)
    for step in query.history[-PAST_ACTIONS:][::-1]:
        take(f"past {_past(step.action)}")
    for index, node in enumerate(asked.tree.nodes):
        if node.role in ALERTS and node.name and index not in shown and take(_line(node)):
            shown.add(index)
    near = sorted(range(1, len(asked.tree)), key=lambda index: abs(index - (asked.it or 0)))
    chosen = set()
    for index in near:
        node = asked.tree.nodes[index]
        if index in shown or index == asked.it or (node.role in DECORATIVE_ROLES and not node.name):
            continue
        cost = count_tokens(_line(node) + "\n")
        if used + cost > max_tokens:
            break
        used += cost
        chosen.add(index)
    if chosen:
        parts.append("near")
        parts.extend(_line(asked.tree.nodes[index]) for index in sorted(chosen))
    return View("\n".join(parts), max(0, len(asked.tree) - len(shown) - len(chosen) - 1 - (asked.it is not None)))


def _action(action: Action, asked: Asked) -> str:
    if asked.it is None:
        return print_action(action)[: 2 * MAX_TEXT_CHARS]
    words = [action.name, "it"]
    if asked.typed:
        words.append(quote(_cut(asked.typed)))
    if action.name == "type" and action.arguments.get("press_enter", True) is not False:
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
