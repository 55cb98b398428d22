"""What is known about the six WebArena sites: how a login shows, what a sign-in page looks like, what to probe.

Labels and pages are those of the published site images (Postmill, GitLab, Magento, OpenStreetMap, Kiwix). The login
pages are upstream's own (`libwebarena` auto_login): they exist only for a signed-in user. `[webarena.probes]` in
run.toml replaces the probes of a site whose pages differ.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from harness.scoring.webarena_upstream import SITES, VARIABLES
from harness.types import Record

__all__ = ["PLACEHOLDERS", "SITES", "SPECS", "VARIABLES", "Probe", "SiteSpec", "is_sign_in", "render"]

PLACEHOLDERS = {site: f"__{site.upper()}__" for site in SITES}
"""Stand-ins of task definitions for a site's base URL."""


class Probe(Record):
    """One page that must answer 200 and, if given, hold a text."""

    path: str
    """Appended to the site's base URL; may be empty."""
    contains: str = ""
    """Text that the answer must hold; empty: any answer."""


class SiteSpec(NamedTuple):
    signed_in_path: str
    """A page for signed-in users only; `{username}` is filled in. Empty: the site has no login."""
    signed_in_marker: str
    """Text of that page; empty where not being redirected to the sign-in page is the proof."""
    sign_in_paths: tuple[str, ...]
    """Paths, below the site's base URL, of pages that ask for a login."""
    sign_in_selector: str
    """An element that only the sign-in page has, for a site that serves it at any path."""
    probes: tuple[Probe, ...]


SPECS: dict[str, SiteSpec] = {
    "reddit": SiteSpec(
        "/user/{username}/account", "Delete", ("/login",), "", (Probe(path="", contains="Log in"), Probe(path="/forums"))
    ),
    "gitlab": SiteSpec(
        "/-/profile",
        "",
        ("/users/sign_in",),
        "",
        (Probe(path="/users/sign_in", contains="Sign in"), Probe(path="/explore", contains="Explore")),
    ),
    "shopping": SiteSpec(
        "/wishlist/",
        "",
        ("/customer/account/login",),
        "",
        (Probe(path="/customer/account/login/", contains="Sign In"), Probe(path="/customer/section/load/")),
    ),
    "shopping_admin": SiteSpec("/dashboard", "Dashboard", (), "form#login-form", (Probe(path="", contains="Username"),)),
    "map": SiteSpec("", "", (), "", (Probe(path="", contains="OpenStreetMap"),)),
    "wikipedia": SiteSpec("", "", (), "", (Probe(path="", contains="Wikipedia"),)),
}


def is_sign_in(site: str, base_url: str, url: str) -> bool:
    """Is `url` the page where `site` asks for a login?"""
    base, here = urlsplit(base_url), urlsplit(url)
    if base.netloc != here.netloc:
        return False
    path = here.path.removeprefix(base.path.rstrip("/"))
    return any(path == p or path.startswith(p + "/") for p in SPECS[site].sign_in_paths)


def render(url: str, urls: dict[str, str]) -> str:
    """`url` with every placeholder replaced by the site's base URL."""
    for site, placeholder in PLACEHOLDERS.items():
        url = url.replace(placeholder, urls.get(site, placeholder))
    return url
