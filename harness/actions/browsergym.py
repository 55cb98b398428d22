"""Read and write BrowserGym's action syntax: one Python-like call, e.g. `fill("12", "red shoes")`.

    text → escape raw newlines → ast.parse → exactly one call of a plain name with literal arguments → make_action

Never evaluated. Two deliberate differences from BrowserGym 0.14.3's own parser: a raw newline inside quotes is part of
the text (there it makes the whole action vanish as "empty"), and text around the call makes the action invalid (there
any call-looking prose is executed).
"""

from __future__ import annotations

import ast
import json
import re

from pydantic import JsonValue

from harness.actions.build import bind_positional, invalid, make_action, well_formed
from harness.actions.space import ACTION_SPACE
from harness.errors import UsageError
from harness.types import INVALID_ACTION, Action

MAX_ACTION_CHARS = 100_000
"""Longer texts are refused unread: no action needs them, and a parser's worst case does."""

# A token that matters when looking for raw newlines: a comment, or a string's opening quote with its prefix.
_OPENING = re.compile(r"""\#[^\n]*|([A-Za-z]*)(\"\"\"|'''|"|')""")
_ESCAPE = re.compile(
    r"""\\(?:[\n\\'"abfnrtv]|[0-3][0-7]{2}|[0-7]{1,2}(?![0-7])|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"""
    r"""|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})"""
)


def parse_action(text: str) -> Action:
    """The one call in `text`; anything else is an `invalid` Action whose `error` says why. Never raises."""
    if len(text) > MAX_ACTION_CHARS:
        return invalid("parse", f"the action is longer than {MAX_ACTION_CHARS:,} characters", text)
    source = well_formed(text).strip()
    if not source:
        return invalid("parse", "the action is empty", text)
    try:
        body = ast.parse(_repair_strings(source)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it cannot be parsed"
        return invalid("parse", f'not a call such as click("12"): {reason}', text)
    if len(body) != 1:
        return invalid("parse", f"exactly one action is expected, found {len(body)} statements", text)
    statement = body[0]
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return invalid("parse", 'not a call such as click("12")', text)
    return _from_call(statement.value, text)


def print_action(action: Action) -> str:
    """`action` as a call that `parse_action` and BrowserGym read back. An `invalid` action prints as it was written.

    Raises UsageError for an action or argument outside the action space.
    """
    if action.name == INVALID_ACTION:
        return action.raw
    checked = make_action(action.name, action.arguments)
    if checked.name == INVALID_ACTION:
        raise UsageError(f"cannot print this action: {checked.error}", fix="build actions with make_action")
    parts = [
        _literal(checked.arguments[parameter.name])
        if parameter.required
        else f"{parameter.name}={_literal(checked.arguments[parameter.name])}"
        for parameter in ACTION_SPACE[action.name].parameters
        if parameter.name in checked.arguments
    ]
    return f"{action.name}({', '.join(parts)})"


def _from_call(call: ast.Call, text: str) -> Action:
    if not isinstance(call.func, ast.Name):
        return invalid("parse", "the action must be called by its plain name", text)
    name = call.func.id
    signature = ACTION_SPACE.get(name)
    if signature is None:
        return make_action(name, {}, text)
    try:
        bound = bind_positional(signature, [_value(node) for node in call.args])
        if isinstance(bound, str):
            return invalid("bad_argument", bound, text)
        for keyword in call.keywords:
            if keyword.arg is None:
                return invalid("bad_argument", f"{name}: ** is not allowed", text)
            if keyword.arg in bound:
                return invalid("bad_argument", f"{name}: {keyword.arg} is given twice", text)
            bound[keyword.arg] = _value(keyword.value)
    except (ValueError, RecursionError, MemoryError):
        return invalid("bad_argument", f"{name}: arguments must be plain texts, numbers, True, False or lists", text)
    return make_action(name, bound, text)


def _value(node: ast.expr) -> object:
    """A literal's value. ValueError for anything that would have to be evaluated."""
    if isinstance(node, ast.Starred):
        raise ValueError("*")
    return ast.literal_eval(node)


def _literal(value: JsonValue) -> str:
    """`value` in the notation that Python and JSON share for texts, so that quotes are always double."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    return repr(value)


def _repair_strings(source: str) -> str:
    """`source` with raw newlines in quoted texts written as `\\n`, and stray backslashes (`C:\\Users`) doubled."""
    out: list[str] = []
    position = 0
    while opening := _OPENING.search(source, position):
        out.append(source[position : opening.end()])
        position = opening.end()
        quote = opening[2]
        if quote is None:
            continue
        is_raw = "r" in opening[1].lower()
        while position < len(source) and not source.startswith(quote, position):
            character = source[position]
            if character == "\\" and is_raw:
                piece = source[position : position + 2]
                out.append(piece)
            elif character == "\\":
                escape = _ESCAPE.match(source, position)
                piece = escape[0] if escape else "\\"
                out.append(piece if escape else "\\\\")
            else:
                piece = character
                out.append({"\n": "\\n", "\r": "\\r"}.get(character, character) if len(quote) == 1 else character)
            position += len(piece)
        if position < len(source):
            out.append(quote)
            position += len(quote)
    out.append(source[position:])
    return "".join(out)
