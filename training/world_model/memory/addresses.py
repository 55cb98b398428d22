"""What stays of a URL when the same page is met on another copy of a site, and what stays of a kind of page.

http://shop.localhost:8120/catalogue/urban-mister_12/?page=2&csrf=…
  shelf    shop.localhost                        the site, whichever instance's port it answers on
  route    /catalogue/urban-mister_12/?page=2    the page: path, query, fragment; volatile parameters dropped
  document(route)                                … without the fragment, which is a place on the page
  pattern  /catalogue/*_N/?page                  the kind of page: numbers `N`, slugs `*`, queries by their keys
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

VOLATILE: Final = frozenset(
    {"csrfmiddlewaretoken", "__form_token", "csrf", "token", "sessionid", "_", "ts", "timestamp", "nonce"}
)
"""Query parameters that differ between two visits to one page."""

VERBS: Final = frozenset(
    {
        "add", "create", "new", "edit", "update", "delete", "remove", "reviews", "review", "preview", "moderate", "publish",
        "lines", "vote", "messages", "notes", "history", "comment", "comments", "status", "toggle", "move", "attachments",
    }
)  # fmt: skip
"""Words that name what is done to the numbered thing before them; any other word there is the thing's own name."""

_NUMBER = re.compile(r"[0-9]+")
_NAME_NUMBER = re.compile(r".*[^0-9](?=[_-][0-9]+$)")
_SLUG = re.compile(r"(?=.*[-_+ A-Z0-9])[^/]+")
_MAX_CACHED: Final = 8192


@lru_cache(_MAX_CACHED)
def shelf(url: str, site: str = "") -> str:
    """The site a page stands on: its host, or `site` where the address has none (`about:blank`, a file).

    The port only counts where the host does not tell sites apart (`localhost`, an IP address).
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return site
    if not host:
        return site
    tells = "." in host and not host.replace(".", "").isdigit()
    return host if tells or port is None else f"{host}:{port}"


@lru_cache(_MAX_CACHED)
def route(url: str) -> str:
    """Path, query and fragment, percent signs decoded where that loses nothing. Of a file its last two parts."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.scheme == "file":
        return "/" + "/".join(parts.path.split("/")[-2:])
    if not parts.netloc:
        return url
    pairs = [(key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if key not in VOLATILE]
    query = f"?{urlencode(pairs)}" if pairs else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return (parts.path or "/") + query + fragment


def document(route_: str) -> str:
    """A route without its fragment."""
    return route_.partition("#")[0]


@lru_cache(_MAX_CACHED)
def pattern(route_: str) -> str:
    """The kind of page: equal for two products, two search results, two tickets. Idempotent."""
    path, _, query = route_.partition("#")[0].partition("?")
    kept: list[str] = []
    for segment in path.split("/"):
        kept.append(_kind_of(unquote(segment), kept[-1] if kept else ""))
    keys = sorted({pair.partition("=")[0] for pair in query.split("&") if pair})
    return "/".join(kept) + (f"?{'&'.join(keys)}" if keys else "")


def _kind_of(segment: str, before: str) -> str:
    if _NUMBER.fullmatch(segment):
        return "N"
    if _NAME_NUMBER.match(segment):
        return "*_N"
    if segment in ("*", "*_N", "N", "") or segment.endswith((".html", ".htm", ".php")):
        return segment
    if _SLUG.fullmatch(segment) or (before == "N" and segment not in VERBS):
        return "*"
    return segment


def slug(text: str) -> str:
    """`text` as web applications put it into addresses: lower case, ASCII, hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
