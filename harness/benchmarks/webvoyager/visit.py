"""Opening a start page, and watching what the site answers: shared by an episode and by the reachability probe.

Visit(page) → goto(url) → SiteError (no such host, timeout, 4xx/5xx without content) | block() → Block | None
"""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from harness.benchmarks.webvoyager.blocked import Block, classify
from harness.benchmarks.webvoyager.facts import read_facts
from harness.errors import SiteError, first_line

_POLL_MILLISECONDS = 250
_MAX_REMEMBERED = 500
_REASONS = (
    ("ERR_NAME_NOT_RESOLVED", "dns", "the host name does not exist or cannot be looked up"),
    ("ERR_CONNECTION_REFUSED", "unreachable", "the connection is refused"),
    ("ERR_INTERNET_DISCONNECTED", "unreachable", "this machine has no network"),
    ("ERR_CERT", "certificate", "the site's certificate is not valid"),
    ("ERR_TOO_MANY_REDIRECTS", "redirects", "the site redirects in a circle"),
)


class Visit:
    """One browser context's look at a site. Remembers the HTTP status of each document it saw."""

    def __init__(self, page: Any, *, timeout_seconds: float, challenge_grace_seconds: float) -> None:
        """`challenge_grace_seconds`: how long an interstitial that may go away by itself is waited for."""
        self._timeout = timeout_seconds * 1000
        self._grace = challenge_grace_seconds
        self._statuses: dict[str, int] = {}
        page.context.on("response", self._remember)

    def goto(self, page: Any, url: str) -> None:
        """Open a start page. Raises `SiteError`: what kind of broken, and of which address."""
        try:
            response = page.goto(url, timeout=self._timeout, wait_until="domcontentloaded")
        except PlaywrightTimeout as error:
            raise SiteError(f"{url} does not answer within {self._timeout / 1000:g} s", kind="timeout") from error
        except PlaywrightError as error:
            message = first_line(error)
            for sign, kind, words in _REASONS:
                if sign in message:
                    raise SiteError(f"{url}: {words}", kind=kind, fix="check the address and the network") from error
            raise SiteError(f"{url} cannot be opened: {message}", kind="unreachable") from error
        status = response.status if response is not None else None
        if status is not None and (status >= 500 or status in (404, 410)) and self.block(page) is None:
            raise SiteError(f"{url} answers HTTP {status}", kind="http_5xx" if status >= 500 else "not_found")

    def block(self, page: Any, *, by_status: bool = True) -> Block | None:
        """The refusal that `page` shows now. A challenge that may pass is waited for, others are not.

        `by_status=False` ignores a bare 403: an agent may have asked for a page that is forbidden to anybody.
        """
        found = self._look(page, by_status)
        deadline = time.monotonic() + self._grace
        while found is not None and found.kind == "challenge" and time.monotonic() < deadline:
            try:
                page.wait_for_timeout(_POLL_MILLISECONDS)
            except PlaywrightError:
                return found
            found = self._look(page, by_status)
        return found

    def _look(self, page: Any, by_status: bool) -> Block | None:
        status = self._statuses.get(str(page.url).partition("#")[0])
        if not by_status and status in (403, 451):
            status = None
        facts = read_facts(page, status)
        return classify(facts) if facts is not None else None

    def _remember(self, response: Any) -> None:
        try:
            if response.request.is_navigation_request() and response.frame.parent_frame is None:
                while len(self._statuses) >= _MAX_REMEMBERED:
                    self._statuses.pop(next(iter(self._statuses)))
                self._statuses[str(response.url)] = int(response.status)
        except PlaywrightError:
            return  # the page was closed, or the response belongs to a service worker
