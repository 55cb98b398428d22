"""Has the site refused to serve an automated browser? A pure function of what the page shows.

    PageFacts(url, title, status, text, frames) → classify → Block(kind, evidence) | None

    captcha        a puzzle stands in the way: a visible hCaptcha, reCAPTCHA or DataDome frame, Google's /sorry/, Amazon's
    challenge      an interstitial that may go away by itself: Cloudflare's "Just a moment…"
    access_denied  403 or 451 with nothing else on the page, Akamai's "Access Denied", Imperva's incident page
    rate_limited   429, or a page that says "too many requests" and nothing else

Signs are of two kinds. A vendor's own (its address, its frame, its exact wording) are enough, on a page with little else on
it. Common phrases ("verify you are human") count only in twos, or with a vendor's frame. A long page is never a block
unless its address says so: articles about captchas, sign-up forms with a small reCAPTCHA badge and consent walls pass.
Page text is hostile: matching is on a bounded prefix, with patterns that cannot backtrack far.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

BlockKind = Literal["captcha", "challenge", "access_denied", "rate_limited"]

SHORT_PAGE_CHARS = 1500
"""A page that refuses has little text; one that has more shows content beside the refusal."""
BARE_PAGE_CHARS = 200
"""With less text than this, a captcha frame is all that the page has."""
MAX_TEXT_CHARS = 20_000
MIN_FRAME_SIDE = 40
"""CSS pixels: invisible reCAPTCHA keeps hidden or tiny frames on ordinary pages."""


class Frame(NamedTuple):
    """An iframe of the page: its address and its visible size in CSS pixels (0 where hidden)."""

    url: str
    width: float
    height: float


class PageFacts(NamedTuple):
    url: str
    title: str = ""
    status: int | None = None
    """HTTP status of the document, None if unknown."""
    text: str = ""
    """Visible text of the page."""
    frames: tuple[Frame, ...] = ()


class Block(NamedTuple):
    kind: BlockKind
    evidence: str
    """What gave it away, in words."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.evidence}"


_CAPTCHA_FRAMES = (
    ("hCaptcha", re.compile(r"^https?://(?:[\w-]+\.)*hcaptcha\.com/")),
    ("reCAPTCHA", re.compile(r"^https?://(?:www\.)?(?:google\.com|recaptcha\.net)/recaptcha/")),
    ("DataDome", re.compile(r"^https?://(?:[\w-]+\.)*captcha-delivery\.com/")),
    ("Turnstile", re.compile(r"^https?://challenges\.cloudflare\.com/")),
    ("Arkose", re.compile(r"^https?://(?:[\w-]+\.)*(?:arkoselabs|funcaptcha)\.com/")),
)
_BADGE = re.compile(r"/recaptcha/(?:api2|enterprise)/anchor\?.*\bsize=invisible\b")
_GOOGLE = re.compile(r"(?:^|\.)google\.[a-z]{2,3}(?:\.[a-z]{2})?$")

# (kind, evidence, all of these must occur in title + text, lower case)
_WORDINGS: tuple[tuple[BlockKind, str, tuple[str, ...]], ...] = (
    ("captcha", "Google's unusual-traffic page", ("our systems have detected unusual traffic from your computer network",)),
    ("captcha", "Amazon's character puzzle", ("enter the characters you see below", "not a robot")),
    ("captcha", "Amazon's character puzzle", ("type the characters you see in this image",)),
    ("captcha", "PerimeterX's press-and-hold", ("press & hold", "human")),
    ("challenge", "Cloudflare's interstitial", ("just a moment", "cloudflare")),
    ("challenge", "Cloudflare's interstitial", ("checking your browser before accessing",)),
    ("challenge", "Cloudflare's interstitial", ("needs to review the security of your connection before proceeding",)),
    ("access_denied", "Cloudflare's block page", ("sorry, you have been blocked", "cloudflare")),
    ("access_denied", "Akamai's Access Denied", ("access denied", "you don't have permission to access", "reference #")),
    ("access_denied", "Imperva's incident page", ("incapsula incident id",)),
    ("access_denied", "Imperva's interruption page", ("pardon our interruption", "bot")),
    ("rate_limited", "the page says so", ("too many requests", "try again")),
)
_PHRASES = (
    re.compile(r"\b(?:verify|confirm|prove)(?:ing)? (?:that )?you(?:'re| are) (?:a )?(?:human|not a robot)\b"),
    re.compile(r"\bare you (?:a )?(?:human|robot)\b"),
    re.compile(r"\bi(?:'m| am) not a robot\b"),
    re.compile(r"\b(?:complete|solve) (?:the|this) (?:captcha|security check|puzzle)\b"),
    re.compile(r"\bunusual (?:traffic|activity)\b"),
    re.compile(r"\benable javascript and cookies to continue\b"),
    re.compile(r"\bautomated (?:access|requests|queries)\b"),
    re.compile(r"\bray id\b"),
)
_CHALLENGE_TITLES = ("just a moment", "attention required! | cloudflare", "robot or human?", "security check", "captcha")


def classify(page: PageFacts) -> Block | None:
    """The refusal that the page shows, or None for a page that an agent can work with."""
    if block := _by_address(page.url):
        return block
    text = " ".join(page.text[:MAX_TEXT_CHARS].replace("’", "'").split()).lower()
    if page.status == 429:
        return Block("rate_limited", "HTTP 429")
    if len(text) > SHORT_PAGE_CHARS:
        return None
    title = " ".join(page.title[:300].replace("’", "'").split()).lower()
    return _by_wording(f"{title} {text}") or _by_frame(page.frames, title, text) or _by_status(page.status, title)


def _by_address(url: str) -> Block | None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return None
    if _GOOGLE.search(host) and parts.path.startswith("/sorry/"):
        return Block("captcha", "Google's /sorry/ page")
    if "__cf_chl_" in parts.query and parts.path.startswith("/cdn-cgi/"):
        return Block("challenge", "Cloudflare's challenge address")
    return None


def _by_wording(words: str) -> Block | None:
    for kind, evidence, needed in _WORDINGS:
        if all(part in words for part in needed):
            return Block(kind, evidence)
    return None


def captcha_vendor(url: str) -> str:
    """Whose captcha this frame address is; empty for any other frame, and for reCAPTCHA's invisible badge."""
    address = url[:500]
    if _BADGE.search(address):
        return ""
    return next((vendor for vendor, pattern in _CAPTCHA_FRAMES if pattern.match(address)), "")


def _by_frame(frames: tuple[Frame, ...], title: str, text: str) -> Block | None:
    """A visible captcha frame blocks where the page says nothing else, or asks for it; a form may carry one as well."""
    phrases = sum(bool(pattern.search(text)) for pattern in _PHRASES)
    titled = title.startswith(_CHALLENGE_TITLES)
    vendors = [captcha_vendor(f.url) for f in frames if min(f.width, f.height) >= MIN_FRAME_SIDE]
    if any(vendors) and (phrases or titled or len(text) < BARE_PAGE_CHARS):
        return Block("captcha", f"{next(filter(None, vendors))} frame in front of the page")
    if phrases >= 2 or (phrases and titled):
        return Block("captcha", "the page asks to prove that a person is there")
    return None


def _by_status(status: int | None, title: str) -> Block | None:
    if status in (403, 451):
        return Block("access_denied", f"HTTP {status} and no content")
    if status == 503 and title.startswith(_CHALLENGE_TITLES):
        return Block("challenge", f"HTTP 503, titled {title[:60]!r}")
    return None
