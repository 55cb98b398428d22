"""Where the sites are and how they are to be used: `[webarena]` of run.toml, else the `WA_*` variables.

    WebArenaConfig
      instances: one `InstanceSet` per complete copy of the sites = one worker each
      site_warnings(set) → set-ups that are known to give wrong numbers

A login other than the images' defaults comes from `WA_<SITE>_USERNAME` and `WA_<SITE>_PASSWORD`: never from a file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator

from harness.benchmarks.webarena.sites import SITES, Probe
from harness.errors import UsageError
from harness.types import Record

RESET_VARIABLE = "WA_FULL_RESET"
TILES_VARIABLE = "WA_MAP_TILES"
_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


class InstanceSet(Record):
    """One copy of the sites. A site left empty is not there; tasks that need it are refused, the others run."""

    name: str = ""
    """For messages only."""
    shopping: str = ""
    """Base URL of the shop."""
    shopping_admin: str = ""
    """Base URL of the shop's admin panel, with its path: http://host:7780/admin."""
    reddit: str = ""
    """Base URL of the forum."""
    gitlab: str = ""
    """Base URL of GitLab."""
    map: str = ""
    """Base URL of the map."""
    wikipedia: str = ""
    """URL of the encyclopaedia's start page, with its path, as task definitions expect it."""
    homepage: str = ""
    """Base URL of the start page that links the others."""
    full_reset: str = ""
    """Base URL of the reset server: GET /reset starts a reset, /status says when it is done."""
    map_tiles: str = ""
    """URL template of a map tile with {z}, {x} and {y}: the map page answers 200 even when its tiles are missing."""

    @field_validator(*SITES, "homepage", "full_reset", "map_tiles")
    @classmethod
    def _http_url(cls, value: str) -> str:
        if not value:
            return value
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{value!r} is not an http URL")
        if parts.username or parts.password:
            raise ValueError("a site URL must not hold a user or password: it is stored in results")
        return value.rstrip("/")

    @property
    def urls(self) -> dict[str, str]:
        """Base URLs of the configured sites."""
        return {site: url for site in SITES if (url := getattr(self, site))}

    def missing(self, sites: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(site for site in sites if site not in self.urls)

    def environment(self) -> dict[str, str]:
        """All seven `WA_*` variables: upstream asserts them even for one site. `.invalid` never resolves (RFC 2606)."""
        urls = {name: getattr(self, name) or f"http://{name.replace('_', '-')}.invalid" for name in (*SITES, "homepage")}
        environment = {f"WA_{name.upper()}": url for name, url in urls.items()}
        return environment | ({RESET_VARIABLE: self.full_reset} if self.full_reset else {})


class WebArenaConfig(Record):
    """`[webarena]` of run.toml, for all three flavours."""

    instances: tuple[InstanceSet, ...] = ()
    """Empty: one set from the `WA_*` variables."""
    share_instances: bool = False
    """Let several workers use one site set at once. Tasks then see each other's changes; the run records it."""
    score_every_step: bool = False
    """Parity with BrowserGym: upstream's validate after each step, and a reward above 0 ends the episode."""
    profile: Literal["official", "errata"] = "official"
    """Which score is the verdict's own; both are stored."""
    subset: Literal["all", "hard"] = "all"
    """webarena-verified only: all 812 tasks or its hard subset of 258."""
    na_hint: bool = False
    """Add upstream's sentence about answering "N/A" to the goal (webarena and webarena-lite)."""
    homepage_hint: bool = False
    """Add upstream's sentence about the homepage to the goal (webarena and webarena-lite)."""
    evaluator_settle_seconds: float = Field(default=3.0, ge=0)
    """How long upstream's page evaluator waits after opening a page. 3 is upstream's."""
    judge_structured_output: bool = True
    """Send a JSON schema with judge requests; off for servers that refuse `response_format`."""
    probes: dict[str, tuple[Probe, ...]] = Field(default_factory=dict)
    """Health probes by site, instead of the built-in ones."""
    site_timeout_seconds: float = Field(default=30.0, gt=0)
    """Longest wait for a page or element of a site while logging in and while upstream's evaluators read pages."""
    probe_timeout_seconds: float = Field(default=20.0, gt=0)
    """Longest wait for the answer to a health probe."""
    reset_timeout_seconds: float = Field(default=600.0, gt=0)
    """Longest wait for a full reset."""
    reset_poll_seconds: float = Field(default=20.0, ge=0)
    """Pause between two questions to the reset server."""

    @field_validator("probes")
    @classmethod
    def _known_sites(cls, value: dict[str, tuple[Probe, ...]]) -> dict[str, tuple[Probe, ...]]:
        if unknown := sorted(set(value) - set(SITES)):
            raise ValueError(f"unknown site {unknown[0]!r}; sites are {', '.join(SITES)}")
        return value

    def with_environment(self, environment: Mapping[str, str] | None = None) -> WebArenaConfig:
        """This config; if it names no instances, with the one that the `WA_*` variables describe."""
        if self.instances:
            return self
        found = instance_from_environment(os.environ if environment is None else environment)
        return self.model_copy(update={"instances": (found,)}) if found.urls else self


def instance_from_environment(environment: Mapping[str, str]) -> InstanceSet:
    """The site set of `WA_SHOPPING` … `WA_HOMEPAGE`, `WA_FULL_RESET` and `WA_MAP_TILES`. Raises `UsageError`."""
    names = {name: f"WA_{name.upper()}" for name in (*SITES, "homepage")}
    names |= {"full_reset": RESET_VARIABLE, "map_tiles": TILES_VARIABLE}
    values = {field: environment.get(name, "").strip() for field, name in names.items()}
    try:
        return InstanceSet(**{k: v for k, v in values.items() if ".invalid" not in v})
    except ValidationError as error:
        first = error.errors()[0]
        variable = names.get(str(first["loc"][0]), "WA_*")
        raise UsageError(f"{variable}: {first['msg'].removeprefix('Value error, ')}") from None


def load_config(path: Path) -> WebArenaConfig:
    """The `[webarena]` table of a TOML file. Raises `UsageError` with the place of the mistake."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("webarena", {})
        return WebArenaConfig.model_validate(table)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{path}: webarena.{where}: {first['msg'].removeprefix('Value error, ')}") from None


def credentials(environment: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Logins that replace the images' defaults, by site; only complete pairs."""
    pairs = {
        site: {part: environment.get(f"WA_{site.upper()}_{part.upper()}", "") for part in ("username", "password")}
        for site in SITES
    }
    return {site: pair for site, pair in pairs.items() if all(pair.values())}


def site_warnings(instance: InstanceSet) -> tuple[str, ...]:
    """Set-ups that give wrong numbers: shared cookies, and two names for one host."""
    warnings = []
    hosts: dict[str, list[str]] = {}
    for site, url in instance.urls.items():
        hosts.setdefault(urlsplit(url).hostname or "", []).append(site)
    for host, sites in sorted(hosts.items()):
        clash = [site for site in sites if site in ("shopping", "shopping_admin", "reddit")]
        if len(clash) > 1:
            warnings.append(
                f"{', '.join(clash)} share the host {host}: browsers keep cookies per host, not per port, and all of "
                "them set PHPSESSID, so a login on one ends the login on the other; give each its own host name"
            )
    names = sorted(name for name in (*hosts, _host(instance.homepage)) if name in _LOCAL)
    if len(set(names)) > 1:
        warnings.append(
            f"sites use both {names[0]} and {names[-1]}: evaluators compare URLs as text, and a page on the other "
            "name counts as a foreign site (score 0); use one name everywhere"
        )
    return tuple(warnings)


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
