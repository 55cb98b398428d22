"""Read and write WebArena's action syntax: `click [12]`, `type [5] [red shoes] [1]`, `stop [42]`.

    WebArena                      BrowserGym
    click [id], hover [id]        click(bid), hover(bid)
    type [id] [text] [0|1]        type(bid, text, press_enter)   ours; the flag defaults to 1, as in WebArena
    press [keys]                  keyboard_press(key)
    scroll [down|up]              scroll(0, ±720)                one viewport height
    new_tab, close_tab            new_tab(), tab_close()
    tab_focus [i], goto [url]     tab_focus(index), goto(url)
    go_back | goback, go_forward  go_back(), go_forward()
    stop [answer], stop           send_msg_to_user(text)
    stop [N/A]                    report_infeasible("N/A")

A text argument runs to the last closing bracket, so brackets inside it need no balance and no escape. WebArena's own
reader searches for a pattern anywhere in the line; this one wants nothing before or after the action. An id may have
BrowserGym's frame prefix (`a12`).
"""

from __future__ import annotations

import re
from typing import Final

from harness.actions.build import invalid, make_action, well_formed
from harness.errors import UsageError
from harness.types import INVALID_ACTION, Action

SCROLL_PIXELS: Final = 720
"""What `scroll [down]` moves: WebArena scrolls by the height of its 1280×720 viewport."""

INFEASIBLE_ANSWER: Final = "N/A"
"""The answer by which WebArena's agents say that a task cannot be done."""

MAX_ACTION_CHARS: Final = 100_000

_HEAD = re.compile(r"([A-Za-z_]+)\s*")
_ID = re.compile(r"\[\s*([A-Za-z]*[0-9]+)\s*\]")
_ENTER_FLAG = re.compile(r"\]\s*\[\s*(?:press_enter_after\s*=\s*)?([01])\s*\]\Z")
_SCROLL = re.compile(r"\[?\s*(?:direction\s*=\s*)?(down|up)\s*\]?", re.IGNORECASE)
_NO_ARGUMENT: Final = {
    "go_back": "go_back", "goback": "go_back", "go_forward": "go_forward", "goforward": "go_forward",
    "new_tab": "new_tab", "close_tab": "tab_close", "tab_close": "tab_close",
}  # fmt: skip
_ONE_TEXT: Final = {"press": ("keyboard_press", "key"), "goto": ("goto", "url")}
_COMMANDS: Final = (*_NO_ARGUMENT, *_ONE_TEXT, "click", "hover", "type", "scroll", "tab_focus", "stop")
_SECOND_ACTION = re.compile(rf"\]\s*\n\s*(?:{'|'.join(_COMMANDS)})\s*(?:\[|\Z)")


def parse_webarena_action(text: str) -> Action:
    """The one action in `text`; anything else is an `invalid` Action whose `error` says why. Never raises."""
    if len(text) > MAX_ACTION_CHARS:
        return invalid("parse", f"the action is longer than {MAX_ACTION_CHARS:,} characters", text)
    source = well_formed(text).strip()
    head = _HEAD.match(source)
    if head is None:
        return invalid("parse", "the action is empty" if not source else "not an action such as click [12]", text)
    command, rest = head[1], source[head.end() :]
    if command not in _COMMANDS:
        return invalid("unknown_action", f"there is no action {command[:80]!r} in WebArena's syntax", text)
    if _SECOND_ACTION.search(rest):
        return invalid("parse", "exactly one action is expected, found several", text)
    return _arguments(command, rest, text)


def print_webarena_action(action: Action) -> str:
    """`action` in WebArena's syntax; `fill` prints as `type … [0]`. An `invalid` action prints as it was written.

    `report_infeasible` always prints as `stop [N/A]`: the syntax has no place for a reason.
    Raises UsageError for what the syntax cannot express.
    """
    if action.name == INVALID_ACTION:
        return action.raw
    expressible = _expressible(action)
    text = _print(expressible)
    if text is not None:
        back = parse_webarena_action(text)
        if (back.name, back.arguments) == (expressible.name, expressible.arguments):
            return text
    raise UsageError(f"WebArena's syntax cannot express this {action.name} action", fix="print it in BrowserGym's syntax")


def _arguments(command: str, rest: str, text: str) -> Action:
    if command in _NO_ARGUMENT:
        if rest not in ("", "[]"):
            return invalid("bad_argument", f"{command} takes no argument", text)
        return make_action(_NO_ARGUMENT[command], {}, text)
    if command in ("click", "hover"):
        match = _ID.fullmatch(rest)
        if match is None:
            return invalid("bad_argument", f"{command} takes one element id, as in {command} [12]", text)
        return make_action(command, {"bid": match[1]}, text)
    if command == "type":
        return _type(rest, text)
    if command == "scroll":
        match = _SCROLL.fullmatch(rest)
        if match is None:
            return invalid("bad_argument", "scroll takes a direction, as in scroll [down]", text)
        sign = 1 if match[1].lower() == "down" else -1
        return make_action("scroll", {"delta_x": 0, "delta_y": sign * SCROLL_PIXELS}, text)
    if command == "stop":
        return _stop(rest, text)
    content = _content(rest)
    if content is None:
        return invalid("bad_argument", f"{command} takes one argument in brackets, as in {command} [...]", text)
    if command == "tab_focus":
        return make_action("tab_focus", {"index": content}, text)
    name, parameter = _ONE_TEXT[command]
    return make_action(name, {parameter: content.strip()}, text)


def _type(rest: str, text: str) -> Action:
    match = _ID.match(rest)
    tail = rest[match.end() :].lstrip() if match else ""
    flag = _ENTER_FLAG.search(tail)
    content = _content(tail[: flag.start() + 1] if flag else tail)
    if match is None or content is None:
        return invalid("bad_argument", "type takes an id and a text, as in type [12] [red shoes] [1]", text)
    press_enter = flag is None or flag[1] == "1"
    return make_action("type", {"bid": match[1], "text": content, "press_enter": press_enter}, text)


def _stop(rest: str, text: str) -> Action:
    answer = _content(rest) if rest else ""
    if answer is None:
        return invalid("bad_argument", "stop takes an answer in brackets, as in stop [42]", text)
    if answer.strip().upper() == INFEASIBLE_ANSWER:
        return make_action("report_infeasible", {"reason": INFEASIBLE_ANSWER}, text)
    return make_action("send_msg_to_user", {"text": answer}, text)


def _content(rest: str) -> str | None:
    """What stands between the first and the last bracket; None unless they enclose all of `rest`."""
    if len(rest) < 2 or rest[0] != "[" or rest[-1] != "]":
        return None
    return rest[1:-1]


def _expressible(action: Action) -> Action:
    """`action`, or the action of WebArena's syntax that does the same."""
    arguments = action.arguments
    if action.name == "fill" and not arguments.get("enable_autocomplete_menu"):
        return make_action("type", {"bid": arguments.get("bid"), "text": arguments.get("value"), "press_enter": False})
    if action.name == "report_infeasible":
        return make_action("report_infeasible", {"reason": INFEASIBLE_ANSWER})
    checked = make_action(action.name, arguments)
    if answer_is_infeasible(checked):
        return make_action("report_infeasible", {"reason": INFEASIBLE_ANSWER})
    return checked


def answer_is_infeasible(action: Action) -> bool:
    """Is this an answer that WebArena scores as "cannot be done", though sent as a plain message?"""
    text = action.arguments.get("text") if action.name == "send_msg_to_user" else None
    return isinstance(text, str) and text.strip().upper() == INFEASIBLE_ANSWER


def _print(action: Action) -> str | None:
    name, arguments = action.name, action.arguments
    if name in ("click", "hover"):
        return f"{name} [{arguments['bid']}]"
    if name == "type":
        return f"type [{arguments['bid']}] [{arguments['text']}] [{int(bool(arguments.get('press_enter', True)))}]"
    if name == "keyboard_press":
        return f"press [{arguments['key']}]"
    if name == "goto":
        return f"goto [{arguments['url']}]"
    if name == "scroll":
        return "scroll [down]" if arguments["delta_y"] == SCROLL_PIXELS else "scroll [up]"
    if name == "tab_focus":
        return f"tab_focus [{arguments['index']}]"
    if name == "send_msg_to_user":
        return f"stop [{arguments['text']}]"
    if name == "report_infeasible":
        return f"stop [{INFEASIBLE_ANSWER}]"
    return {"go_back": "go_back", "go_forward": "go_forward", "new_tab": "new_tab", "tab_close": "close_tab"}.get(name)
