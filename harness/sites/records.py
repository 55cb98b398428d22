"""What the outside sees of running sites: where they are, whose files they use, how they do."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from harness.errors import UsageError
from harness.sites.catalog import SITES
from harness.sites.definition import Account, AppDefinition, AppName, SiteName
from harness.types import Record

Condition = Literal["up", "silent", "dead", "down"]
"""`silent`: the process lives but gives no right answer. `dead`: it should be there and is not. `down`: it was stopped."""


class PlaceState(Record):
    """Kept beside an application's files: what they were last set to."""

    golden: str
    reset_epoch: int
    """How often these files have been set to a first state; never goes down."""


class AppInstance(Record):
    """One application of one instance set, running."""

    app: AppDefinition
    port: int
    pid: int
    data: Path
    golden: Path
    """The first state: `data` with nothing done to it. Only to be read."""

    @property
    def url(self) -> str:
        """As a browser is to open it, without a slash at the end."""
        return f"http://{self.app.hostname}:{self.port}"

    @property
    def database(self) -> Path:
        return self.data / self.app.database

    @property
    def golden_database(self) -> Path:
        return self.golden / self.app.database


class InstanceSet(Record):
    """A complete copy of the sites that are running: one worker's world. All methods raise UsageError for a site not in it."""

    index: int
    state_dir: Path
    apps: dict[AppName, AppInstance]

    @property
    def sites(self) -> tuple[SiteName, ...]:
        return tuple(site.name for site in SITES.values() if site.app in self.apps)

    def app(self, site: str) -> AppInstance:
        """The application behind a site."""
        if site not in self.sites:
            raise UsageError(f"{site} is not running in instance set {self.index}", fix=f"harness sites up {site}")
        return self.apps[SITES[site].app]

    def url(self, site: str) -> str:
        """The address that the site's placeholder stands for, without a slash at the end."""
        return self.app(site).url + SITES[site].start_path.rstrip("/")

    @property
    def urls(self) -> dict[str, str]:
        """placeholder → address, for every site that runs."""
        return {SITES[site].placeholder: self.url(site) for site in self.sites}

    def database(self, site: str) -> Path:
        return self.app(site).database

    def golden_database(self, site: str) -> Path:
        return self.app(site).golden_database

    def account(self, site: str) -> Account:
        self.app(site)
        return SITES[site].account


class AppStatus(Record):
    """One line of `harness sites status`."""

    instance: int
    app: AppName
    sites: tuple[SiteName, ...]
    condition: Condition
    url: str
    pid: int
    reset_epoch: int
    memory_mb: float
    detail: str
    """Why it is not up; empty if it is."""
