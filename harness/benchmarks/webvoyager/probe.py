"""Which start pages can be reached now? Writes a filter manifest with the rule `reachable`.

    distinct start URLs → HTTP request ─→ refused, broken or fine
                        → browser visit, if a page is given: what it finds replaces what HTTP found
    → FilterManifest(exclusions: every task of a URL that is not fine; details: every finding)

HTTP alone is quick and over-strict: many sites answer 403 to anything that is not a browser. The browser's word counts.
A probe sees one moment. For numbers use two windows: a task is out only if it was blocked in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any, Literal, NamedTuple

import httpx
from pydantic import JsonValue

from harness.benchmarks.tasksets import task_set_hash
from harness.benchmarks.webvoyager.blocked import MAX_TEXT_CHARS, PageFacts, classify
from harness.benchmarks.webvoyager.filters import FilterManifest
from harness.benchmarks.webvoyager.offsite import same_site
from harness.benchmarks.webvoyager.visit import Visit
from harness.errors import SiteError
from harness.types import Exclusion, Task

RULE, RULE_VERSION = "reachable", "1"
MAX_BODY_BYTES = 2_000_000
CHALLENGE_GRACE_SECONDS = 8.0
_HIDDEN_TAGS = ("script", "style", "noscript", "template", "head")


class Finding(NamedTuple):
    """What one probe of one start URL found."""

    url: str
    level: Literal["http", "browser"]
    problem: str
    """Why it cannot be used; empty if it can."""
    final_url: str
    offsite: bool
    """It led to another site: recorded, no problem by itself."""


def probe(tasks: Sequence[Task], *, page: Any = None, timeout_seconds: float = 30.0) -> FilterManifest:
    """Probe each start URL once, in order of first use. `page` is a Playwright page of a fresh context, or None."""
    urls = list(dict.fromkeys(task.start_url for task in tasks))
    if page is not None:
        grace = min(CHALLENGE_GRACE_SECONDS, timeout_seconds)
        visit = Visit(page, timeout_seconds=timeout_seconds, challenge_grace_seconds=grace)
        findings = {url: _browser_probe(url, page, visit) for url in urls}
    else:
        with httpx.Client(timeout=timeout_seconds, follow_redirects=True) as client:
            findings = {url: _http_probe(url, client) for url in urls}
    details: list[JsonValue] = [dict(finding._asdict()) for finding in findings.values()]
    return FilterManifest(
        name="reachable",
        task_set_hash=task_set_hash(tasks),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        exclusions=tuple(
            Exclusion(task_id=task.task_id, rule=RULE, rule_version=RULE_VERSION, reason=findings[task.start_url].problem)
            for task in tasks
            if findings[task.start_url].problem
        ),
        details={"findings": details},
    )


def _browser_probe(url: str, page: Any, visit: Visit) -> Finding:
    try:
        visit.goto(page, url)
        block = visit.block(page)
    except SiteError as error:
        return Finding(url, "browser", f"{error.kind}: {error}", url, False)
    final = str(page.url)
    return Finding(url, "browser", str(block) if block is not None else "", final, not same_site(final, url))


def _http_probe(url: str, client: httpx.Client) -> Finding:
    try:
        with client.stream("GET", url) as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    break
            final, status = str(response.url), response.status_code
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return Finding(url, "http", f"unreachable: {type(error).__name__} {error}".strip(), url, False)
    title, text = _visible(body.decode("utf-8", errors="replace"))
    block = classify(PageFacts(url=final, title=title, status=status, text=text))
    problem = str(block) if block is not None else (f"HTTP {status}" if status >= 500 or status in (404, 410) else "")
    return Finding(url, "http", problem, final, not same_site(final, url))


def _visible(html: str) -> tuple[str, str]:
    """Title and text of a page as far as plain HTML tells."""
    reader = _TextReader()
    reader.feed(html)
    return "".join(reader.title).strip(), " ".join(" ".join(reader.text).split())[:MAX_TEXT_CHARS]


class _TextReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.text: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in (*_HIDDEN_TAGS, "title"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            del self._open[self._open.index(tag) :]

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "title":
            self.title.append(data)
        elif not self._open:
            self.text.append(data)
