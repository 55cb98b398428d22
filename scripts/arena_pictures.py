"""Photographs one page of each kind of the arena's sites into docs/img/arena, signed in as tasks are.

    harness sites up && python scripts/arena_pictures.py [STATE_DIR]

Also a check by eye of what nothing else looks at: that no page is a broken layout. A page that answers an error, or whose picture
or style sheet is missing, ends the script with its address.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.benchmarks.arena.logins import sign_in
from harness.envs.chromium import find_chromium
from harness.envs.config import BrowserConfig
from harness.envs.session import BrowserSession
from harness.sites.catalog import SITES
from harness.sites.instances import reset, running_sets
from harness.sites.layout import DEFAULT_STATE
from harness.sites.records import InstanceSet

TARGET = Path(__file__).resolve().parents[1] / "docs" / "img" / "arena"
VIEWPORT = {"width": 1280, "height": 720}
SCALE, QUALITY = 0.5, 70


class Shot(NamedTuple):
    """A page: where to begin, and what to click (or which path to open) until it is there."""

    name: str
    site: str
    path: str
    clicks: tuple[str, ...] = ()


SHOTS: Sequence[Shot] = (
    Shot("shop-catalogue", "shop", "/catalogue/"),
    Shot("shop-product", "shop", "/catalogue/", ("article h3 a",)),
    Shot("shop-basket", "shop", "/catalogue/", ("article button:not([disabled])", "/basket/")),
    Shot("shop-checkout", "shop", "/checkout/", ("button:has-text('Ship to this address')",)),
    Shot("shop-orders", "shop", "/accounts/orders/"),
    Shot("shop-order", "shop", "/accounts/orders/", ("table td a",)),
    Shot("shop-review", "shop", "/catalogue/", ("article h3 a", "a[href*='reviews/add']")),
    Shot("shop_admin-home", "shop_admin", "/"),
    Shot("shop_admin-orders", "shop_admin", "/orders/"),
    Shot("shop_admin-product", "shop_admin", "/catalogue/", ("table td a >> nth=0",)),
    Shot("forum-topics", "forum", "/"),
    Shot("forum-topic", "forum", "/", ("a[href^='/topic/']:not([href*='active']):not([href*='publish']):visible >> nth=2",)),
    Shot("forum-publish", "forum", "/topic/publish/"),
    Shot("tracker-ticket", "tracker", "/ticket/1"),
    Shot("tracker-query", "tracker", "/query"),
    Shot("tracker-roadmap", "tracker", "/roadmap"),
    Shot("wiki-page", "wiki", ""),
    Shot("wiki-editor", "wiki", "?action=edit"),
)


def main() -> int:
    found = next(iter(running_sets(Path(sys.argv[1]) if sys.argv[1:] else DEFAULT_STATE)), None)
    if found is None or set(found.sites) != set(SITES):
        print("error: not all sites are up; run: harness sites up")
        return 3
    reset(found, SITES)
    TARGET.mkdir(parents=True, exist_ok=True)
    session = BrowserSession(BrowserConfig(device_scale_factor=SCALE), find_chromium())
    try:
        for site in SITES:
            _photograph(session, found, site)
    finally:
        session.close()
    return 0


def _photograph(session: BrowserSession, found: InstanceSet, site: str) -> None:
    context = session.context({"viewport": VIEWPORT})
    page = context.new_page()
    sign_in(page, SITES[site].app, found.app(site).url, found.account(site))
    broken: list[str] = []
    context.on("response", lambda answer: broken.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
    context.on("requestfailed", lambda request: broken.append(f"{request.failure} {request.url}"))
    for shot in (shot for shot in SHOTS if shot.site == site):
        page.goto(found.url(site) + shot.path)
        for step in shot.clicks:
            if step.startswith("/"):
                page.goto(found.url(site) + step)
            else:
                _follow(page, step)
        page.screenshot(path=str(TARGET / f"{shot.name}.jpg"), type="jpeg", quality=QUALITY)
        print(shot.name, page.url)
        if broken:
            raise SystemExit(f"error: {shot.name}: {', '.join(broken[:3])}")
    context.close()


def _follow(page: Any, selector: str) -> None:
    with page.expect_navigation():
        page.locator(selector).first.click()


if __name__ == "__main__":
    sys.exit(main())
