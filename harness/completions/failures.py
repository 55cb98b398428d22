"""HTTP status of a model server → what a person can do about it."""

from __future__ import annotations

import json

import httpx

from harness.completions.config import EndpointConfig
from harness.completions.errors import CompletionError
from harness.completions.retries import parse_retry_after, utc_now

_RETRYABLE_4XX = (408, 409, 425, 429)
_CONTEXT_SIGNS = (
    "context_length_exceeded",  # OpenAI's error code
    "maximum context length",  # OpenAI, vLLM
    "longer than the maximum model",  # vLLM
)


def status_error(response: httpx.Response, body: str, config: EndpointConfig) -> CompletionError:
    """The error for a status other than 200. `body` is already free of the key."""
    status, said = response.status_code, _server_message(body)
    where = f"the model server at {config.base_url}"
    if status in (401, 403):
        variable = config.api_key_env
        return CompletionError(
            f"{where} refused the key from {variable} ({status}{said})"
            if variable
            else f"{where} wants an API key ({status}{said})",
            kind="unauthorized",
            fix=f"check the value of {variable}" if variable else "set api_key_env to the variable that holds the key",
            status=status,
        )
    if status == 404:
        return CompletionError(
            f"{where} has no model {config.model!r}, or no /chat/completions ({status}{said})",
            kind="model_not_found",
            fix=f"GET {config.base_url}/models lists what it serves; base_url usually ends in /v1",
            status=status,
        )
    if status == 429:
        return CompletionError(
            f"{where} limits the rate ({status}{said})",
            kind="rate_limited",
            fix="use fewer workers, or raise max_retries",
            status=status,
            retryable=True,
            retry_after=_retry_after(response),
        )
    if status >= 500:
        return CompletionError(
            f"{where} answered {status}{said}",
            kind="http_5xx",
            status=status,
            retryable=True,
            retry_after=_retry_after(response),
        )
    if any(sign in body.lower() for sign in _CONTEXT_SIGNS):
        return CompletionError(
            f"the prompt is too long for {config.model!r} ({status}{said})",
            kind="context_length",
            fix="lower max_tree_tokens or the history",
            status=status,
        )
    if 300 <= status < 400:
        return CompletionError(
            f"{where} redirects ({status}); redirects are not followed, so that the key stays with this host",
            kind="http_3xx",
            fix="set base_url to where the server really is",
            status=status,
        )
    return CompletionError(
        f"{where} answered {status}{said}",
        kind="http_4xx",
        fix="turn off what the server does not know: token_ids, logprobs, extra_body, seed",
        status=status,
        retryable=status in _RETRYABLE_4XX,
    )


def _retry_after(response: httpx.Response) -> float | None:
    value = response.headers.get("retry-after")
    return parse_retry_after(value, utc_now()) if value else None


def _server_message(body: str, limit: int = 200) -> str:
    """`: what the server said`, from OpenAI's error object or the plain body; one line."""
    text = body
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        error = parsed.get("error", parsed)
        message = error.get("message", error.get("detail")) if isinstance(error, dict) else error
        text = message if isinstance(message, str) else body
    line = " ".join(text[: 4 * limit].split()).encode("utf-8", errors="replace").decode("utf-8")
    return f": {line[:limit]}" if line else ""
