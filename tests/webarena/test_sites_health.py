"""Configuration, probes, circuit breaker, reset and doctor, on the stand-in sites."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.webarena import (
    InstanceSet,
    WebArenaBenchmark,
    WebArenaConfig,
    full_reset,
    load_config,
    probe_instance,
    site_warnings,
)
from harness.benchmarks.webarena.config import credentials, instance_from_environment
from harness.benchmarks.webarena.sites import Probe
from harness.completions import EndpointConfig
from harness.errors import NotReadyError, SiteError, UsageError
from harness.scoring.webarena_upstream import load
from harness.types import EpisodeSpec
from tests.webarena.sites import SiteSet

pytestmark = pytest.mark.webarena


def config(sites: SiteSet, **changes: Any) -> WebArenaConfig:
    return WebArenaConfig(**{"instances": (sites.instance,), "reset_poll_seconds": 0.0, **changes})


# ------------------------------------------------------------------------------- configuration


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('[webarena]\nna_hint = true\n[[webarena.instances]]\nmap = "http://m.test:3000/"\n')
    loaded = load_config(path)
    assert loaded.na_hint and loaded.instances[0].urls == {"map": "http://m.test:3000"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[webarena]\nspeed = 1\n", "webarena.speed"),
        ('[[webarena.instances]]\nmap = "m.test"\n', "not an http URL"),
        ('[[webarena.instances]]\nmap = "http://me:secret@m.test"\n', "must not hold a user or password"),
        ("[webarena.probes]\nblog = []\n", "unknown site 'blog'"),
        ("[webarena\n", "cannot read"),
    ],
)
def test_mistakes_in_toml_are_one_line_that_names_the_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        load_config(path)
    assert "secret" not in str(caught.value) and "\n" not in str(caught.value)


def test_environment_is_used_where_the_config_names_no_sites() -> None:
    found = instance_from_environment({"WA_REDDIT": "http://r.test:9999/", "WA_FULL_RESET": "http://r.test:7565"})
    assert found.urls == {"reddit": "http://r.test:9999"} and found.full_reset == "http://r.test:7565"
    with pytest.raises(UsageError, match="WA_GITLAB"):
        instance_from_environment({"WA_GITLAB": "gitlab"})


def test_worker_environment_names_all_seven_sites_and_unused_ones_resolve_nowhere() -> None:
    environment = WebArenaBenchmark(WebArenaConfig(instances=(InstanceSet(map="http://m.test"),))).worker_environment(3)
    assert len(environment) == 7 and environment["WA_MAP"] == "http://m.test"
    assert environment["WA_SHOPPING_ADMIN"] == "http://shopping-admin.invalid"
    assert instance_from_environment(environment).urls == {"map": "http://m.test"}


def test_tasks_that_need_an_unconfigured_site_are_refused() -> None:
    bench = WebArenaBenchmark(WebArenaConfig(instances=(InstanceSet(map="http://m.test"),)))
    tasks = bench.tasks()
    assert sum(not bench.unrunnable(task) for task in tasks) == 109
    refused = next(task for task in tasks if bench.unrunnable(task))
    with pytest.raises(NotReadyError, match="needs shopping_admin"):
        bench.open(EpisodeSpec(task=refused, seed=0, order_index=0))


def test_parallelism_is_bounded_by_site_sets(sites: SiteSet) -> None:
    bench = WebArenaBenchmark(WebArenaConfig(instances=(sites.instance, sites.instance)))
    assert bench.instances() == 2 and bench.can_reset(1)
    assert WebArenaBenchmark(WebArenaConfig(instances=(InstanceSet(map="http://m.test"),))).instances() == 1


def test_one_process_serves_one_site_set(sites: SiteSet) -> None:
    load(sites.instance.environment())
    with pytest.raises(UsageError, match="another set"):
        load(InstanceSet(map="http://elsewhere.test").environment())


def test_shared_hosts_and_two_names_for_one_host_are_warned_of() -> None:
    shared = InstanceSet(shopping="http://h.test:7770", reddit="http://h.test:9999", map="http://h.test:3000")
    assert ["PHPSESSID" in w for w in site_warnings(shared)] == [True]
    mixed = InstanceSet(gitlab="http://localhost:8023", map="http://127.0.0.1:3000")
    assert ["counts as a foreign site" in w for w in site_warnings(mixed)] == [True]
    assert site_warnings(InstanceSet(shopping="http://a.test", reddit="http://b.test")) == ()


def test_credentials_come_from_the_environment_in_pairs() -> None:
    environment = {"WA_GITLAB_USERNAME": "root", "WA_GITLAB_PASSWORD": "pw", "WA_REDDIT_USERNAME": "alone"}
    assert credentials(environment) == {"gitlab": {"username": "root", "password": "pw"}}


# ------------------------------------------------------------------------------- probes


def test_probes_see_what_a_connection_does_not(sites: SiteSet) -> None:
    assert all(result.ok for result in probe_instance(sites.instance, config(sites)))
    sites.gitlab.fail_with = 502
    sites.map.tiles = False
    broken = {r.site: r.detail for r in probe_instance(sites.instance, config(sites)) if not r.ok}
    assert broken == {"gitlab": "status 502", "map": "status 404"}


def test_probes_can_be_replaced_and_never_raise(sites: SiteSet) -> None:
    custom = config(sites, probes={"reddit": (Probe(path="/forums", contains="No such text"),)})
    (result,) = probe_instance(sites.instance, custom, ["reddit"])
    assert not result.ok and "No such text" in result.detail
    gone = InstanceSet(map="http://127.0.0.1:9")
    assert [r.ok for r in probe_instance(gone, WebArenaConfig())] == [False]


# ------------------------------------------------------------------------------- reset


def test_reset_waits_until_the_server_is_ready(sites: SiteSet) -> None:
    sites.homepage.polls_needed = 3
    waits: list[float] = []
    report = full_reset(sites.instance, config(sites, reset_poll_seconds=7.0), sleep=waits.append)
    assert report.polls == 4 and waits == [7.0, 7.0, 7.0] and not report.already_running
    assert full_reset(sites.instance, config(sites), sleep=waits.append).already_running


def test_reset_that_never_ends_or_fails_is_an_error_of_the_site(sites: SiteSet) -> None:
    sites.homepage.polls_needed = 10**6
    ticks = iter(range(10**6))
    with pytest.raises(SiteError, match="not ready 5 s after"):
        full_reset(sites.instance, config(sites, reset_timeout_seconds=5), sleep=lambda _: None, clock=lambda: next(ticks))
    sites.homepage.fail_with = 500
    with pytest.raises(SiteError, match="answers 500"):
        full_reset(sites.instance, config(sites))
    with pytest.raises(NotReadyError, match="no reset server"):
        full_reset(InstanceSet(), config(sites))


# ------------------------------------------------------------------------------- doctor


def test_doctor_says_what_is_missing(sites: SiteSet, monkeypatch: pytest.MonkeyPatch) -> None:
    sites.gitlab.fail_with = 500
    judge = EndpointConfig(model="m", api_key_env="NO_SUCH_KEY")
    found = {check.name: check for check in WebArenaBenchmark(config(sites), judge).checks()}
    assert found["package"].status == "ok" and "812 tasks" in found["package"].detail
    assert found["stand-in: gitlab"].status == "missing" and "status 500" in found["stand-in: gitlab"].detail
    assert found["stand-in: reddit"].status == "ok"
    assert found["judge"].status == "missing" and "NO_SUCH_KEY" in found["judge"].detail
    for name in ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "WIKIPEDIA", "MAP", "HOMEPAGE", "FULL_RESET"):
        monkeypatch.delenv(f"WA_{name}", raising=False)
    empty = {check.name: check for check in WebArenaBenchmark(WebArenaConfig()).checks()}
    assert empty["sites"].status == "missing" and "docs/webarena-setup.md" in empty["sites"].fix
    assert empty["judge"].status == "warning" and "118 tasks" in empty["judge"].detail
