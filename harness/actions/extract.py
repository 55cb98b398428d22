"""Find the action in a model's free-form reply, without ever taking it from prose.

    1. `<think>…</think>` goes; an unclosed one means that the reply was cut before its action
    2. the whole reply, if it is exactly one action
    3. the last marked block: ``` fence or <action>…</action>, whichever stands last; it is the action or nothing is
    4. a line that says "the next action I will perform is …" (WebArena's prompt), or starts with "Action:"
    5. the last non-empty line, if it is exactly one action and no other line is one

A block, a line or the reply may also be JSON: {"action": "click('12')"}, {"action": {"name": …, "arguments": {…}}}
or {"name": …, "arguments": {…}}. A block that holds no action makes the reply invalid: looking further would mean
guessing what the model wanted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final, Literal

from harness.actions.browsergym import parse_action
from harness.actions.build import invalid, make_action, well_formed
from harness.actions.webarena import parse_webarena_action
from harness.types import INVALID_ACTION, Action

Syntax = Literal["browsergym", "webarena"]

_Reader = Callable[[str], Action]
_READERS: Final[dict[Syntax, _Reader]] = {"browsergym": parse_action, "webarena": parse_webarena_action}

MAX_REPLY_CHARS: Final = 400_000
"""Only the end of a longer reply is read."""

_THINK_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THINK_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
# A block ends at its closing mark or, where a stop sequence swallowed the mark, at the end of the reply.
_BLOCK = re.compile(r"```+(?P<fence>.*?)(?:```+|\Z)|<action>(?P<tag>.*?)(?:</action>|\Z)", re.DOTALL | re.IGNORECASE)
_INFO_STRING = re.compile(r"\A[ \t]*[A-Za-z0-9_+.-]*[ \t]*\n")
_ANNOUNCED = re.compile(r"^.*\bthe next action I will perform is[ \t]*:?[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"\Aaction[ \t]*:", re.IGNORECASE)
_REOPENED = re.compile(r"\].*\[", re.DOTALL)


def extract_action(reply: str, syntax: Syntax = "browsergym") -> Action:
    """The action in `reply`, with `raw` the text it was read from; else an `invalid` Action. Never raises."""
    read = _READERS[syntax]
    text = _without_thinking(well_formed(reply[-MAX_REPLY_CHARS:]))
    if text is None:
        return invalid("parse", "the reply ends inside its thinking block: no action", reply)
    if not text:
        return invalid("parse", "the reply is empty", reply)
    whole = _read_unmarked(text, read)
    if whole.name != INVALID_ACTION:
        return whole
    blocks = [block for block in map(_block_text, _BLOCK.finditer(text)) if block]
    if blocks:
        return _read(blocks[-1], read)
    lines = text.split("\n")
    for line in (*_ANNOUNCED.findall(text)[-1:], _LABEL.sub("", lines[-1])):
        found = _read_unmarked(line.strip().strip("`").strip(), read)
        if found.name != INVALID_ACTION:
            others = (other.strip() for other in lines if line not in other)
            if any(other and _read_unmarked(other, read).name != INVALID_ACTION for other in others):
                return invalid("parse", "exactly one action is expected, found several", text)
            return found
    if len(lines) == 1:
        return whole
    return invalid("parse", "there is no action block, and the last line is not an action", lines[-1])


def _without_thinking(reply: str) -> str | None:
    """`reply` without its thinking blocks, stripped; None if one is left open."""
    kept: list[str] = []
    position = 0
    while opening := _THINK_OPEN.search(reply, position):
        kept.append(reply[position : opening.start()])
        closing = _THINK_CLOSE.search(reply, opening.end())
        if closing is None:
            return None
        position = closing.end()
    kept.append(reply[position:])
    # Chat templates may open the block themselves, so that only its end is in the reply.
    return _THINK_CLOSE.split("".join(kept))[-1].strip()


def _block_text(match: re.Match[str]) -> str:
    if match["tag"] is not None:
        return match["tag"].strip().strip("`").strip()
    content = match["fence"]
    # "```go_back\n```" looks like a language name over an empty block; it is an action.
    return (_INFO_STRING.sub("", content, count=1).strip() or content).strip()


def _read_unmarked(text: str, read: _Reader) -> Action:
    """As `_read`, for text that nothing marks as an action.

    In WebArena's syntax "stop [a], no: click [3]" reads as one answer with brackets in it; without a mark, it is prose.
    """
    found = _read(text, read)
    reopened = read is parse_webarena_action and any(
        isinstance(value, str) and _REOPENED.search(value) for value in found.arguments.values()
    )
    return invalid("parse", "several brackets outside an action block", text) if reopened else found


def _read(text: str, read: _Reader) -> Action:
    """`text` as JSON if it is an object, else in the syntax of `read`."""
    if text.startswith("{") and text.endswith("}"):
        return _from_json(text, read)
    return read(text)


def _from_json(text: str, read: _Reader) -> Action:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return invalid("parse", "the JSON in the reply cannot be read", text)
    action = data.get("action", data) if isinstance(data, dict) else data
    if isinstance(action, str):
        return read(action)
    if not isinstance(action, dict) or not isinstance(action.get("name"), str):
        return invalid("parse", 'the JSON in the reply has no "action"', text)
    arguments = action.get("arguments", {})
    if not isinstance(arguments, dict):
        return invalid("bad_argument", "arguments must be an object", text)
    return make_action(action["name"], arguments, text)
