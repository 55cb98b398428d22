"""Check and coerce arguments: the only way to an `Action`, whatever syntax it was written in.

    make_action("click", {"bid": 51})      → Action(name="click", arguments={"bid": "51"})
    make_action("klick", {"bid": "51"})    → Action(name="invalid", error="unknown_action: …")

An argument equal to its default is left out, so that two spellings of one action are one record;
`full_arguments` adds the defaults for an executor. Nothing here raises on bad input: replies are hostile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Final, Literal, cast

from pydantic import JsonValue

from harness.actions.space import ACTION_SPACE, BUTTONS, MODIFIERS, Kind, Parameter, Signature
from harness.types import INVALID_ACTION, Action, JsonDict

ErrorKind = Literal["parse", "unknown_action", "bad_argument"]

STOP_ACTIONS: Final = frozenset({"send_msg_to_user", "report_infeasible"})
"""Actions that may end an episode. Whether they do is the task's business: WebArena ends, MiniWoB++ does not."""

MAX_NUMBER: Final = 1e9
"""Bound on coordinates, offsets and milliseconds: far beyond any page, far below what breaks a browser."""

MAX_ERROR_VALUE_CHARS: Final = 80

MAX_RAW_CHARS: Final = 2000
"""What is kept of a text that holds no action: it is shown to the policy again. The reply itself is kept elsewhere."""

MAX_INTEGER_BITS: Final = 256
"""Python refuses to print integers of some thousand digits; a text argument needs nothing near that."""

_BID = re.compile(r"\[?\s*([A-Za-z]*[0-9]+)\s*\]?")
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadArgument(ValueError):
    """An argument that cannot be coerced; `str()` says what was expected."""


def invalid(kind: ErrorKind, reason: str, raw: str = "") -> Action:
    """The record of a reply that holds no action. `error` is `kind: reason`, one line."""
    one_line = " ".join(well_formed(reason).split())
    return Action(name=INVALID_ACTION, raw=well_formed(raw[:MAX_RAW_CHARS]), error=f"{kind}: {one_line}")


def error_kind(action: Action) -> ErrorKind | None:
    """Why an `invalid` action is invalid, as a word for counting; None for any other action."""
    if action.name != INVALID_ACTION:
        return None
    kind = action.error.partition(":")[0]
    return cast(ErrorKind, kind) if kind in ("unknown_action", "bad_argument") else "parse"


def make_action(name: str, arguments: Mapping[str, object], raw: str = "") -> Action:
    """An Action with checked arguments, or an `invalid` one that says what is wrong."""
    signature = ACTION_SPACE.get(name)
    if signature is None:
        close = get_close_matches(name, ACTION_SPACE, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        return invalid("unknown_action", f"there is no action {_shown(name)}{hint}", raw)
    known = {parameter.name for parameter in signature.parameters}
    extra = [key for key in arguments if key not in known]
    if extra:
        return invalid("bad_argument", f"{name} has no parameter {_shown(extra[0])}; it is {signature}", raw)
    checked: JsonDict = {}
    for parameter in signature.parameters:
        if parameter.name not in arguments:
            if parameter.required:
                return invalid("bad_argument", f"{name} needs {parameter.name}; it is {signature}", raw)
            continue
        value = arguments[parameter.name]
        try:
            coerced = _COERCE[parameter.kind](value)
        except BadArgument as error:
            return invalid("bad_argument", f"{name}: {parameter.name} must be {error}, not {_shown(value)}", raw)
        if parameter.required or not _same(coerced, parameter):
            checked[parameter.name] = coerced
    return Action(name=name, arguments=checked, raw=well_formed(raw))


def bind_positional(signature: Signature, values: list[object]) -> dict[str, object] | str:
    """Positional values by parameter name; a string says why they do not fit."""
    if len(values) > len(signature.parameters):
        return f"{signature.name} takes {len(signature.parameters)} arguments, got {len(values)}; it is {signature}"
    return {parameter.name: value for parameter, value in zip(signature.parameters, values, strict=False)}


def full_arguments(action: Action) -> JsonDict:
    """The arguments with defaults filled in, in the signature's order. KeyError for an action that does not exist."""
    return {
        parameter.name: action.arguments.get(parameter.name, cast(JsonValue, parameter.default))
        for parameter in ACTION_SPACE[action.name].parameters
    }


def bids_of(action: Action) -> tuple[str, ...]:
    """The elements an action points at, in the signature's order; empty if none."""
    signature = ACTION_SPACE.get(action.name)
    if signature is None:
        return ()
    return tuple(str(action.arguments[name]) for name in signature.bid_parameters if name in action.arguments)


def answer_of(action: Action) -> str | None:
    """The text sent to the user, or None if the action sends none."""
    return str(action.arguments.get("text", "")) if action.name == "send_msg_to_user" else None


def is_infeasible(action: Action) -> bool:
    """Does the action say that the task cannot be done?"""
    return action.name == "report_infeasible"


def said_of(action: Action) -> str | None:
    """What the user is told, an answer or why the task cannot be done; None if the action tells nothing."""
    return str(action.arguments.get("reason", "")) if is_infeasible(action) else answer_of(action)


def well_formed(text: str) -> str:
    """`text` as valid Unicode: surrogate pairs joined, lone surrogates replaced, since neither can be stored."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= MAX_ERROR_VALUE_CHARS else text[: MAX_ERROR_VALUE_CHARS - 1] + "…"


def _same(value: JsonValue, parameter: Parameter) -> bool:
    return type(value) is type(parameter.default) and value == parameter.default


def _text(value: object) -> str:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= MAX_INTEGER_BITS:
        return str(value)
    if isinstance(value, float):
        return str(value)
    raise BadArgument("a text")


def _bid(value: object) -> str:
    try:
        match = _BID.fullmatch(_text(value).strip())
    except BadArgument:
        match = None
    if match is None:
        raise BadArgument("an element's bid, such as '51' or 'a12'")
    return match[1]


def _number(value: object) -> int | float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise BadArgument("a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadArgument("a number")
    # The comparison also refuses NaN and integers too large for a float.
    if not (-MAX_NUMBER <= value <= MAX_NUMBER):
        raise BadArgument(f"a number between -{MAX_NUMBER:g} and {MAX_NUMBER:g}")
    # One spelling per number: 5.0 and 5 are the same action.
    return int(value) if value == int(value) else value


def _integer(value: object) -> int:
    number = _number(value)
    if not isinstance(number, int):
        raise BadArgument("a whole number")
    return number


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise BadArgument("True or False")


def _button(value: object) -> str:
    if isinstance(value, str) and value in BUTTONS:
        return value
    raise BadArgument(f"one of {', '.join(BUTTONS)}")


def _modifiers(value: object) -> JsonValue:
    items = list(value) if isinstance(value, list | tuple) else None
    if items is None or not all(isinstance(item, str) and item in MODIFIERS for item in items):
        raise BadArgument(f"a list of {', '.join(MODIFIERS)}")
    return cast(JsonValue, items)


def _text_or_list(value: object) -> JsonValue:
    if isinstance(value, list | tuple):
        return [_text(item) for item in value]
    return _text(value)


_COERCE: Final[dict[Kind, Callable[[object], JsonValue]]] = {
    "bid": _bid,
    "text": _text,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "button": _button,
    "modifiers": _modifiers,
    "text_or_list": _text_or_list,
}
