"""One episode on local sites in a real Chromium: broken start pages, refusals, redirects, answers. And the probe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness.benchmarks.tasksets import task_set_hash
from harness.benchmarks.webvoyager import WebVoyagerBenchmark, WebVoyagerConfig
from harness.benchmarks.webvoyager.data import Row
from harness.benchmarks.webvoyager.filters import read_filter, write_filter
from harness.benchmarks.webvoyager.page_task import WebVoyagerPage
from harness.benchmarks.webvoyager.probe import probe
from harness.benchmarks.webvoyager.selection import base_tasks
from harness.errors import SiteError
from harness.protocols import PageTask
from harness.types import EvaluatorSpec, Start, StopReason, Task, Trajectory, Verdict
from tests.webvoyager.sites import LocalSite


@pytest.fixture
def site() -> Iterator[LocalSite]:
    with LocalSite() as running:
        yield running


@pytest.fixture
def other_site() -> Iterator[LocalSite]:
    with LocalSite() as running:
        yield running


class YesJudge:
    """Says success to anything: what is tested here is when a judge is asked."""

    name, version = "yes", "1"

    def judge(self, trajectory: Trajectory) -> Verdict:
        return Verdict(status="success", reward=1.0, scorer="judge:yes", scorer_version="1", evidence={"judge": {"asked": True}})


def task_at(url: str) -> Task:
    return Task(benchmark="webvoyager", task_id="Shop--0", goal="Find it.", start_url=url, evaluator=EvaluatorSpec(kind="judge"))


def open_task(url: str, **fields: Any) -> WebVoyagerPage:
    return WebVoyagerPage(task_at(url), WebVoyagerConfig(challenge_grace_seconds=0, **fields), YesJudge())


def trajectory(url: str, answer: str | None, stop_reason: StopReason = "stop") -> Trajectory:
    task = task_at(url)
    return Trajectory(
        task=task,
        source="real",
        start=Start(task_id=task.task_id),
        goal=task.goal,
        seed=0,
        stop_reason=stop_reason,
        answer=answer,
    )


@pytest.mark.browser
def test_an_answered_episode_goes_to_the_judge(page: Any, site: LocalSite) -> None:
    episode: PageTask = open_task(site.url())
    assert episode.setup(page) == "Find it."
    page.goto(site.url("kettle"))
    signal = episode.check(page, "42 euros")
    assert (signal.blocked, signal.terminated, signal.metadata) == ("", False, {})
    verdict = episode.score(page, trajectory(site.url(), "42 euros"))
    assert (verdict.status, verdict.evidence) == ("success", {"judge": {"asked": True}})
    episode.teardown()


@pytest.mark.browser
@pytest.mark.parametrize("answer", [None, "  "])
def test_no_answer_is_a_failure_without_asking(page: Any, site: LocalSite, answer: str | None) -> None:
    episode = open_task(site.url())
    episode.setup(page)
    verdict = episode.score(page, trajectory(site.url(), answer, "max_steps"))
    assert (verdict.status, verdict.reward, verdict.reason) == ("failure", 0.0, "no answer")


@pytest.mark.browser
def test_without_a_judge_an_answer_is_inconclusive(page: Any, site: LocalSite) -> None:
    episode = WebVoyagerPage(task_at(site.url()), WebVoyagerConfig(), None)
    episode.setup(page)
    verdict = episode.score(page, trajectory(site.url(), "42"))
    assert (verdict.status, verdict.reward, verdict.reason) == ("inconclusive", None, "no judge configured")


@pytest.mark.browser
@pytest.mark.parametrize(("path", "kind"), [("akamai", "access_denied"), ("generic", "captcha"), ("429", "rate_limited")])
def test_a_refused_start_page_blocks_the_episode(page: Any, site: LocalSite, path: str, kind: str) -> None:
    episode = open_task(site.url(path))
    episode.setup(page)
    signal = episode.check(page, None)
    assert signal.blocked.startswith(f"{kind}: ")
    verdict = episode.score(page, trajectory(site.url(path), None, "blocked"))
    assert (verdict.status, verdict.reward) == ("blocked", None)
    assert verdict.evidence["block"]["kind"] == kind  # type: ignore[index,call-overload]


@pytest.mark.browser
def test_a_refusal_in_mid_episode_blocks_and_a_bare_403_does_not(page: Any, site: LocalSite) -> None:
    episode = open_task(site.url())
    episode.setup(page)
    page.goto(site.url("bare-403"))  # the agent asked for a forbidden page: it may go back
    assert episode.check(page, None).blocked == ""
    page.goto(site.url("perimeterx"))
    assert "press-and-hold" in episode.check(page, None).blocked
    page.goto(site.url())
    assert episode.check(page, None).blocked == ""


@pytest.mark.browser
def test_another_sites_refusal_does_not_end_the_episode(page: Any, site: LocalSite, other_site: LocalSite) -> None:
    episode = open_task(site.url())
    episode.setup(page)
    page.goto(other_site.url("generic"))
    signal = episode.check(page, None)
    assert signal.blocked == ""
    assert signal.metadata["offsite"] == other_site.url("generic")
    assert str(signal.metadata["block"]).startswith("captcha")
    verdict = episode.score(page, trajectory(site.url(), "an answer"))
    assert verdict.evidence["offsite"] == [other_site.url("generic")]


@pytest.mark.browser
def test_an_offsite_redirect_is_recorded_and_the_episode_goes_on(page: Any, site: LocalSite, other_site: LocalSite) -> None:
    site.redirect["go"] = other_site.url("kettle")
    episode = open_task(site.url("go"))
    episode.setup(page)
    assert episode.check(page, None).blocked == ""
    verdict = episode.score(page, trajectory(site.url("go"), "42"))
    assert verdict.status == "success"
    assert verdict.evidence["start_redirect"] == other_site.url("kettle")
    page.goto(other_site.url("generic"))  # where the site sent us counts as the site
    assert episode.check(page, None).blocked.startswith("captcha")


@pytest.mark.browser
def test_a_challenge_that_passes_is_waited_for(page: Any, site: LocalSite) -> None:
    site.refuse["kettle"] = "cloudflare"
    site.passing.add("kettle")
    episode = WebVoyagerPage(task_at(site.url("kettle")), WebVoyagerConfig(challenge_grace_seconds=20), YesJudge())
    episode.setup(page)
    assert site.seen.count("kettle") == 2
    assert episode.check(page, None).blocked == ""


@pytest.mark.browser
@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:9/", "unreachable"),
        ("http://no-such-host.invalid/", "dns"),
        ("file:///no/such/file.html", "unreachable"),
    ],
)
def test_a_start_page_that_cannot_be_opened_is_a_site_error(page: Any, url: str, kind: str) -> None:
    with pytest.raises(SiteError) as caught:
        open_task(url).setup(page)
    assert caught.value.kind in (kind, "unreachable")
    assert url in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.browser
@pytest.mark.parametrize(("status", "kind"), [(500, "http_5xx"), (503, "http_5xx"), (404, "not_found")])
def test_a_broken_start_page_is_a_site_error(page: Any, site: LocalSite, status: int, kind: str) -> None:
    site.status["home"] = status
    with pytest.raises(SiteError) as caught:
        open_task(site.url("home")).setup(page)
    assert caught.value.kind == kind


@pytest.mark.browser
def test_a_site_that_does_not_answer_times_out(page: Any) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(SiteError, match=r"does not answer within 0\.3 s") as caught:
            open_task(url, start_timeout_seconds=0.3).setup(page)
    assert caught.value.kind == "timeout"


@pytest.mark.browser
@pytest.mark.parametrize("with_browser", [False, True])
def test_the_probe_writes_a_filter_that_a_run_applies(
    page: Any, site: LocalSite, other_site: LocalSite, tmp_path: Any, with_browser: bool
) -> None:
    site.status["kettle"] = 500
    site.redirect["go"] = other_site.url()
    urls = ["", "akamai", "kettle", "go", "akamai"]
    rows = [Row("Shop", f"Shop--{i}", "Find it.", site.url(path)) for i, path in enumerate(urls)]
    rows.append(Row("Gone", "Gone--0", "Find it.", "http://127.0.0.1:9/"))
    tasks = base_tasks(rows)
    manifest = probe(tasks, page=page if with_browser else None, timeout_seconds=10)
    reasons = {e.task_id: e.reason.partition(":")[0] for e in manifest.exclusions}
    broken = "http_5xx" if with_browser else "HTTP 500"
    assert reasons == {
        "Shop--1": "access_denied",
        "Shop--2": broken,
        "Shop--4": "access_denied",
        "Gone--0": "unreachable",
    }
    assert site.seen.count("akamai") == 1  # each start page once, however many tasks it has
    findings: Any = manifest.details["findings"]
    assert [f["offsite"] for f in findings] == [False, False, False, True, False]

    path = tmp_path / "reachable.json"
    write_filter(manifest, path)
    assert read_filter(path, task_set_hash(tasks)) == manifest
    data = tmp_path / "tasks.jsonl"
    data.write_text("\n".join(json.dumps(row._asdict()) for row in rows))
    benchmark = WebVoyagerBenchmark(WebVoyagerConfig(data=data, filters=(path,)))
    assert [task.task_id for task in benchmark.tasks()] == ["Shop--0", "Shop--3"]
