"""Actions by descriptor: `click button "Save"`. Small models learn to name an element long before they learn to number it.

    click ROLE "name"            also dblclick, hover, focus, clear, check, uncheck
    fill ROLE "name" "value"     type … (fill, then Enter), select … "option" …, press … "key", upload_file … "file"
    drag_and_drop ROLE "name" to ROLE "name"
    answer "text"    infeasible "why"    back    forward    goto "url"    scroll 0 200    tab_focus 1    noop …

    ROLE "name" 2/5      the second of five elements that are spelt so, in document order; left out where there is one
    key=JSON             an argument that has a default, last: `type textbox "Search" "lamp" press_enter=false`

Texts are JSON strings. A name longer than MAX_NAME_CHARS is spelt by its beginning and `…`, as the page view shows it.
`spell(action, tree)` and `read(text, tree)` are inverse to each other, up to the raw text; tests/training/agent plays it through
the oracle's episodes. What cannot be read, or means no or several elements, is an `invalid` Action that says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pydantic import JsonValue
from rapidfuzz import fuzz, process

from harness.actions import ACTION_SPACE, ErrorKind, Signature, invalid, make_action
from harness.axtree import Tree, describe_index
from harness.errors import UsageError
from harness.types import INVALID_ACTION, Action
from training.world_model.formats.asking import plain

MAX_NAME_CHARS: Final = 40
"""Of a name in a spelling; the page view cuts at the same length."""
MAX_ACTION_CHARS: Final = 20_000
"""Longer lines are refused unread."""

WORDS: Final = {
    "select_option": "select", "send_msg_to_user": "answer", "report_infeasible": "infeasible",
    "go_back": "back", "go_forward": "forward",
}  # fmt: skip
"""Actions with a shorter word than BrowserGym's name."""
_NAMES: Final = {word: name for name, word in WORDS.items()}
_COUNTED = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")
OPTION_ROLES: Final = frozenset({"option", "menuitem"})
_KEY = re.compile(r"([a-z_]+)=")
_DECODER = json.JSONDecoder()


class Element(NamedTuple):
    """How an element is spelt."""

    role: str
    name: str
    k: int
    """From 1."""
    n: int

    def __str__(self) -> str:
        return f"{self.role} {quoted(self.name)}" + (f" {self.k}/{self.n}" if self.n > 1 else "")


def elements(tree: Tree) -> dict[int, Element]:
    """Index of every node with a bid → its spelling."""
    same: dict[tuple[str, str], list[int]] = {}
    for index, node in enumerate(tree.nodes):
        if node.bid is not None:
            same.setdefault((node.role, spelt_name(node.name)), []).append(index)
    found = {
        index: Element(role, name, k, len(indices))
        for (role, name), indices in same.items()
        for k, index in enumerate(indices, 1)
    }
    return dict(sorted(found.items()))


def spelt_name(name: str) -> str:
    """A node's name as spellings have it: white space collapsed, icon glyphs (private use) taken out, cut at MAX_NAME_CHARS."""
    text = plain(name.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return text if len(text) <= MAX_NAME_CHARS else text[: MAX_NAME_CHARS - 1] + "…"


def spell(action: Action, tree: Tree) -> str:
    """`action` as a line that `read` understands on `tree`. An invalid action is its raw text.

    Raises UsageError for an action outside the action space, or on an element that the tree does not have.
    """
    if action.name == INVALID_ACTION:
        return action.raw
    signature = ACTION_SPACE.get(action.name)
    if signature is None:
        raise UsageError(f"there is no action {action.name!r}", fix="build actions with make_action")
    parts = [WORDS.get(action.name, action.name)]
    for parameter in signature.parameters:
        if parameter.name not in action.arguments:
            continue
        value = action.arguments[parameter.name]
        if parameter.is_bid:
            index = tree.by_bid.get(str(value))
            if index is None:
                raise UsageError(f"the page has no element {value!r}", fix="spell an action on the page it was made for")
            parts += ["to"] if len(parts) > 1 else []
            parts.append(str(elements(tree)[index]))
        elif not parameter.required:
            parts.append(f"{parameter.name}={quoted(value)}")
        elif isinstance(value, list):
            parts += map(quoted, value)
        else:
            parts.append(quoted(value))
    return " ".join(parts)


def read(text: str, tree: Tree, *, nearest: bool = False) -> Action:
    """The action that `text` (one line) spells on `tree`, with its element's bid and descriptor. Never raises.

    `nearest`: a name that the page does not have means the element of that role whose name is most like it, and so with the
    options of a list and with numbers; the raw text stays as it was written.
    """
    line = text.strip()
    if len(line) > MAX_ACTION_CHARS:
        return invalid("parse", f"the action is longer than {MAX_ACTION_CHARS:,} characters", text[:200])
    try:
        parts = list(_parts(line))
        if not parts or not isinstance(parts[0], _Word):
            return invalid("parse", 'an action begins with its name, as in: click button "Save"', text)
        word = str(parts.pop(0))
        name = _NAMES.get(word, word)
        signature = ACTION_SPACE.get(name)
        if signature is None or word in WORDS:
            return invalid("unknown_action", f"there is no action {word[:40]!r}", text)
        return _bound(signature, parts, tree, text, nearest)
    except _Unreadable as error:
        return invalid(error.kind, str(error), text)


def _bound(signature: Signature, parts: list[_Part], tree: Tree, raw: str, nearest: bool) -> Action:
    arguments: dict[str, JsonValue] = {}
    target: int | None = None
    for parameter in signature.parameters:
        if parameter.is_bid:
            if arguments and parts[:1] == ["to"]:
                parts.pop(0)
            index = _element(parts, tree, nearest)
            target = index if target is None else target
            arguments[parameter.name] = tree.nodes[index].bid
        elif not parameter.required:
            continue
        elif parameter.kind == "text_or_list":
            texts = _texts(parts)
            if nearest and signature.name == "select_option" and target is not None:
                texts = [_like(text, _options(tree, target)) for text in texts]
            arguments[parameter.name] = texts[0] if len(texts) == 1 else list[JsonValue](texts)
        elif parts and not isinstance(parts[0], _Word | _Named):
            arguments[parameter.name] = parts.pop(0)  # type: ignore[assignment]
    for part in parts:
        if not isinstance(part, _Named):
            raise _Unreadable("bad_argument", f"{signature.name}: {str(part)[:40]!r} is too much")
        arguments[part.key] = part.value
    action = make_action(signature.name, arguments, raw)
    return action if target is None or action.name == INVALID_ACTION else _with_target(action, tree, target)


def _with_target(action: Action, tree: Tree, index: int) -> Action:
    return action.model_copy(update={"target": describe_index(tree, index)})


def _element(parts: list[_Part], tree: Tree, nearest: bool) -> int:
    """Takes ROLE "name" k/n off `parts`; the index of the one node that it means. Raises _Unreadable."""
    if len(parts) < 2 or not isinstance(parts[0], _Word) or not _is_text(parts[1]):
        raise _Unreadable("bad_argument", 'an element is written as its role and its name: button "Save"')
    role, name = str(parts.pop(0)), spelt_name(str(parts.pop(0)))
    counted = _COUNTED.fullmatch(parts[0]) if parts and isinstance(parts[0], _Word) else None
    if counted:
        parts.pop(0)
    same = _namesakes(tree, role, name)
    if nearest and not same:
        names = [spelt_name(node.name) for node in tree.nodes if node.role == role and node.bid is not None]
        same = _namesakes(tree, role, _like(name, names))
    if nearest and same:
        return same[min(int(counted[1]) if counted else 1, len(same)) - 1]
    shown = f"{role} {quoted(name)}"
    if not same:
        raise _Unreadable("bad_argument", f"there is no {shown} on this page")
    if counted is None:
        if len(same) > 1:
            raise _Unreadable("bad_argument", f"{len(same)} elements are {shown}: say which, as 1/{len(same)}")
        return same[0]
    k = int(counted[1])
    if k > len(same):
        raise _Unreadable("bad_argument", f"there are only {len(same)} elements {shown}")
    return same[k - 1]


def _namesakes(tree: Tree, role: str, name: str) -> list[int]:
    return [
        index
        for index, node in enumerate(tree.nodes)
        if node.role == role and node.bid is not None and spelt_name(node.name) == name
    ]


def _options(tree: Tree, index: int) -> list[str]:
    """Names of the options below a list, as far as the page shows them."""
    return [node.name for node in tree.nodes[index + 1 : tree.ends[index]] if node.role in OPTION_ROLES]


def _like(name: str, names: Sequence[str]) -> str:
    """The one of `names` that is most like `name`, the first of equals; itself where there is none."""
    found = process.extractOne(name, names, scorer=fuzz.ratio)
    return name if found is None else found[0]


def _texts(parts: list[_Part]) -> list[str]:
    found: list[str] = []
    while parts and _is_text(parts[0]):
        found.append(str(parts.pop(0)))
    return found


class _Unreadable(Exception):
    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Word(str):
    """A bare word."""

    __slots__ = ()


class _Named(NamedTuple):
    key: str
    value: JsonValue


_Part = _Word | _Named | JsonValue


def _is_text(part: _Part) -> bool:
    return isinstance(part, str) and not isinstance(part, _Word)


def _parts(line: str) -> Iterator[_Part]:
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
        elif named := _KEY.match(line, at):
            value, at = _json(line, named.end())
            yield _Named(named[1], value)
        elif line[at] == '"' or (line[at] in "-0123456789" and not _COUNTED.match(line, at)):
            value, at = _json(line, at)
            yield value
        else:
            end = next((i for i in range(at, len(line)) if line[i].isspace() or line[i] == '"'), len(line))
            yield _Word(line[at:end])
            at = end


def _json(line: str, at: int) -> tuple[JsonValue, int]:
    try:
        value, end = _DECODER.raw_decode(line, at)
    except (ValueError, RecursionError):
        raise _Unreadable("parse", "a quoted text is not closed, or a value cannot be read") from None
    return value, end


def quoted(value: JsonValue) -> str:
    """A text or another value as spellings have it: JSON."""
    return json.dumps(value, ensure_ascii=False)
