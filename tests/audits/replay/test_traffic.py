"""The network log of a replay, from a real browser: complete, in HAR's form, and without anything secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audits.replay import traffic
from audits.replay.config import SafetyConfig
from audits.replay.safety import Guard, guarded
from harness.actions import parse_action
from harness.envs.browser import BrowserEnv
from harness.envs.session import BrowserSession
from tests.audits.replay.dreams import remembering
from tests.support.pages import open_url, url_spec

pytestmark = pytest.mark.browser

PAGES = {
    "/": """<title>start</title><script>document.cookie = 'sid=hush'</script>
        <form action=/found><input aria-label=Find name=q><button>Look up</button></form>""",
    "/found": """<title>found</title><button onclick="fetch('/in', {method: 'POST', body: 'pw=hush'})">Enter</button>
        <button onclick="fetch('http://127.0.0.1:9/')">Nowhere</button>""",
}


def entries(guard: Guard) -> list[Any]:
    log: Any = guard.traffic.har()["log"]
    assert log["version"] == "1.2"
    return list(log["entries"])


def play(session: BrowserSession, guard: Guard, url: str) -> None:
    env = BrowserEnv(session, guarded(open_url, guard))
    guard.reset()
    _, page = env.reset(url_spec(url + "/"))
    try:
        for text in ('fill("{Find}", "two words")', 'click("{Look up}")', 'click("{Enter}")', 'click("{Nowhere}")'):
            name = text.partition("{")[2].partition("}")[0]
            line = next(line for line in page.axtree.splitlines() if f"'{name}'" in line)
            page = env.step(parse_action(text.replace("{" + name + "}", line.split("[")[1].split("]")[0]))).observation
    finally:
        env.end_episode()


def test_what_was_asked_for_is_listed_without_headers_cookies_and_bodies(browser_session: BrowserSession) -> None:
    guard = Guard(SafetyConfig())
    with remembering(PAGES) as site:
        play(browser_session, guard, site.url)
    found = [
        (e["request"]["method"], e["request"]["url"].removeprefix(site.url), e["response"]["status"]) for e in entries(guard)
    ]
    assert ("GET", "/found?q=two+words", 200) in found
    assert ("POST", "/in", 200) in found
    assert any(url == "http://127.0.0.1:9/" and status == 0 for _, url, status in found), "what got no answer is listed too"
    search = next(e for e in entries(guard) if "/found" in e["request"]["url"])
    assert search["request"]["queryString"] == [{"name": "q", "value": "two words"}]
    assert search["response"]["content"]["mimeType"].startswith("text/html")
    assert search["startedDateTime"] >= "2026" and search["time"] >= 0
    assert "hush" not in json.dumps(guard.traffic.har())


def test_a_page_that_asks_for_ever_fills_no_disk(browser_session: BrowserSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "MAX_ENTRIES", 1)
    guard = Guard(SafetyConfig())
    with remembering(PAGES) as site:
        play(browser_session, guard, site.url)
    log: Any = guard.traffic.har()["log"]
    assert len(log["entries"]) == 1
    assert int(log["comment"].split()[0]) >= 2
