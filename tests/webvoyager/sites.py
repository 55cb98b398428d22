"""Small local sites for WebVoyager tests: ordinary pages, and pages that look like the refusals of real vendors.

    with LocalSite() as shop, LocalSite() as other: …       each has its own port, so each is a site of its own

A page is chosen by path; `LocalSite.refuse` turns any path into a refusal, to change between two windows. Texts follow the
wording that vendors show to people; markup is ours.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Page(NamedTuple):
    body: str
    title: str = ""
    status: int = 200
    location: str = ""


LONG = " ".join(f"Paragraph {i} of an ordinary article with quite some text in it." for i in range(60))

REFUSALS: dict[str, tuple[str, Page]] = {
    "cloudflare": (
        "challenge",
        Page(
            "<h1>shop.example</h1><p>Verify you are human by completing the action below.</p>"
            "<p>shop.example needs to review the security of your connection before proceeding.</p>"
            "<footer>Ray ID: 8f00 · Performance &amp; security by Cloudflare</footer>",
            "Just a moment...",
            403,
        ),
    ),
    "cloudflare-block": (
        "access_denied",
        Page("<h1>Sorry, you have been blocked</h1><p>Cloudflare Ray ID: 8f00</p>", "Attention Required! | Cloudflare", 403),
    ),
    "akamai": (
        "access_denied",
        Page(
            '<h1>Access Denied</h1>You don\'t have permission to access "http://www.example/" on this server.'
            "<p>Reference #18.5f3d1160</p>",
            "Access Denied",
            403,
        ),
    ),
    "imperva": ("access_denied", Page("<p>Request unsuccessful. Incapsula incident ID: 877-11</p>")),
    "bare-403": ("access_denied", Page("<h1>Forbidden</h1>", "403", 403)),
    "429": ("rate_limited", Page("<p>slow down</p>", "", 429)),
    "too-many": ("rate_limited", Page("<p>Too many requests. Please try again later.</p>")),
    "amazon": (
        "captcha",
        Page(
            "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot.</p>"
            "<form><input name=c><button>Continue shopping</button></form>",
            "Amazon.com",
        ),
    ),
    "perimeterx": (
        "captcha",
        Page("<p>Press &amp; Hold to confirm you are a human (and not a bot).</p>", "Access to this page has been denied"),
    ),
    "generic": (
        "captcha",
        Page("<h1>Are you a robot?</h1><p>Please verify that you’re human. Complete the security check to go on.</p>"),
    ),
    "titled": ("captcha", Page("<p>Confirm that you are human</p>", "Security check")),
}

ORDINARY: dict[str, Page] = {
    "home": Page("<h1>Kettles</h1><a href='/kettle'>Blue kettle</a><p>Fine kettles since 1890.</p>", "Kettle shop"),
    "kettle": Page("<h1>Blue kettle</h1><p>Price: 42 euros</p>", "Blue kettle"),
    "article": Page(
        f"<h1>Why sites verify you are human</h1><p>Captchas ask “are you a robot?” after unusual traffic; Cloudflare says "
        f"“Just a moment” while checking your browser before accessing.</p><p>{LONG}</p>",
        "Captchas explained",
    ),
    "dictionary": Page("<h1>captcha</h1><p>noun: a test to verify you are human, such as reading distorted text.</p>"),
    "consent": Page(
        "<div role=dialog><h2>Before you continue</h2><p>We use cookies and data to deliver services and to protect against spam "
        "and abuse.</p><button>Reject all</button><button>Accept all</button></div>",
        "Before you continue",
    ),
    "login": Page("<h1>Sign in</h1><form><input name=user><input type=password><button>Sign in</button></form>", "Sign in"),
    "signup": Page(
        f"<h1>Create an account</h1><form><input name=mail><button>Join</button></form><p>{LONG[:900]}</p>"
        "<iframe src='https://www.google.com/recaptcha/api2/anchor?k=1&size=normal' width=304 height=78></iframe>",
        "Join",
    ),
    "badge": Page(
        "<h1>Contact</h1><p>Write to us.</p>"
        "<iframe src='https://www.google.com/recaptcha/api2/anchor?k=1&size=invisible' width=256 height=60></iframe>",
        "Contact",
    ),
    "hidden-frame": Page(
        "<h1>Contact</h1><p>Write to us.</p>"
        "<iframe src='https://newassets.hcaptcha.com/x' width=300 height=80 style='visibility:hidden'></iframe>",
        "Contact",
    ),
    "forbidden-article": Page(f"<h1>Members only</h1><p>{LONG}</p>", "Members", 403),
    "not-found-text": Page("<h1>No results</h1><p>Try again with other words.</p>", "No results"),
    "empty": Page("", ""),
}


class LocalSite:
    """Serves `ORDINARY` and `REFUSALS` by name as path; "/" is `home`."""

    def __init__(self) -> None:
        self.refuse: dict[str, str] = {}
        """Path → name of the refusal it answers with now."""
        self.passing: set[str] = set()
        """Paths whose refusal is a challenge that the browser passes: it reloads, and is let in."""
        self.redirect: dict[str, str] = {}
        """Path → URL it redirects to."""
        self.status: dict[str, int] = {}
        """Path → another status for an ordinary page."""
        self.seen: list[str] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> LocalSite:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def url(self, path: str = "") -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/{path}"

    def page(self, path: str) -> Page:
        self.seen.append(path)
        if path in self.redirect:
            return Page("", status=302, location=self.redirect[path])
        name = self.refuse.get(path, path or "home")
        page = REFUSALS[name][1] if name in REFUSALS else ORDINARY.get(name, Page("<p>no such page</p>", status=404))
        if path in self.passing and self.refuse.pop(path, None):
            page = page._replace(body=page.body + "<script>setTimeout(() => location.reload(), 100)</script>")
        return page._replace(status=self.status.get(path, page.status))


def html(page: Page) -> str:
    return f"<!doctype html><html><head><meta charset=utf-8><title>{page.title}</title></head><body>{page.body}</body></html>"


def _handler_for(site: LocalSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = site.page(self.path.lstrip("/").partition("?")[0])
            content = html(page).encode()
            self.send_response(page.status)
            if page.location:
                self.send_header("location", page.location)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            return

    return Handler
