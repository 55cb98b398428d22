"""Signing in to the sites through their own forms, in a tab of its own, and proof of it.

Where the forms are and what only a signed-in person sees is data, one entry per application. A login that did not work is a
SiteError: the site is broken, not the agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from harness.errors import SiteError, first_line
from harness.sites.definition import Account, AppName

LOGIN_SECONDS = 30.0
"""For each part of a login: a machine that is busy is no reason to call a site broken."""
FIX = "harness sites reset, then harness doctor arena"


class Form(NamedTuple):
    """An application's sign-in form, as CSS selectors. `proof` is on every page, for signed-in people only."""

    path: str
    username: str
    password: str
    proof: str


FORMS: Mapping[AppName, Form] = MappingProxyType({
    "shop": Form("/accounts/login/", "[name=login-username]", "[name=login-password]", "#logout_link, #logout_form"),
    "forum": Form("/user/login/", "[name=username]", "[name=password]", "[href*='/user/logout/'], [action*='/user/logout/']"),
    "tracker": Form("/login", "[name=user], [name=username]", "[name=password]", "[href*='/logout'], [action*='/logout']"),
})  # fmt: skip


def sign_in(page: Any, app: AppName, address: str, account: Account) -> None:
    """Fill in the form of the application at `address`. Raises SiteError of kind `login_failed` or `not_signed_in`."""
    form = FORMS[app]
    tab = page.context.new_page()
    tab.set_default_timeout(LOGIN_SECONDS * 1000)
    try:
        tab.goto(address + form.path, wait_until="domcontentloaded")
        tab.locator(form.username).first.fill(account.username)
        password = tab.locator(form.password).first
        password.fill(account.password)
        with tab.expect_navigation(wait_until="domcontentloaded"):
            password.press("Enter")
        signed_in = tab.locator(form.proof).count() > 0
        landed = urlsplit(tab.url).path
        # Not before the new document is there: Chromium answers a close in mid-navigation and then forgets it.
        tab.close()
    except Exception as error:
        raise SiteError(f"login to the {app} failed: {first_line(error)}", kind="login_failed", fix=FIX) from error
    if not signed_in:
        raise SiteError(
            f"not signed in to the {app} as {account.username} after the login (landed on {landed})",
            kind="not_signed_in",
            fix=FIX,
        )


def is_sign_in(app: AppName, url: str) -> bool:
    """Is this the page that asks who you are?"""
    return urlsplit(url).path.startswith(FORMS[app].path)
