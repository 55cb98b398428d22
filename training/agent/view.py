"""What a policy that acts by descriptor sees: the goal, what it did, and the page's elements in the words that it must use.

    goal "Find the cheapest lamp"
    at /catalogue "All products"
    error there is no button "Buy" on this page
    past click link "Lamps"
    heading "Lamps"
    link "Edit" 2/5
    textbox "Search" = "lamp" focused

A page that does not fit the budget is pruned by this rule; what stays is shown in document order, and the rest is counted:

    1. always     goal, address, title, the last action's error, the last PAST_ACTIONS actions
    2. first      fields, what is focused, checked or chosen, headings, alerts
    3. then       lines that share a word with the goal
    4. then       other elements that can be acted on
    5. at last    other text
    each in document order. Text that only repeats its parent's name or value is left out from the start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from harness.axtree import INTERACTIVE_ROLES, CountTokens, Node, Tree, parse
from harness.axtree.identity import DECORATIVE_ROLES
from harness.predictions import PastStep
from harness.types import INVALID_ACTION, Action, Observation
from training.agent.spelling import WORDS, Element, elements, quoted, spelt_name
from training.world_model.formats.asking import plain, typed_of

PAST_ACTIONS: Final = 5
MAX_GOAL_CHARS: Final = 800
MAX_TEXT_CHARS: Final = 80
STATES: Final = ("checked", "selected", "expanded", "pressed", "focused", "disabled", "required")
FIELD_ROLES: Final = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})
NOTABLE_ROLES: Final = frozenset({"heading", "alert", "status", "dialog", "alertdialog"})
_WORD = re.compile(r"\w{3,}")


class View(NamedTuple):
    text: str
    dropped_lines: int
    """Lines of the page that did not fit."""


def view(goal: str, observation: Observation, history: Sequence[PastStep], *, count_tokens: CountTokens, max_tokens: int) -> View:
    """The page within `max_tokens`. Of the head only past actions give way, the oldest first, beyond half the budget."""
    tree = parse(observation.axtree)
    head, past = _head(goal, observation), [f"past {past_line(step.action)}" for step in history[-PAST_ACTIONS:]]

    def cost(*lines: str) -> int:
        return sum(count_tokens(f"{line}\n") for line in lines)

    used = cost(*head, *past)
    while past and used > max_tokens // 2:
        used -= cost(past.pop(0))
    lines = _lines(tree)
    words = set(_WORD.findall(goal.lower()))
    chosen: set[int] = set()
    for index in sorted(lines, key=lambda i: (_rank(tree.nodes[i], lines[i], words), i)):
        more = cost(lines[index])
        if used + more <= max_tokens:
            used += more
            chosen.add(index)
    return View("\n".join([*head, *past, *(lines[index] for index in sorted(chosen))]) + "\n", len(lines) - len(chosen))


def past_line(action: Action) -> str:
    """An earlier action in the words of its target, which needs no page."""
    if action.name == INVALID_ACTION:
        return "unreadable"
    words = [WORDS.get(action.name, action.name)]
    if (target := action.target) is not None:
        words.append(f"{target.role} {quoted(spelt_name(target.name))}")
        words += [f"{target.index + 1}/{target.count}"] if target.count > 1 else []
    if text := typed_of(action):
        words.append(quoted(_cut(text)))
    return " ".join(words)


def _head(goal: str, observation: Observation) -> list[str]:
    head = [f"goal {quoted(_cut(goal, MAX_GOAL_CHARS))}", f"at {_cut(_place(observation.url))} {quoted(_cut(observation.title))}"]
    if len(observation.open_pages) > 1:
        tabs = [quoted(spelt_name(page.title)) for page in observation.open_pages]
        head.append(f"tabs {' '.join(tabs)} active {observation.active_page_index}")
    head += [f"said {quoted(_cut(message.message))}" for message in observation.chat_messages[-1:] if message.role == "user"]
    if observation.last_action_error:
        head.append(f"error {_cut(' '.join(observation.last_action_error.split()))}")
    return head


def _place(url: str) -> str:
    """Path and query. Of a file its name alone: where it lies is this machine's business."""
    address = urlsplit(url)
    path = address.path.rpartition("/")[2] if address.scheme == "file" else address.path
    return (path or "/") + (f"?{address.query}" if address.query else "")


def _lines(tree: Tree) -> dict[int, str]:
    """Index → line, for every node that says something."""
    spelt = elements(tree)
    found: dict[int, str] = {}
    for index, node in enumerate(tree.nodes):
        if index == 0 or (node.role in DECORATIVE_ROLES and not node.name and not _acts(node)):
            continue
        parent = tree.parents[index]
        if node.role == "StaticText" and parent >= 0 and _says(tree.nodes[parent], node.name.strip()):
            continue
        if not plain(node.name) and node.value in (None, "") and not _acts(node):
            continue
        found[index] = _line(node, spelt.get(index))
    return found


def _says(parent: Node, text: str) -> bool:
    return text in (parent.name.strip(), "" if parent.value is None else str(parent.value).strip())


def _line(node: Node, element: Element | None) -> str:
    if element is not None and _acts(node):
        words = [str(element)]
    else:
        words = ["text" if node.role == "StaticText" else node.role, quoted(_cut(plain(node.name)))]
    if node.value not in (None, ""):
        words.append(f"= {quoted(_cut(str(node.value)))}")
    words += [
        key if value is True else f"{key}={value}" for key, value in node.properties if key in STATES and value is not False
    ]
    return " ".join(words)


def _rank(node: Node, line: str, goal_words: set[str]) -> int:
    if node.role in FIELD_ROLES or node.role in NOTABLE_ROLES:
        return 0
    if any(node.get(state) in (True, "true") for state in ("focused", "checked", "selected")):
        return 0
    if goal_words & set(_WORD.findall(line.lower())):
        return 1
    return 2 if _acts(node) else 3


def _acts(node: Node) -> bool:
    return node.role in INTERACTIVE_ROLES or node.get("clickable") is True


def _cut(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
