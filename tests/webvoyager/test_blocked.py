"""Refusals are told from ordinary pages: by a pure function, and in a real Chromium on pages that look like the real ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.webvoyager.blocked import Frame, PageFacts, classify
from harness.benchmarks.webvoyager.facts import read_facts
from harness.benchmarks.webvoyager.offsite import same_site, site_key
from harness.benchmarks.webvoyager.probe import _visible
from tests.webvoyager.sites import ORDINARY, REFUSALS, LocalSite, html

VENDOR_FRAMES = {
    "https://newassets.hcaptcha.com/captcha/v1/static/hcaptcha.html#frame=challenge": "hCaptcha",
    "https://www.google.com/recaptcha/api2/bframe?hl=en": "reCAPTCHA",
    "https://www.recaptcha.net/recaptcha/enterprise/anchor?size=normal": "reCAPTCHA",
    "https://geo.captcha-delivery.com/captcha/?initialCid=1": "DataDome",
    "https://challenges.cloudflare.com/cdn-cgi/challenge-platform/h/b/turnstile": "Turnstile",
}


@pytest.fixture(scope="module")
def site() -> Iterator[LocalSite]:
    with LocalSite() as running:
        yield running


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_by_text(name: str) -> None:
    kind, page = REFUSALS[name]
    title, text = _visible(html(page))
    block = classify(PageFacts("https://shop.example/", title, page.status, text))
    assert block is not None
    assert block.kind == kind
    assert block.evidence


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_pages_by_text(name: str) -> None:
    page = ORDINARY[name]
    title, text = _visible(html(page))
    assert classify(PageFacts("https://shop.example/", title, page.status, text)) is None


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.google.com/sorry/index?continue=x", "captcha"),
        ("https://www.google.co.uk/sorry/index", "captcha"),
        ("https://www.google.com/search?q=sorry", None),
        ("https://notgoogle.com/sorry/index", None),
        ("https://google.com.evil.example/sorry/index", None),
        ("https://shop.example/cdn-cgi/challenge?__cf_chl_tk=1", "challenge"),
        ("https://[bad/sorry/", None),
    ],
)
def test_addresses(url: str, kind: str | None) -> None:
    block = classify(PageFacts(url, text="x" * 5000))
    assert (block.kind if block else None) == kind


@pytest.mark.parametrize(("url", "vendor"), VENDOR_FRAMES.items())
def test_a_captcha_frame_blocks_only_where_it_is_all_there_is(url: str, vendor: str) -> None:
    def block(text: str, width: float = 300, height: float = 80) -> Any:
        return classify(PageFacts("https://shop.example/", text=text, frames=(Frame(url, width, height),)))

    assert vendor in block("").evidence
    assert vendor in block("x " * 300 + "please confirm you are human").evidence
    assert block("An ordinary form with a long explanation of what it is for. " * 10) is None
    assert block("", height=0) is None


@given(title=st.text(max_size=50), text=st.text(max_size=400), status=st.none() | st.integers(100, 599), url=st.text(max_size=60))
def test_any_page_can_be_classified(title: str, text: str, status: int | None, url: str) -> None:
    classify(PageFacts(url, title, status, text, (Frame(url, 100, 100),)))


@pytest.mark.timeout(60)  # 20 ms here; a pattern that backtracks would take minutes
def test_a_huge_hostile_page_takes_no_time() -> None:
    classify(PageFacts("https://a.example/", "verify you are " * 10_000, 200, "verify that you're " * 200_000))


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("https://dictionary.cambridge.org/", "cambridge.org"),
        ("http://127.0.0.1:8080/x", "127.0.0.1:8080"),
        ("http://localhost:1/", "localhost:1"),
        ("http://[::1]:5/", "::1:5"),
        ("about:blank", ""),
        ("http://[broken", ""),
    ],
)
def test_site_keys(url: str, key: str) -> None:
    assert site_key(url) == key


def test_same_site() -> None:
    assert same_site("https://www.google.com/maps", "https://accounts.google.com/")
    assert not same_site("https://www.bbc.co.uk/", "https://www.gov.co.uk/")
    assert same_site("about:blank", "https://a.example/")


# ------------------------------------------------------------------------------------------------ in a real Chromium


@pytest.mark.browser
@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_in_a_browser(page: Any, site: LocalSite, name: str) -> None:
    response = page.goto(site.url(name))
    facts = read_facts(page, response.status)
    assert facts is not None
    block = classify(facts)
    assert block is not None
    assert block.kind == REFUSALS[name][0]


@pytest.mark.browser
@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_pages_in_a_browser(page: Any, site: LocalSite, name: str) -> None:
    page.route(re.compile(r"^https://"), lambda route: route.fulfill(content_type="text/html", body="<p>captcha</p>"))
    response = page.goto(site.url(name))
    facts = read_facts(page, response.status)
    assert facts is not None
    assert classify(facts) is None


@pytest.mark.browser
def test_a_vendor_frame_in_a_closed_shadow_root_is_seen(page: Any, site: LocalSite) -> None:
    page.route(re.compile(r"^https://"), lambda route: route.fulfill(content_type="text/html", body="<p>tick</p>"))
    page.goto(site.url("empty"))
    with page.expect_event("framenavigated", lambda frame: "challenges" in frame.url):
        page.evaluate("""() => {
          const host = document.body.appendChild(document.createElement("div"));
          const frame = document.createElement("iframe");
          frame.src = "https://challenges.cloudflare.com/turnstile"; frame.width = 300; frame.height = 65;
          host.attachShadow({mode: "closed"}).appendChild(frame);
        }""")
    facts = read_facts(page, 200)
    assert facts is not None
    block = classify(facts)
    assert block is not None
    assert "Turnstile" in block.evidence


@pytest.mark.browser
@pytest.mark.parametrize(
    "script",
    [
        "Array.from = () => 7",
        "Array.from = () => [[1], null, [2, 'a', {}], ['x', 1e999, NaN]]",
        "Array.from = () => { throw new Error('no') }",
        "Object.defineProperty(document, 'title', {get: () => ({toString: 1})})",
        "document.body.remove()",
    ],
)
def test_a_page_that_lies_about_itself_does_no_harm(page: Any, site: LocalSite, script: str) -> None:
    page.goto(site.url("home"))
    page.evaluate(f"() => {{ {script} }}")
    facts = read_facts(page, 200)
    assert facts is None or classify(facts) is None


@pytest.mark.browser
def test_a_closed_page_has_no_facts(page: Any) -> None:
    page.close()
    assert read_facts(page, None) is None
