"""Stand-ins for the WebArena sites: small local servers with the labels and elements that real tasks and evaluators look for.

server     what they share: routes, form logins, sessions, injected faults
reddit gitlab shop readonly       the sites
SiteSet    all of them, as one `InstanceSet`
"""

from __future__ import annotations

from types import TracebackType

from harness.benchmarks.webarena import InstanceSet
from tests.webarena.sites.gitlab import Gitlab
from tests.webarena.sites.readonly import Homepage, Map, Wikipedia
from tests.webarena.sites.reddit import Reddit
from tests.webarena.sites.server import Site
from tests.webarena.sites.shop import Shopping, ShoppingAdmin

__all__ = ["Gitlab", "Homepage", "Map", "Reddit", "Shopping", "ShoppingAdmin", "Site", "SiteSet", "Wikipedia"]


class SiteSet:
    """One running copy of all sites; closes them at the end of the `with` block."""

    def __init__(self) -> None:
        self.reddit = Reddit()
        self.gitlab = Gitlab()
        self.shopping = Shopping()
        self.shopping_admin = ShoppingAdmin()
        self.map = Map()
        self.wikipedia = Wikipedia()
        self.homepage = Homepage()

    @property
    def sites(self) -> dict[str, Site]:
        return {name: value for name, value in vars(self).items() if isinstance(value, Site)}

    @property
    def instance(self) -> InstanceSet:
        urls = {name: site.url for name, site in self.sites.items()}
        return InstanceSet(
            name="stand-in",
            full_reset=self.homepage.url,
            map_tiles=self.map.url + "/tile/{z}/{x}/{y}.png",
            **urls,
        )

    def reset(self) -> None:
        for site in self.sites.values():
            site.reset()

    def __enter__(self) -> SiteSet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for site in self.sites.values():
            site.close()
