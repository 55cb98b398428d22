"""Which split an episode is in: by task, template and site, never by row.

    1  the benchmark says that its site is held out, or the user does (--held-out-site)   → held_out_site
    2  the benchmark says in which split its template is (the arena's splits.json)         → that one
    3  a hash of benchmark and template, stable over runs and machines                     → 80 % train, 10 % dev, 10 % test

A walk of `harness explore` has the template that it began from. MiniWoB's template is its task; NNetNav's is `task_name`,
Go-Browse's the goal.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from training.world_model.transitions.pages import digest
from training.world_model.transitions.raw import RawEpisode
from training.world_model.transitions.records import SPLITS

SHARES: Final = (("train", 80), ("dev", 10), ("test", 10))
"""Percent of the templates that have no split of their own."""

ORDER: Final = ("train", "test", "dev", "held_out_site")
"""Who keeps a pair of page and action that several splits have: what was trained on is no test."""


def split_of(raw: RawEpisode, held_out: Collection[str] = ()) -> str:
    """One of `SPLITS`; `held_out` are sites that the user holds out, beside the benchmark's own."""
    if raw.provenance.get("held_out_site") is True or any(site in held_out for site in raw.sites):
        return "held_out_site"
    given = raw.provenance.get("split")
    if isinstance(given, str) and given in SPLITS:
        return given
    template = f"{raw.provenance.get('benchmark')}/{raw.provenance.get('template')}"
    place = int(digest(template), 16) % 100
    for name, percent in SHARES:
        if place < percent:
            return name
        place -= percent
    raise AssertionError("the shares do not add up to 100")


def host_of(url: str) -> str:
    """The host of an address, without port; empty where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_on(host: str, sites: Collection[str]) -> bool:
    """Is this host one of the sites? A site is named by its host, or by its first label (`forum` of forum.localhost)."""
    return bool(host) and (host in sites or host.split(".")[0] in sites)
