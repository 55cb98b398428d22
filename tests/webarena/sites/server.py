"""A small web site on loopback: routes, form logins, sessions, faults to inject. The stand-ins are built on it."""

from __future__ import annotations

import html
import json
import secrets
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Ask:
    """One request. `user` is who is signed in, None if nobody."""

    method: str
    path: str
    query: dict[str, str]
    form: dict[str, str]
    body: bytes
    user: str | None

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    body: str | bytes = ""
    status: int = 200
    media: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = field(default=())


def page(title: str, body: str, status: int = 200) -> Reply:
    return Reply(f"<!doctype html><html><head><title>{html.escape(title)}</title></head><body>{body}</body></html>", status)


def data(value: Any) -> Reply:
    return Reply(json.dumps(value), media="application/json")


def redirect(location: str, *headers: tuple[str, str]) -> Reply:
    return Reply(status=302, headers=(("Location", location), *headers))


NOT_FOUND = page("404", "<h1>Not found</h1>", 404)


class Site(ABC):
    """Serves from construction until `close`. `reset` puts the content back; sessions stay."""

    cookie = "SESSION"
    """Cookies are kept per host: two sites with the same name here sign each other out, as PHPSESSID does."""
    account = ("", "")

    def __init__(self) -> None:
        self.fail_with = 0
        """A status that every request then gets."""
        self.refuse_logins = False
        self.paths: list[str] = []
        self._sessions: dict[str, str] = {}
        self.reset()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL as configured for WebArena."""
        return self.origin

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def reset(self) -> None:
        """The first state; also takes back injected faults."""
        self.fail_with, self.refuse_logins = 0, False
        self.paths = []

    @abstractmethod
    def handle(self, ask: Ask) -> Reply: ...

    def sign_in(self, username: str, password: str, then: str, otherwise: str) -> Reply:
        if self.refuse_logins or (username, password) != self.account:
            return redirect(otherwise)
        token = secrets.token_hex(8)
        self._sessions[token] = username
        return redirect(then, ("Set-Cookie", f"{self.cookie}={token}; Path=/; HttpOnly"))

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> Reply:
        parts = urlsplit(target)
        self.paths.append(parts.path)
        if self.fail_with:
            return page("Error", f"<h1>{self.fail_with}</h1>", self.fail_with)
        jar = SimpleCookie(headers.get("cookie", ""))
        token = jar[self.cookie].value if self.cookie in jar else ""
        is_form = "urlencoded" in headers.get("content-type", "")
        ask = Ask(
            method=method,
            path=parts.path,
            query={k: v[0] for k, v in parse_qs(parts.query).items()},
            form={k: v[0] for k, v in parse_qs(body.decode()).items()} if is_form else {},
            body=body,
            user=self._sessions.get(token),
        )
        return self.handle(ask)


def _handler_for(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            reply = site.answer(self.command, self.path, self.headers, body)
            content = reply.body.encode() if isinstance(reply.body, str) else reply.body
            self.send_response(reply.status)
            for name, value in (("Content-Type", reply.media), *reply.headers):
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _serve

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    return Handler
