"""The network trace of an episode as HAR entries, readable while the browser context is still open.

    NetworkRecorder(context)   listens to the responses of every page, popups included
      .drain()                 after each step: turn answered requests into entries while their bodies are still held
      .entries()               all entries, in the order in which the requests started

Playwright's own HAR file exists only after the context closed, and its trace keeps bodies apart; scoring happens
before that, on the living page. Responses count, not finished requests: a page that moves on as soon as its POST is
answered cancels the rest, and Playwright reports that request as failed. Cookies and other headers stay in memory:
entries are handed to the scorer, never stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any

from pydantic import JsonValue

from harness.types import JsonDict

MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_ENTRIES = 20_000


class NetworkRecorder:
    """Records from construction on. `lost` counts requests whose details the browser no longer had."""

    def __init__(self, context: Any, *, keep_bodies: bool) -> None:
        """`keep_bodies`: also read JSON response bodies (only some tasks check them)."""
        self.lost = 0
        self._keep_bodies = keep_bodies
        self._answered: list[Any] = []
        self._entries: list[tuple[float, JsonDict]] = []
        self._complete: set[Any] = set()
        context.on("response", self._note)
        context.on("requestfinished", self._note_complete)

    def _note(self, response: Any) -> None:
        request = response.request
        if request.url.startswith(("http://", "https://")):  # the scorer raises on data: and blob:
            self._answered.append(request)

    def _note_complete(self, request: Any) -> None:
        if self._keep_bodies:
            self._complete.add(request)

    def drain(self) -> None:
        waiting, self._answered[:] = list(self._answered), []
        for request in waiting:
            try:
                if len(self._entries) >= MAX_ENTRIES:
                    raise OverflowError("trace is full")
                self._entries.append((float(request.timing["startTime"]), self._entry(request)))
            except Exception:  # noqa: BLE001  the page that made the request may be gone, or crashed
                self.lost += 1

    def entries(self) -> Sequence[JsonDict]:
        self.drain()
        return [entry for _, entry in sorted(self._entries, key=lambda pair: pair[0])]

    def _entry(self, request: Any) -> JsonDict:
        response = request.response()
        if response is None:
            raise LookupError("an answered request without a response")
        sent, received = request.headers_array(), response.headers_array()
        media = _header(received, "content-type")
        body = ""
        if request in self._complete and "application/json" in media:  # reading any other could wait for ever
            body = response.body()[:MAX_BODY_BYTES].decode("utf-8", errors="replace")
        details: JsonDict = {"method": request.method, "url": request.url, "headers": sent}
        posted = request.post_data_buffer
        if posted is not None:
            text = posted[:MAX_BODY_BYTES].decode("utf-8", errors="replace")
            details["postData"] = {"mimeType": _header(sent, "content-type"), "text": text}
        return {
            "request": details,
            "response": {
                "status": response.status,
                "headers": received,
                "cookies": _cookies(received),
                "content": {"mimeType": media, "text": body},
                "redirectURL": _header(received, "location"),
            },
        }


def _header(headers: list[dict[str, str]], name: str) -> str:
    return next((h["value"] for h in headers if h["name"].lower() == name), "")


def _cookies(headers: list[dict[str, str]]) -> list[JsonValue]:
    found: list[JsonValue] = []
    for header in headers:
        if header["name"].lower() != "set-cookie":
            continue
        for line in header["value"].split("\n"):
            try:
                parsed = SimpleCookie(line)
            except CookieError:
                continue
            found.extend({"name": name, "value": morsel.value} for name, morsel in parsed.items())
    return found
