"""Are the sites there, and do they work? Asked before a run, and again when something looks like an outage.

    probe_instance(set, config, sites) → one ProbeResult per probe: status code, body marker, time

Upstream only asks whether a TCP connection succeeds: a GitLab that answers 500 and a map without tiles pass there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import httpx

from harness.benchmarks.webarena.config import InstanceSet, WebArenaConfig
from harness.benchmarks.webarena.sites import SITES, SPECS, Probe
from harness.errors import first_line
from harness.types import Record

TILE = {"z": 0, "x": 0, "y": 0}
OK_STATUS = 200


class ProbeResult(Record):
    site: str
    url: str
    ok: bool
    status: int | None = None
    """HTTP status after redirects; None if no answer came."""
    seconds: float = 0.0
    detail: str = ""


def probe_instance(instance: InstanceSet, config: WebArenaConfig, sites: Iterable[str] = SITES) -> tuple[ProbeResult, ...]:
    """Health and functional probes of the configured ones among `sites`. Never raises; takes no longer than its timeouts."""
    results = []
    with httpx.Client(timeout=config.probe_timeout_seconds, follow_redirects=True, trust_env=False) as client:
        for site in sites:
            if site not in instance.urls:
                continue
            for probe in config.probes.get(site, SPECS[site].probes):
                results.append(_probe(client, site, instance.urls[site] + probe.path, probe))
            if site == "map" and instance.map_tiles:
                tile = instance.map_tiles.format(**TILE)
                results.append(_probe(client, site, tile, Probe(path=""), media="image/"))
    return tuple(results)


def _probe(client: httpx.Client, site: str, url: str, probe: Probe, media: str = "") -> ProbeResult:
    started = time.monotonic()
    try:
        response = client.get(url)
        body = response.text if probe.contains else ""
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        detail = f"{type(error).__name__}: {first_line(error)}"
        return ProbeResult(site=site, url=url, ok=False, seconds=time.monotonic() - started, detail=detail)
    problem = ""
    if response.status_code != OK_STATUS:
        problem = f"status {response.status_code}"
    elif probe.contains and probe.contains not in body:
        problem = f"the page does not hold {probe.contains!r}"
    elif not response.headers.get("content-type", "").startswith(media):
        problem = f"not {media}*: {response.headers.get('content-type', 'no content type')}"
    return ProbeResult(
        site=site,
        url=url,
        ok=not problem,
        status=response.status_code,
        seconds=time.monotonic() - started,
        detail=problem,
    )
