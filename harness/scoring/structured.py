"""Reading a judge's verdict: exactly one clear label from a closed set, or a `JudgeError`. Never a substring.

    verdict_format(labels) → `response_format` for servers that enforce a JSON schema
    parse_verdict(reply)   → 1. the reply is one JSON object with "verdict"
                             2. else every JSON object in it that has "verdict" says the same
                             3. else every line `Verdict: <label>` says the same
                             4. else the whole reply is a label
                             5. else JudgeError

"not success", a label in passing prose, two different verdicts and an unknown label are all errors: an unreadable
verdict is its own class of outcome, never a failure of the agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from harness.errors import JudgeError

VERDICT_KEY = "verdict"
MAX_REPLY_CHARS = 50_000
"""A longer reply is not searched: no judge writes one, and a hostile one should cost no time."""

_FENCE = re.compile(r"^```[\w-]*[ \t]*\n(.*?)\n?```$", re.DOTALL)
_VERDICT_LINE = re.compile(r"^[\s>*_#-]*(?:final\s+)?verdict[\s*_]*[:=][\s*_`\"']*(.+?)[\s*_`\"'.!]*$", re.IGNORECASE)
_EDGES = " \t\r\n*_`\"'.!"


def parse_verdict(text: str, labels: Sequence[str]) -> str:
    """The one label of `labels` that `text` states, spelled as in `labels` (matching ignores case and outer blanks)."""
    if len(text) > MAX_REPLY_CHARS:
        raise JudgeError(f"reply of {len(text)} characters is too long to hold a verdict", kind="bad_verdict")
    for stated in (_from_objects(text), _from_lines(text), [text.strip(_EDGES)]):
        if stated:
            return _single(stated, labels, text)
    raise JudgeError("empty reply", kind="no_verdict")


def verdict_format(labels: Sequence[str], name: str = "verdict") -> dict[str, Any]:
    """An OpenAI `response_format` that allows `{"reason": text, "verdict": one of labels}` and nothing else."""
    return json_format(name, {"reason": {"type": "string"}, VERDICT_KEY: {"type": "string", "enum": list(labels)}})


def json_format(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    """An OpenAI `response_format` for a closed object with all of `properties` required, in their order."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def find_objects(text: str) -> Iterator[dict[str, Any]]:
    """Top-level JSON objects in `text`, in order. One that repeats a key says two things: a `JudgeError`."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique_keys)
    position = text.find("{")
    while position != -1:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        if isinstance(value, dict):
            yield value
        position = text.find("{", end)


def read_object(text: str, required: Sequence[str]) -> dict[str, Any]:
    """The one JSON object of a reply that has all `required` keys; a `JudgeError` where there is none or several."""
    found = [o for o in find_objects(text[:MAX_REPLY_CHARS]) if all(key in o for key in required)]
    if len(found) != 1:
        raise JudgeError(
            f"expected one JSON object with {', '.join(required)} in the reply, found {len(found)}", kind="bad_reply"
        )
    return found[0]


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise JudgeError("reply holds a JSON object that repeats a key", kind="ambiguous_verdict")
    return result


def _from_objects(text: str) -> list[str]:
    fenced = _FENCE.match(text.strip())
    found = find_objects(fenced.group(1) if fenced else text)
    return [str(o[VERDICT_KEY]) for o in found if VERDICT_KEY in o]


def _from_lines(text: str) -> list[str]:
    return [match.group(1) for line in text.splitlines() if (match := _VERDICT_LINE.match(line))]


def _single(stated: Sequence[str], labels: Sequence[str], text: str) -> str:
    by_key = {label.casefold(): label for label in labels}
    found = {by_key.get(s.strip(_EDGES).casefold()) for s in stated}
    if len(found) > 1:
        raise JudgeError(f"reply states several verdicts: {_quote(text)}", kind="ambiguous_verdict")
    label = found.pop()
    if label is None:
        raise JudgeError(f"no verdict out of {', '.join(labels)} in reply: {_quote(text)}", kind="no_verdict")
    return label


def _quote(text: str, limit: int = 120) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= limit else flat[:limit] + "…")
