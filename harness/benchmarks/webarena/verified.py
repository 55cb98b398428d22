"""A webarena-verified task on a live page: logged in like WebArena, scored by the library from answer and network trace."""

from __future__ import annotations

import json
from typing import Any

from harness.benchmarks.webarena.errata import ERRATA_VERSION, errata_for
from harness.benchmarks.webarena.network import NetworkRecorder
from harness.benchmarks.webarena.official import VIEWPORT
from harness.benchmarks.webarena.session import StatusLog, allow_slow_sites, assert_started, foreign_pages, prove_logins
from harness.benchmarks.webarena.sites import render
from harness.errors import boundary
from harness.protocols import TaskSignal
from harness.scoring.webarena import ERRATA_PROFILE
from harness.scoring.webarena_verified import RESPONSE_FORMAT, VerifiedScorer
from harness.types import EpisodeSpec, Score, Task, Trajectory, Verdict

INFEASIBLE_ANSWER = {"status": "UNKNOWN_ERROR", "retrieved_data": None}


class VerifiedPageTask:
    """`PageTask` of webarena-verified. `instance` is upstream's `WebArenaInstance`: it knows how to log in."""

    ends_on_answer = True

    def __init__(self, spec: EpisodeSpec, instance: Any, scorer: VerifiedScorer, *, site_timeout_seconds: float) -> None:
        self.context_options: dict[str, Any] = {"viewport": dict(VIEWPORT)}
        self._task: Task = spec.task
        self._site = instance
        prove_logins(instance)
        self._scorer = scorer
        self._site_timeout = site_timeout_seconds
        self._network: NetworkRecorder | None = None

    def setup(self, page: Any) -> str:
        urls = {site: self._site.urls[site] for site in self._task.sites}
        allow_slow_sites(page.context, self._site_timeout)
        with boundary("site"):
            for site in self._task.sites:
                self._site.ui_login(site=site, page=page)
        # after the login: the trace is the agent's, and logins are not part of a task
        self._network = NetworkRecorder(page.context, keep_bodies="response_content" in json.dumps(self._task.evaluator.spec))
        with StatusLog(page.context) as statuses:
            for number, url in enumerate(self._task.start_url.split(" |AND| ")):
                tab = page if number == 0 else page.context.new_page()
                with boundary("site"):
                    tab.goto(render(url, self._site.urls))
            assert_started(page, urls, statuses)
        return self._task.goal + "\n" + RESPONSE_FORMAT

    def check(self, page: Any, answer: str | None) -> TaskSignal:
        if self._network is not None:
            self._network.drain()
        return TaskSignal()

    def score(self, page: Any, trajectory: Trajectory) -> Verdict:
        assert self._network is not None
        entries = self._network.entries()
        verdict = self._scorer.score(int(self._task.task_id), _answer(trajectory, self._task), entries)
        evidence = {
            **verdict.evidence,
            "final_url": str(page.url),
            "lost_requests": self._network.lost,
            "unauthorized_hosts": list(foreign_pages(page, self._site.urls, self._site.home_url)),
        }
        scores = (*verdict.other_scores, self._errata_score(verdict))
        return verdict.model_copy(update={"evidence": evidence, "other_scores": scores})

    def teardown(self) -> None:
        self._network = None

    def _errata_score(self, verdict: Verdict) -> Score:
        excluded = [e for e in errata_for(self._task.benchmark, self._task.task_id) if e.effect == "exclude"]
        if excluded:
            reason = "; ".join(e.reason for e in excluded)
            return Score(profile=ERRATA_PROFILE, version=ERRATA_VERSION, status="inconclusive", reason=reason)
        return Score(
            profile=ERRATA_PROFILE,
            version=ERRATA_VERSION,
            status=verdict.status,
            reward=verdict.reward,
            reason=verdict.reason,
        )


def _answer(trajectory: Trajectory, task: Task) -> str | None:
    """The answer; `report_infeasible` says only that the agent gave up, so it claims no particular error."""
    if trajectory.stop_reason == "infeasible":
        return json.dumps({"task_type": task.metadata["task_type"], **INFEASIBLE_ANSWER, "error_details": trajectory.answer})
    return trajectory.answer
