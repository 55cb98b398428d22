"""The sites there are. All people are invented; mail addresses end in example.com."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from harness.errors import UsageError
from harness.sites.definition import Account, AppDefinition, AppName, SiteDefinition

SHOPPER = Account(username="morgan.hale@example.com", password="lantern-47", name="Morgan Hale", email="morgan.hale@example.com")
SHOP_MANAGER = Account(
    username="priya.storrow@example.com", password="ledger-82", name="Priya Storrow", email="priya.storrow@example.com"
)
FORUM_MEMBER = Account(username="morgan_hale", password="kettle-19", name="morgan_hale", email="morgan.hale@example.com")
FORUM_MODERATOR = Account(username="tobias_wren", password="gavel-33", name="tobias_wren", email="tobias.wren@example.com")
TRACKER_MEMBER = Account(username="mhale", password="anchor-56", name="Morgan Hale", email="morgan.hale@example.com")
TRACKER_ADMIN = Account(username="ifenwick", password="harbor-71", name="Iris Fenwick", email="iris.fenwick@example.com")

APPS: Mapping[AppName, AppDefinition] = MappingProxyType(
    {
        app.name: app
        for app in (
            AppDefinition(
                name="shop",
                title="Shop",
                package="django-oscar",
                hostname="shop.localhost",
                port_offset=0,
                database="shop.sqlite3",
                health_path="/accounts/login/",
                health_text="csrfmiddlewaretoken",
            ),
            AppDefinition(
                name="forum",
                title="Forum",
                package="django-spirit",
                hostname="forum.localhost",
                port_offset=1,
                database="forum.sqlite3",
                health_path="/user/login/",
                health_text="csrfmiddlewaretoken",
            ),
            AppDefinition(
                name="tracker",
                title="Tracker",
                package="Trac",
                hostname="tracker.localhost",
                port_offset=2,
                database="project/db/trac.db",
                health_path="/about",
                health_text="Trac",
            ),
        )
    }
)

SITES: Mapping[str, SiteDefinition] = MappingProxyType(
    {
        site.name: site
        for site in (
            SiteDefinition(name="shop", title="Shop", app="shop", start_path="/", placeholder="__SHOP__", account=SHOPPER),
            SiteDefinition(
                name="shop_admin",
                title="Shop dashboard",
                app="shop",
                start_path="/dashboard/",
                placeholder="__SHOP_ADMIN__",
                account=SHOP_MANAGER,
            ),
            SiteDefinition(
                name="forum", title="Forum", app="forum", start_path="/", placeholder="__FORUM__", account=FORUM_MEMBER
            ),
            SiteDefinition(
                name="tracker", title="Tracker", app="tracker", start_path="/", placeholder="__TRACKER__", account=TRACKER_MEMBER
            ),
            SiteDefinition(
                name="wiki", title="Wiki", app="tracker", start_path="/wiki", placeholder="__WIKI__", account=TRACKER_MEMBER
            ),
        )
    }
)


def apps_of(names: Iterable[str]) -> tuple[AppDefinition, ...]:
    """The applications behind sites or applications of these names, each once; all of them for no name."""
    wanted = list(names)
    for name in wanted:
        if name not in SITES:
            raise UsageError(f"there is no site {name!r}", fix=f"sites: {', '.join(SITES)}")
    chosen = {SITES[name].app for name in wanted} if wanted else set(APPS)
    return tuple(app for app in APPS.values() if app.name in chosen)
