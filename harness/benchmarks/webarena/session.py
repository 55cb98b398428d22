"""Signing in, and proof of it: upstream logs in and never looks; an expired or clashing session then scores 0.

    prove_logins(instance)                upstream's own `ui_login`, then `assert_signed_in`
    assert_signed_in(page, site, …)       a page for signed-in users only answers, with its marker
    assert_started(pages, sites, …)       no start page is a sign-in page, an error page or a 5xx

Every failure here is a `SiteError`: the site set is broken, not the agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from harness.benchmarks.webarena.sites import SPECS, is_sign_in
from harness.errors import SiteError, first_line

HTTP_ERROR = 400
SERVER_ERROR = 500


class StatusLog:
    """HTTP status of every main-frame navigation of a context, newest last: Playwright's goto tells only its caller."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._statuses: dict[str, int] = {}

    def __enter__(self) -> StatusLog:
        self._context.on("response", self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._context.remove_listener("response", self._note)

    def _note(self, response: Any) -> None:
        if response.request.resource_type == "document":
            self._statuses[response.url] = response.status

    def status(self, url: str) -> int | None:
        return self._statuses.get(url)


def allow_slow_sites(context: Any, seconds: float) -> None:
    """The agent's own actions carry their own timeouts; this is for logins and evaluators, which use the default."""
    context.set_default_timeout(seconds * 1000)
    context.set_default_navigation_timeout(seconds * 1000)


class _Forwarder:
    """Forwards everything to `target`; subclasses change one thing. Upstream's login code only ever calls methods."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


class _LoginTab(_Forwarder):
    def close(self) -> None:
        """Upstream closes the tab right after the click. Chromium 156 answers such a close and then forgets it (while
        the navigation is being committed), and Playwright waits for ever: let the new document come first."""
        self._target.wait_for_load_state("domcontentloaded")
        self._target.close()


class _LoginContext(_Forwarder):
    def new_page(self) -> _LoginTab:
        return _LoginTab(self._target.new_page())


class _LoginPage(_Forwarder):
    @property
    def context(self) -> _LoginContext:
        return _LoginContext(self._target.context)


def prove_logins(instance: Any) -> None:
    """Make every `instance.ui_login` (upstream's `WebArenaInstance`) end with proof of the login, or a `SiteError`."""
    original = instance.ui_login

    def ui_login(site: str, page: Any) -> None:
        with login_errors(site):
            original(site=site, page=_LoginPage(page))
        assert_signed_in(page, site, instance.urls[site], instance.credentials.get(site, {}).get("username", ""))

    instance.ui_login = ui_login


@contextmanager
def login_errors(site: str) -> Iterator[None]:
    """What goes wrong while logging in is the site's failure, and says which site."""
    try:
        yield
    except SiteError:
        raise
    except Exception as error:
        raise SiteError(
            f"login to {site} failed: {first_line(error)}",
            kind="login_failed",
            fix=f"run `harness doctor webarena`; check the URL and credentials of {site}",
        ) from error


def assert_signed_in(page: Any, site: str, base_url: str, username: str) -> None:
    """Ask for a page that only a signed-in user gets. Raises `SiteError` of kind `not_signed_in` or `http_<status>`."""
    spec = SPECS[site]
    if not spec.signed_in_path:
        return
    url = base_url + spec.signed_in_path.format(username=username)
    with login_errors(site):
        response = page.context.request.get(url)
        status, landed, body = response.status, response.url, response.text()
        response.dispose()
    if status >= SERVER_ERROR:
        raise SiteError(f"{site} answers {status} at {spec.signed_in_path}", kind=f"http_{status}")
    missing_marker = bool(spec.signed_in_marker) and spec.signed_in_marker not in body
    if status >= HTTP_ERROR or is_sign_in(site, base_url, landed) or missing_marker:
        raise SiteError(
            f"not signed in to {site} after the login (asked for {urlsplit(url).path}, status {status}, "
            f"landed on {urlsplit(landed).path})",
            kind="not_signed_in",
            fix="check the credentials, and that no two sites share a host name (cookies are kept per host)",
        )


def assert_started(page: Any, urls: dict[str, str], statuses: StatusLog) -> None:
    """The pages of the context after the start URLs were opened: no sign-in page, no error page, no 5xx."""
    for opened in page.context.pages:
        url = opened.url
        if url.startswith("chrome-error:"):
            raise SiteError("a start page could not be loaded", kind="unreachable")
        status = statuses.status(url)
        if status is not None and status >= SERVER_ERROR:
            raise SiteError(f"the start page {urlsplit(url).path} answers {status}", kind=f"http_{status}")
        for site, base in urls.items():
            selector = SPECS[site].sign_in_selector
            on_site = url.startswith(base)
            if is_sign_in(site, base, url) or (on_site and selector and opened.locator(selector).count()):
                raise SiteError(f"{site} shows its sign-in page at step 0", kind="not_signed_in")


def foreign_pages(page: Any, urls: dict[str, str], homepage: str) -> tuple[str, ...]:
    """Hosts of open tabs that belong to no configured site: upstream ends the task with 0 there."""
    allowed = {"", "newtab"} | {urlsplit(url).netloc for url in (*urls.values(), homepage)}
    return tuple(sorted({urlsplit(p.url).netloc for p in page.context.pages} - allowed))
