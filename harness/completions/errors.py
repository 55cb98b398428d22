"""Why a completion did not come, as a countable kind.

Messages are written for a person: which server, which environment variable, what to do. They never hold a key.
"""

from __future__ import annotations

from typing import Literal

from harness.errors import PolicyError

CompletionErrorKind = Literal[
    "unreachable",  # no connection
    "timeout",  # no full answer in time
    "unauthorized",  # 401, 403: wrong or missing key
    "model_not_found",  # the server does not serve this model
    "context_length",  # the prompt is longer than the model's context
    "rate_limited",  # 429, still after all retries
    "http_3xx",  # a redirect: never followed, the key belongs to the configured host
    "http_4xx",
    "http_5xx",
    "bad_reply",  # an answer that is not a completion
]


class CompletionError(PolicyError):
    """A model call failed. Belongs to the `policy` boundary; a judge turns it into a `JudgeError`.

    `retryable` says whether the same request may succeed later; `retry_after` is the server's wish in seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: CompletionErrorKind = "bad_reply",
        fix: str = "",
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, kind=kind, fix=fix)
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
