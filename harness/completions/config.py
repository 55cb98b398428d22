"""Where a model server is, what is asked of it, and what a token costs."""

from __future__ import annotations

import os
import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.errors import NotReadyError
from harness.types import JsonDict, Usage

MEBIBYTE = 1024 * 1024


class EndpointConfig(BaseModel):
    """One OpenAI-compatible endpoint and one model on it. Holds the name of the key's variable, never the key."""

    # hide_input_in_errors: a password pasted into base_url must not come back in the validation message
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    base_url: str = "http://127.0.0.1:8000/v1"
    """URL up to and including `/v1`. Without user, password, query or fragment: it is stored in results."""
    model: str
    """The model's name as the server knows it."""
    api_key_env: str = ""
    """Name of the environment variable that holds the key; empty where the server wants none."""
    temperature: float | None = Field(default=0.0, ge=0.0, le=2.0)
    """None, which only Python code can say, leaves it to the server."""
    max_tokens: int = Field(default=512, ge=1)
    """Most tokens of one reply."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Name of that field in the request: OpenAI's reasoning models want the second."""
    timeout_seconds: float = Field(default=120.0, gt=0.0)
    """Wall clock of one attempt, from connecting to the last byte."""
    connect_timeout_seconds: float = Field(default=10.0, gt=0.0)
    """Until the server takes the connection."""
    max_retries: int = Field(default=5, ge=0, le=50)
    """Further attempts after a 429, a 5xx, a timeout or a lost connection."""
    retry_wait_seconds: float = Field(default=1.0, ge=0.0)
    """First pause between attempts; doubles each time, with jitter."""
    max_retry_wait_seconds: float = Field(default=120.0, ge=0.0)
    """Longest pause; a server that asks for more with `Retry-After` is given up on."""
    max_response_bytes: int = Field(default=64 * MEBIBYTE, ge=1024)
    """A longer reply is refused. Token log-probabilities take about 100 bytes per token."""
    prompt_usd_per_million: float | None = Field(default=None, ge=0.0)
    """Price of prompt tokens. Without both prices the cost is reported as unknown, never as 0."""
    cached_usd_per_million: float | None = Field(default=None, ge=0.0)
    """Price of prompt tokens read from the server's cache; not set: the full prompt price."""
    completion_usd_per_million: float | None = Field(default=None, ge=0.0)
    """Price of generated tokens."""
    logprobs: bool = False
    """Ask for the log-probability of every generated token."""
    token_ids: bool = False
    """Ask for the token ids of prompt and reply (vLLM's `return_token_ids`; others ignore or refuse it)."""
    extra_body: JsonDict = Field(default_factory=dict)
    """More fields of the request, as the server documents them (`top_p`, `chat_template_kwargs` …)."""

    @field_validator("base_url")
    @classmethod
    def _plain_http_url(cls, value: str) -> str:
        try:
            parts = urlsplit(value.strip())
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise ValueError("base_url is not a URL; it looks like http://127.0.0.1:8000/v1") from None
        if parts.scheme not in ("http", "https") or not host:
            raise ValueError("base_url must start with http:// or https:// and name a host")
        if parts.username is not None or parts.password is not None:
            raise ValueError("base_url must not hold a user or password: name the key's variable in api_key_env")
        if parts.query or parts.fragment:
            raise ValueError("base_url must not hold a query or fragment: it is stored in results")
        return value.strip().rstrip("/")

    @field_validator("api_key_env")
    @classmethod
    def _variable_name(cls, value: str) -> str:
        if value and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
            raise ValueError("api_key_env is the NAME of an environment variable (as OPENAI_API_KEY), not the key")
        return value

    def api_key(self) -> str:
        """The key from the environment, `""` if none is configured. Raises `NotReadyError`, without the value."""
        if not self.api_key_env:
            return ""
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise NotReadyError(
                f"no API key: the environment variable {self.api_key_env} is not set",
                fix=f"export {self.api_key_env}=… , or set api_key_env to another variable",
            )
        if not (key.isascii() and key.isprintable()):
            raise NotReadyError(
                f"the API key in {self.api_key_env} holds characters that no HTTP header can carry",
                fix=f"check the value of {self.api_key_env}",
            )
        return key

    def cost(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float | None:
        """US dollars of one call; None unless both prices are configured: unknown is not free."""
        if self.prompt_usd_per_million is None or self.completion_usd_per_million is None:
            return None
        cached_price = self.prompt_usd_per_million if self.cached_usd_per_million is None else self.cached_usd_per_million
        micro_usd = (
            (prompt_tokens - cached_tokens) * self.prompt_usd_per_million
            + cached_tokens * cached_price
            + completion_tokens * self.completion_usd_per_million
        )
        return micro_usd / 1e6

    def usage(self, *, prompt: int, cached: int, completion: int, known: bool, requests: int, seconds: float) -> Usage:
        """The `Usage` record of one call. `known` is False where the server reported no usage: then no cost either."""
        return Usage(
            requests=requests,
            prompt_tokens=prompt,
            cached_tokens=cached,
            completion_tokens=completion,
            cost_usd=self.cost(prompt, cached, completion) if known else None,
            seconds=seconds,
        )
