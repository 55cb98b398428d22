"""Reading a judge's verdict: exactly one clear label from a closed set, or a `JudgeError`. Never a substring.

    verdict_format(labels) → `response_format` for servers that enforce a JSON schema
    parse_verdict(reply)   → 1. the whole reply is one JSON object with "verdict" (in a code fence or not)
                             2. else all JSON objects with "verdict" and all places that read `verdict: …` say the same
                             3. else the whole reply is a label
                             4. else JudgeError

"not success", a label in passing prose, two different verdicts and an unknown label are all errors: an unreadable verdict is
its own class of outcome, never a failure of the agent. Judges quote hostile pages: in a malformed reply a quoted verdict is
one statement among others, so it can make the reply ambiguous but cannot decide it. Thinking in a leading `<think>` block
is left out.
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
_THINKING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_STATED = re.compile(r"\bverdict[\"'*_`\s]{0,8}[:=]([^\n]{0,200})", re.IGNORECASE)
_EDGES = " \t\r\n*_`\"'.,!{}\\"


def parse_verdict(text: str, labels: Sequence[str]) -> str:
    """The one label of `labels` that `text` states, spelled as in `labels` (matching ignores case and outer blanks)."""
    if len(text) > MAX_REPLY_CHARS:
        raise JudgeError(f"reply of {len(text)} characters is too long to hold a verdict", kind="bad_verdict")
    reply = _THINKING.sub("", text)
    for stated in (_whole_object(reply), _all_statements(reply), [reply]):
        if stated:
            return _single(stated, labels, text)
    raise JudgeError("no verdict in reply", kind="no_verdict")


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


def find_objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Top-level JSON objects in `text` with start and end. One that repeats a key says two things: a `JudgeError`,
    as is one nested a thousand deep."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique_keys, strict=False)  # models break lines in strings
    position = text.find("{")
    while position != -1:
        try:
            value, end = decoder.raw_decode(text, position)
        except ValueError:
            position = text.find("{", position + 1)
            continue
        except RecursionError:
            raise JudgeError("reply holds JSON that is nested too deep to be meant", kind="bad_reply") from None
        if isinstance(value, dict):
            yield value, position, end
        position = text.find("{", end)


def read_object(text: str, required: Sequence[str]) -> dict[str, Any]:
    """The one JSON object of a reply that has all `required` keys; a `JudgeError` where there is none or several."""
    reply = _THINKING.sub("", text[:MAX_REPLY_CHARS])
    found = [value for value, _, _ in find_objects(reply) if all(key in value for key in required)]
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


def _whole_object(reply: str) -> list[str]:
    fenced = _FENCE.match(reply.strip())
    body = (fenced.group(1) if fenced else reply).strip()
    return [
        str(value[VERDICT_KEY])
        for value, start, end in find_objects(body)
        if (start, end) == (0, len(body)) and VERDICT_KEY in value
    ]


def _all_statements(reply: str) -> list[str]:
    stated, prose, last = [], [], 0
    objects = list(find_objects(reply))
    if reply.lstrip().startswith("{") and not any(reply[:start].isspace() or not start for _, start, _ in objects):
        raise JudgeError(f"broken JSON in reply: {_quote(reply)}", kind="no_verdict")  # what it quotes may be hostile
    for value, start, end in objects:
        if VERDICT_KEY in value:
            stated.append(str(value[VERDICT_KEY]))
        prose.append(reply[last:start])
        last = end
    prose.append(reply[last:])
    return stated + [match.group(1) for part in prose for match in _STATED.finditer(part)]


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
