"""`Completions`: chat messages (or token ids) in, one `Completion` out. Synchronous, one connection pool, no SDK.

    complete, continue_ids → retrying( _send ) → parse_completion
                                        ├ stream with a byte cap and a wall clock; redirects are never followed
                                        └ status → CompletionError(kind, retryable, retry_after)
    control                  what a server does beside the API, such as vLLM's reload of weights: one attempt

The API key lives in the connection pool's headers only. It is cut out of every body before anything reads it, so a
server that echoes it can put it neither into an exception nor into a result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from urllib.parse import urlsplit

import httpx
from pydantic import JsonValue

from harness.completions.config import EndpointConfig
from harness.completions.errors import CompletionError
from harness.completions.failures import status_error
from harness.completions.replies import Completion, load_json_object, parse_completion
from harness.completions.retries import retrying
from harness.types import JsonDict

Message = Mapping[str, JsonValue]
"""`{"role": "system"|"user"|"assistant", "content": text or list of parts}`, as OpenAI's chat API takes it."""

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Completions:
    """A client of one endpoint. Close it, or use it as a context manager."""

    def __init__(self, config: EndpointConfig, *, sleep: Callable[[float], None] = time.sleep) -> None:
        """Raises `NotReadyError` if the key's variable is not set. `sleep` is how the client waits between attempts."""
        key = config.api_key()
        self.config = config
        self._sleep = sleep
        self._scrub = _scrubber(key)
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        if key:
            headers["authorization"] = f"Bearer {key}"
        self._http = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(config.timeout_seconds, connect=config.connect_timeout_seconds),
            follow_redirects=False,
            trust_env=urlsplit(config.base_url).hostname not in _LOOPBACK,  # no proxy can reach our own loopback
        )

    def __repr__(self) -> str:
        return f"Completions(base_url={self.config.base_url!r}, model={self.config.model!r})"

    def __enter__(self) -> Completions:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        response_format: JsonDict | None = None,
        seed: int | None = None,
    ) -> Completion:
        """One reply to `messages`. Arguments override the config. Raises `CompletionError` after the last attempt.

        `response_format` is OpenAI's (`{"type": "json_schema", "json_schema": {…}}`): structured output.
        `usage.requests` counts attempts, `usage.seconds` the wall time of all of them, pauses included.
        """
        asked: JsonDict = {"messages": [dict(message) for message in messages], "response_format": response_format}
        asked["logprobs"] = True if self.config.logprobs else None
        return self._answered("/chat/completions", self._body(asked, max_tokens, temperature, seed))

    def continue_ids(
        self,
        prompt_ids: Sequence[int],
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        seed: int | None = None,
    ) -> Completion:
        """What comes after these token ids, read as they are: no chat template is put around them (`POST /completions`).

        Raises `CompletionError` after the last attempt.
        """
        asked: JsonDict = {"prompt": list(prompt_ids), "logprobs": 1 if self.config.logprobs else None}
        return self._answered("/completions", self._body(asked, max_tokens, temperature, seed))

    def control(self, path: str, body: JsonDict) -> None:
        """`POST path` at the server's root, which is base_url without its `/v1`. One attempt. Raises `CompletionError`."""
        self._send("POST", self.config.base_url.removesuffix("/v1") + path, body)

    def _answered(self, path: str, body: JsonDict) -> Completion:
        started = time.monotonic()
        loop = retrying(self.config, self._sleep)
        reply: str = loop(self._send, "POST", self.config.base_url + path, body)
        attempts = int(loop.statistics.get("attempt_number", 1))
        seconds = time.monotonic() - started
        return parse_completion(reply, self.config, requests=attempts, seconds=seconds)

    def models(self) -> tuple[str, ...]:
        """Names of the models the server serves (`GET /models`), one attempt: a health check. May raise."""
        reply = load_json_object(self._send("GET", f"{self.config.base_url}/models", None))
        data = reply.get("data")
        entries = data if isinstance(data, list) else []
        return tuple(str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry)

    def _body(self, asked: JsonDict, max_tokens: int | None, temperature: float | None, seed: int | None) -> JsonDict:
        """`asked` and what every request says; None is left to the server."""
        config = self.config
        optional: JsonDict = {
            **asked,
            "temperature": config.temperature if temperature is None else temperature,
            "seed": seed,
            "return_token_ids": True if config.token_ids else None,
        }
        return {
            "model": config.model,
            config.max_tokens_field: config.max_tokens if max_tokens is None else max_tokens,
            **{name: value for name, value in optional.items() if value is not None},
            **config.extra_body,
        }

    def _send(self, method: str, url: str, body: JsonDict | None) -> str:
        """One attempt: the body of a 200, key cut out, or `CompletionError`."""
        config = self.config
        try:
            with self._http.stream(method, url, json=body) as response:
                text = self._scrub(self._read(response, time.monotonic() + config.timeout_seconds))
        except httpx.TimeoutException as error:
            reached = not isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout)
            raise CompletionError(
                f"no answer from the model server at {config.base_url} within "
                f"{config.timeout_seconds if reached else config.connect_timeout_seconds:g} s",
                kind="timeout" if reached else "unreachable",
                fix="raise timeout_seconds, or check that the server runs",
                retryable=True,
            ) from None
        except httpx.TransportError as error:
            lost = isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError)
            what = "lost the connection to" if lost else "cannot reach"
            raise CompletionError(
                f"{what} the model server at {config.base_url} ({type(error).__name__})",
                kind="unreachable",
                fix="start the server, or correct base_url",
                retryable=True,
            ) from None
        except httpx.DecodingError:
            raise CompletionError(f"undecodable reply of the model server at {config.base_url}") from None
        if response.status_code != httpx.codes.OK:
            raise status_error(response, text, config)
        return text

    def _read(self, response: httpx.Response, deadline: float) -> str:
        """The body as text. httpx's own timeout is per chunk: a server that drips would hold us for ever."""
        cap = self.config.max_response_bytes
        received = bytearray()
        for chunk in response.iter_bytes():
            received += chunk
            if len(received) > cap:
                raise CompletionError(
                    f"the reply of the model server at {self.config.base_url} is longer than {cap} bytes",
                    fix="raise max_response_bytes if that is right",
                )
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout("the whole reply took too long")
        return received.decode("utf-8", errors="replace")


def _scrubber(key: str) -> Callable[[str], str]:
    """A closure: unlike an attribute or a `partial`, no repr shows what it holds."""

    def scrub(text: str) -> str:
        return text.replace(key, "***") if key else text

    return scrub
