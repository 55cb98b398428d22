"""Nothing leaves the sites: requests to any other address are aborted in the browser, and told.

page ──► request ──► own host and port?  yes: goes through (the pattern does not match it, no detour through Python)
                                         no:  aborted; a document among them ends the episode
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

MAX_KEPT = 50


class Fence:
    """Stands around a browser context from construction on. `escapes`: pages that were asked for elsewhere."""

    def __init__(self, context: Any, addresses: Iterable[str]) -> None:
        """`addresses`: the only URLs, up to the port, that may be asked for."""
        self.escapes: list[str] = []
        self.blocked: dict[str, int] = {}
        """Host → requests aborted, documents included."""
        context.route(_elsewhere(addresses), self._abort)

    def _abort(self, route: Any) -> None:
        request = route.request
        host = urlsplit(request.url).netloc[:200]
        if host in self.blocked or len(self.blocked) < MAX_KEPT:
            self.blocked[host] = self.blocked.get(host, 0) + 1
        if request.is_navigation_request() and len(self.escapes) < MAX_KEPT:
            self.escapes.append(request.url[:500])
        route.abort("blockedbyclient")


def _elsewhere(addresses: Iterable[str]) -> re.Pattern[str]:
    """Matches every URL but those of `addresses`; read by JavaScript as well as by Python."""
    own = "|".join(re.escape(address.rstrip("/")) for address in addresses)
    return re.compile(rf"^(?!(?:{own})(?:[/?#]|$))")
