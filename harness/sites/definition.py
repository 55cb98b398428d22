"""What a site is: an application, the address of one view of it, and the people who may log in.

AppDefinition    one server process with its own files: shop, forum, tracker
  ├── Account    who may log in, as whom
  └── SiteDefinition   a site as tasks name it; `shop` and `shop_admin` are two sites of one application
"""

from __future__ import annotations

from typing import Literal

from harness.types import Record

AppName = Literal["shop", "forum", "tracker"]
SiteName = Literal["shop", "shop_admin", "forum", "tracker", "wiki"]

NOW = "2026-03-02T10:00:00+00:00"
"""What every application believes the time to be, always: pages and trees must not depend on the day of a run."""


class Account(Record):
    """A login of our own making; the password protects nothing."""

    username: str
    """What the login form asks for: an e-mail address in the shop, a name elsewhere."""
    password: str
    name: str
    """The person's name as pages show it."""
    email: str


class AppDefinition(Record):
    """One application. `apps/<name>/build.py` makes its files, `apps/<name>/serve.py` serves them."""

    name: AppName
    title: str
    package: str
    """Distribution that the application comes from, as pinned in requirements.txt."""
    hostname: str
    """A name below `.localhost`, which browsers resolve to loopback: one per application, so cookies never meet."""
    port_offset: int
    """Added to an instance set's first port."""
    database: str
    """Path of the SQLite database below the data directory."""
    health_path: str
    health_text: str
    """Must be in the page at `health_path`: another program that answers 200 on this port is not this site."""


class SiteDefinition(Record):
    """A site as tasks name it in `sites`."""

    name: SiteName
    title: str
    app: AppName
    start_path: str
    """Its first page: `/`, or the part of the application that this site is."""
    placeholder: str
    """What stands in task data for the site's address, which is the application's and `start_path` without a last slash."""
    account: Account
    """Who tasks on this site are logged in as."""
