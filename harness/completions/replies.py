"""A server's JSON → `Completion`. What a server leaves out becomes None; what it garbles becomes `bad_reply`.

{"model", "prompt_token_ids"?,                     ← vLLM, return_token_ids
 "choices": [{"message": {"content", "reasoning_content"?}, "finish_reason",
              "token_ids"?, "prompt_token_ids"?, "logprobs": {"content": [{"logprob"}]}?}],
 "usage": {"prompt_tokens", "completion_tokens", "prompt_tokens_details": {"cached_tokens"}?}?}

`POST /completions` answers alike, with "text" in place of "message" and "logprobs": {"token_logprobs": [number]}.
"""

from __future__ import annotations

import json
import math
from typing import Any

from harness.completions.config import EndpointConfig
from harness.completions.errors import CompletionError
from harness.types import Record, Usage


class Completion(Record):
    """One reply of a model. Token lists are per token, in order; None where the server gives none."""

    text: str
    """Content of the assistant's message, without separate reasoning."""
    reasoning: str = ""
    """Thinking that the server split off (`reasoning_content`)."""
    finish_reason: str = ""
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    """Natural logarithms."""
    usage: Usage = Usage()
    model: str = ""
    """The name the server answered with: may be more exact than the one asked for."""


def parse_completion(body: str, config: EndpointConfig, *, requests: int, seconds: float) -> Completion:
    """Read the body of a successful `POST /chat/completions` or `/completions`. Raises `CompletionError` of kind `bad_reply`."""
    reply = load_json_object(body)
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise _bad(f"no choices in the reply ({_excerpt(body)})")
    choice = choices[0]
    message = choice.get("message", {"content": choice["text"]} if "text" in choice else None)
    if not isinstance(message, dict):
        raise _bad(f"the first choice holds no message ({_excerpt(body)})")
    token_ids = _integers(choice.get("token_ids"), "token_ids")
    prompt_ids = _integers(choice.get("prompt_token_ids", reply.get("prompt_token_ids")), "prompt_token_ids")
    return Completion(
        text=_text(message.get("content")),
        reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
        finish_reason=_string(choice.get("finish_reason")),
        token_ids=token_ids,
        prompt_token_ids=prompt_ids,
        logprobs=_logprobs(choice.get("logprobs")),
        usage=_usage(reply.get("usage"), config, token_ids, prompt_ids, requests=requests, seconds=seconds),
        model=_string(reply.get("model")) or config.model,
    )


def load_json_object(body: str) -> dict[str, Any]:
    """A JSON object, or `CompletionError`. Deep nesting is a bad reply too, not a crash."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise _bad(f"the reply is not JSON ({_excerpt(body)})") from None
    if not isinstance(value, dict):
        raise _bad(f"the reply is not a JSON object ({_excerpt(body)})")
    return value


def _usage(
    raw: Any,
    config: EndpointConfig,
    token_ids: tuple[int, ...] | None,
    prompt_ids: tuple[int, ...] | None,
    *,
    requests: int,
    seconds: float,
) -> Usage:
    fields = raw if isinstance(raw, dict) else {}
    prompt, completion = _count(fields.get("prompt_tokens")), _count(fields.get("completion_tokens"))
    if prompt is None and prompt_ids is not None:
        prompt = len(prompt_ids)
    if completion is None and token_ids is not None:
        completion = len(token_ids)
    details = fields.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return config.usage(
        prompt=prompt or 0,
        cached=min(cached or 0, prompt or 0),
        completion=completion or 0,
        known=prompt is not None and completion is not None,
        requests=requests,
        seconds=seconds,
    )


def _text(content: Any) -> str:
    """Message content: a string, a list of text parts, or nothing (only reasoning or tool calls)."""
    if content is None:
        return ""
    if isinstance(content, list):
        return "".join(_string(part.get("text")) for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        raise _bad(f"message content is a {type(content).__name__}, not text")
    return _encodable(content)


def _string(value: Any) -> str:
    return _encodable(value) if isinstance(value, str) else ""


def _encodable(text: str) -> str:
    """JSON may smuggle lone surrogates (`\\ud800`), which no UTF-8 file can hold."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def _integers(value: Any, field: str) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(_count(item) is not None for item in value):
        raise _bad(f"{field} is not a list of token ids")
    return tuple(value)


def _logprobs(value: Any) -> tuple[float, ...] | None:
    """OpenAI's `{"content": [{"logprob": …}]}`, or `{"token_logprobs": […]}`; absent or empty means the server gives none."""
    fields = value if isinstance(value, dict) else {}
    name = "token_logprobs" if "token_logprobs" in fields else "content"
    content = fields.get(name)
    if content is None:
        return None
    if not isinstance(content, list):
        raise _bad(f"logprobs.{name} is not a list")
    numbers = content if name == "token_logprobs" else [i.get("logprob") if isinstance(i, dict) else None for i in content]
    if not all(isinstance(n, int | float) and not isinstance(n, bool) and not math.isnan(n) for n in numbers):
        raise _bad(f"logprobs.{name} holds an entry without a number")
    return tuple(float(n) for n in numbers if n is not None)


def _bad(message: str) -> CompletionError:
    return CompletionError(f"unreadable reply of the model server: {message}", kind="bad_reply")


def _excerpt(body: str, limit: int = 120) -> str:
    text = " ".join(body[: 4 * limit].split())
    return f"it begins: {_encodable(text)[:limit]!r}" if text else "it is empty"
