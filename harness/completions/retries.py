"""Which failures are tried again, and when: exponential backoff with jitter, unless the server names a pause."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_base, wait_random_exponential

from harness.completions.config import EndpointConfig
from harness.completions.errors import CompletionError


def parse_retry_after(value: str, now: datetime) -> float | None:
    """Seconds to wait from a `Retry-After` header (seconds or an HTTP date, RFC 9110 §10.2.3); None if unreadable."""
    text = value.strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            when = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        seconds = (when - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


class _ServerWishOrBackoff(wait_base):
    """The server's `Retry-After` where there is one, else a random pause under a doubling bound."""

    def __init__(self, first: float, longest: float) -> None:
        self._backoff = wait_random_exponential(multiplier=first, max=longest)

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        if isinstance(error, CompletionError) and error.retry_after is not None:
            return error.retry_after
        return self._backoff(retry_state)


def retrying(config: EndpointConfig, sleep: Callable[[float], None]) -> Retrying:
    """The retry loop of one call; `sleep` takes seconds."""

    def worth_it(error: BaseException) -> bool:
        if not isinstance(error, CompletionError) or not error.retryable:
            return False
        return error.retry_after is None or error.retry_after <= config.max_retry_wait_seconds

    return Retrying(
        stop=stop_after_attempt(config.max_retries + 1),
        wait=_ServerWishOrBackoff(config.retry_wait_seconds, config.max_retry_wait_seconds),
        retry=retry_if_exception(worth_it),
        sleep=sleep,
        reraise=True,
    )


def utc_now() -> datetime:
    return datetime.now(UTC)
