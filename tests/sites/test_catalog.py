"""The catalogue is consistent, and the worlds are the same in every process."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest

from harness.sites import APPS, SITES, apps_of
from harness.sites.golden import APPS_FOLDER, world_json
from harness.sites.instances import PORTS_PER_SET


def test_hosts_ports_and_placeholders_never_meet() -> None:
    assert len({app.hostname for app in APPS.values()}) == len(APPS)
    assert all(app.hostname.endswith(".localhost") for app in APPS.values())
    offsets = {app.port_offset for app in APPS.values()}
    assert len(offsets) == len(APPS) and max(offsets) < PORTS_PER_SET
    assert len({site.placeholder for site in SITES.values()}) == len(SITES)
    assert all(site.app in APPS and site.start_path.startswith("/") for site in SITES.values())


def test_accounts_are_invented() -> None:
    assert all(site.account.email.endswith("@example.com") for site in SITES.values())


def test_sites_name_their_applications_once() -> None:
    assert [app.name for app in apps_of(["shop_admin", "shop"])] == ["shop"]
    assert [app.name for app in apps_of(["wiki", "forum"])] == ["forum", "tracker"]
    assert [app.name for app in apps_of([])] == list(APPS)


@pytest.mark.parametrize("app", APPS)
def test_every_application_can_be_made_and_served(app: str) -> None:
    assert {"build.py", "serve.py"} <= {path.name for path in (APPS_FOLDER / app).iterdir()}


@pytest.mark.parametrize("app", APPS)
def test_a_world_does_not_depend_on_the_process(app: str) -> None:
    """Task data and first states are made in different processes; sets and hashes must not decide an order."""
    program = f"import sys; from harness.sites.golden import world_json; sys.stdout.write(world_json({app!r}))"
    found = set()
    for seed in ("1", "2"):
        told = subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        found.add(hashlib.sha256(told).hexdigest())
    found.add(hashlib.sha256(world_json(app).encode()).hexdigest())  # type: ignore[arg-type]
    assert len(found) == 1
    assert json.loads(told)
