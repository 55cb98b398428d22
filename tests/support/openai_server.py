"""A scripted OpenAI-compatible server on loopback: queued replies, odd and hostile ones too; records what it was sent.

    with OpenAIServer([chat("hello"), Reply(status=500)]) as server:
        client = Completions(EndpointConfig(base_url=server.base_url, model="any"))
        …
        server.requests[0].json["messages"]

A real HTTP server, not a patch of the client. Replies are served in order; an empty queue answers 599 with a
message, so that a test notices a request it did not expect. `repeat_last=True` serves the last one for ever.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One scripted answer. `body` is sent as it is if bytes, else as JSON."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    """Announce the whole body, send this many bytes of it, then close the connection."""
    hold: bool = False
    """Answer nothing until the server is released or closed: a server that hangs, without a sleep."""
    drip: bool = False
    """Send the body byte by byte, each after a short pause, until the client goes away or the server closes."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def chat(text: str | None, *, model: str = "scripted", usage: bool = True, **choice: Any) -> Reply:
    """A normal chat completion; further fields (`token_ids`, `logprobs`, `finish_reason`) go into the choice."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}, **choice}],
    }
    if usage:
        body["usage"] = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return Reply(body=body)


def error(status: int, message: str, **headers: str) -> Reply:
    """An error in OpenAI's form; `Retry_After="1"` becomes the header Retry-After."""
    body = {"error": {"message": message, "type": "error", "code": None}}
    return Reply(status=status, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


class OpenAIServer:
    """Serves on a free loopback port while the `with` block runs."""

    def __init__(self, replies: Iterable[Reply] = (), *, repeat_last: bool = False) -> None:
        self.requests: list[Request] = []
        self._replies = list(replies)
        self._repeat_last = repeat_last
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def add(self, *replies: Reply) -> None:
        with self._lock:
            self._replies.extend(replies)

    def release(self) -> None:
        """Let replies with `hold` go on."""
        self._released.set()

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            if not self._replies:
                return error(599, "the script has no reply left")
            if self._repeat_last and len(self._replies) == 1:
                return self._replies[0]
            return self._replies.pop(0)

    def _wait(self, seconds: float | None) -> bool:
        """True once released or closing."""
        return self._released.wait(seconds)


def _handler_for(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._serve()

        def do_GET(self) -> None:
            self._serve()

        def _serve(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = server._answer(Request(self.command, self.path, headers, self.rfile.read(length)))
            if reply.hold:
                server._wait(None)
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self._send_body(body, reply)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _send_body(self, body: bytes, reply: Reply) -> None:
            if reply.drip:
                for byte in body:
                    self.wfile.write(bytes([byte]))
                    if server._wait(0.02):
                        break
                self.close_connection = True
            else:
                self.wfile.write(body[: reply.cut_after])
                self.close_connection = reply.cut_after is not None

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: requests are recorded, not logged."""

    return Handler
