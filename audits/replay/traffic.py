"""What a replay's browser asked for, as HTTP Archive 1.2: addresses, methods, answers, times. No verdict reads it.

Headers, cookies and bodies are left out: they hold sessions and passwords, and pages are in the trees already. It begins when
the start page stands: signing in is not in it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from harness.types import JsonDict

MAX_ENTRIES: Final = 2000
"""A page that asks for ever fills no disk; `log.comment` says how many are missing."""
MAX_URL: Final = 2000


class Traffic:
    """Listens to one browser context."""

    def __init__(self) -> None:
        self._entries: list[JsonDict] = []
        self._missing = 0

    def listen(self, context: Any) -> None:
        context.on("response", lambda response: self._keep(response.request, response))
        context.on("requestfailed", lambda request: self._keep(request, None))

    def har(self) -> JsonDict:
        """The archive so far; viewers of HAR open it."""
        log: JsonDict = {"version": "1.2", "creator": {"name": "dynaweb-harness", "version": "1"}, "entries": [*self._entries]}
        if self._missing:
            log["comment"] = f"{self._missing} later requests are not listed"
        return {"log": log}

    def _keep(self, request: Any, response: Any) -> None:
        if len(self._entries) >= MAX_ENTRIES:
            self._missing += 1
            return
        timing = request.timing
        began = datetime.fromtimestamp(max(timing.get("startTime", 0), 0) / 1000, UTC)
        wait = max(timing.get("responseStart", -1), 0)
        url = request.url[:MAX_URL]
        query = parse_qsl(urlsplit(url).query, keep_blank_values=True) if url.startswith("http") else []
        empty: JsonDict = {"httpVersion": "HTTP/1.1", "cookies": [], "headers": [], "headersSize": -1, "bodySize": -1}
        answer: JsonDict = {
            **empty,
            "status": response.status if response is not None else 0,
            "statusText": response.status_text if response is not None else "",
            "content": {"size": -1, "mimeType": response.headers.get("content-type", "") if response is not None else ""},
            "redirectURL": response.headers.get("location", "")[:MAX_URL] if response is not None else "",
        }
        if response is None:
            answer["_error"] = str(request.failure or "")[:200]
        self._entries.append(
            {
                "startedDateTime": began.isoformat(timespec="milliseconds"),
                "time": wait,
                "request": {
                    **empty,
                    "method": request.method,
                    "url": url,
                    "queryString": [{"name": name, "value": value} for name, value in query],
                },
                "response": answer,
                "cache": {},
                "timings": {"send": 0, "wait": wait, "receive": 0},
                "_resourceType": request.resource_type,
            }
        )
