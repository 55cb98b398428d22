"""The tasks against the sites' first state, without a browser: every query runs, and doing nothing satisfies no task."""

from __future__ import annotations

import pytest

from harness.benchmarks.arena.data import definitions
from harness.benchmarks.arena.scoring import official_types
from harness.benchmarks.arena.state import Database, diff, evaluate_state
from harness.sites.catalog import SITES
from harness.sites.instances import reset
from harness.sites.records import InstanceSet

pytestmark = pytest.mark.sites


def databases(instance_set: InstanceSet, sites: list[str]) -> dict[str, Database]:
    found = {}
    for site in sites:
        app = instance_set.app(site)
        found[app.app.name] = Database(app.app.name, app.database, app.golden_database, (app.data, app.golden))
    return found


def test_a_site_that_was_set_back_is_its_first_state(instance_set: InstanceSet) -> None:
    reset(instance_set, SITES)
    for app, files in databases(instance_set, list(SITES)).items():
        assert diff(files) == {}, app


def test_doing_nothing_satisfies_no_task(instance_set: InstanceSet) -> None:
    reset(instance_set, SITES)
    site_apps = {site: SITES[site].app for site in SITES}
    checked, satisfied = 0, []
    for task_id, row in definitions().items():
        evaluation, sites = row["eval"], row["sites"]
        assert isinstance(evaluation, dict) and isinstance(sites, list)
        if "state" not in evaluation["eval_types"]:  # type: ignore[operator]
            continue
        state = evaluation["state"]
        assert isinstance(state, dict)
        result = evaluate_state(state, databases(instance_set, [str(site) for site in sites]), site_apps)
        checked += 1
        if not official_types(row) and not (result.missed or result.unintended):
            satisfied.append(task_id)
    assert satisfied == []
    assert checked > 100
