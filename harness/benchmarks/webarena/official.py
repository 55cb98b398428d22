"""A WebArena or WebArena-Lite task on a live page: upstream's own task object, set up, watched and scored once.

setup   GenericWebArenaTask.setup (login, geolocation, start pages) → login asserted → start pages asserted → goal
check   a tab on a foreign host ends the episode, as upstream does; nothing is scored (unless score_every_step)
score   GenericWebArenaTask.validate, once: official, and once more with errata where the task has a fix
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.benchmarks.webarena.config import WebArenaConfig
from harness.benchmarks.webarena.errata import ERRATA_VERSION, apply_fixes, errata_for
from harness.benchmarks.webarena.health import probe_instance
from harness.benchmarks.webarena.session import (
    StatusLog,
    allow_slow_sites,
    assert_started,
    foreign_pages,
    prove_logins,
)
from harness.benchmarks.webarena.sites import render
from harness.completions import Completions, EndpointConfig
from harness.errors import SiteError, boundary
from harness.protocols import TaskSignal
from harness.scoring.webarena import ERRATA_PROFILE, Answer, Evaluation, corrected, evaluate, verdict
from harness.scoring.webarena_judge import Matcher
from harness.scoring.webarena_upstream import Upstream
from harness.types import EpisodeSpec, Score, Trajectory, Usage, Verdict

VIEWPORT = {"width": 1280, "height": 720}
"""Upstream's."""


class OfficialPageTask:
    """`PageTask` of webarena and webarena-lite."""

    ends_on_answer = True

    def __init__(
        self,
        spec: EpisodeSpec,
        upstream: Upstream,
        config: WebArenaConfig,
        logins: dict[str, dict[str, str]],
        judge: EndpointConfig | None,
    ) -> None:
        self.context_options: dict[str, Any] = {"viewport": dict(VIEWPORT)}
        self._spec = spec
        self._upstream = upstream
        self._config = config
        self._judge = judge
        self._completions: Completions | None = None
        self._stepwise: Evaluation | None = None
        self._foreign: tuple[str, ...] = ()
        self._task = upstream.task_class(
            seed=spec.seed,
            task_id=int(spec.task.task_id),
            with_na_hint=config.na_hint,
            with_homepage_hint=config.homepage_hint,
        )
        self._site = self._task.webarena_instance
        self._site.credentials.update(logins)
        prove_logins(self._site)

    @property
    def _urls(self) -> dict[str, str]:
        return {site: self._site.urls[site] for site in self._spec.task.sites}

    # ------------------------------------------------------------------ PageTask

    def setup(self, page: Any) -> str:
        if self._judge is not None:
            self._completions = Completions(self._judge)
        allow_slow_sites(page.context, self._config.site_timeout_seconds)
        with StatusLog(page.context) as statuses:
            with boundary("site"):
                goal, _ = self._task.setup(page)
            assert_started(page, self._urls, statuses)
        return str(goal)

    def check(self, page: Any, answer: str | None) -> TaskSignal:
        self._foreign = foreign_pages(page, self._site.urls, self._site.home_url)
        if self._config.score_every_step:
            self._stepwise = self._evaluate(page, Answer(answer))
            return TaskSignal(reward=self._stepwise.reward or 0.0, terminated=self._stepwise.done)
        if self._foreign:
            return TaskSignal(terminated=True, metadata={"unauthorized_hosts": list(self._foreign)})
        return TaskSignal()

    def score(self, page: Any, trajectory: Trajectory) -> Verdict:
        answer = Answer(trajectory.answer, infeasible=trajectory.stop_reason == "infeasible")
        self._assert_sites_alive(page)
        # upstream sees report_infeasible in the chat; a step check of ours sees only its text
        reuse = self._stepwise is not None and self._stepwise.done and not answer.infeasible
        official = self._stepwise if self._stepwise and reuse else self._evaluate(page, answer)
        errata, usage = self._errata_score(page, answer, official)
        return verdict(
            self._upstream,
            official,
            errata,
            headline=self._config.profile,
            judge=self._judge.model if self._judge else "",
            evidence={
                "final_url": str(page.url),
                "unauthorized_hosts": list(self._foreign),
                "scored": "every_step" if self._config.score_every_step else "at_stop",
                "settle_seconds": self._config.evaluator_settle_seconds,
            },
            usage=usage,
        )

    def teardown(self) -> None:
        if self._completions is not None:
            self._completions.close()
        if self._task.config_file:
            Path(self._task.config_file).unlink(missing_ok=True)

    # ------------------------------------------------------------------ scoring

    def _evaluate(self, page: Any, answer: Answer) -> Evaluation:
        matcher = Matcher(
            self._completions,
            answered=answer.text is not None or answer.infeasible,
            settle_seconds=self._config.evaluator_settle_seconds,
            structured_output=self._config.judge_structured_output,
        )
        return evaluate(self._upstream, self._task, page, answer, matcher)

    def _errata_score(self, page: Any, answer: Answer, official: Evaluation) -> tuple[Score, Usage]:
        entries = errata_for(self._upstream.flavour, self._spec.task.task_id)
        excluded = [e for e in entries if e.effect == "exclude"]
        fixes = tuple(e for e in entries if e.effect == "fix")
        if excluded:
            reason = "; ".join(e.reason for e in excluded)
            return Score(profile=ERRATA_PROFILE, version=ERRATA_VERSION, status="inconclusive", reason=reason), Usage()
        outcome, usage = official, official.usage
        if fixes:
            definition = _rendered(apply_fixes(self._task.config, fixes), self._site.urls)
            with corrected(self._upstream, self._task, definition):
                outcome = self._evaluate(page, answer)
            usage = usage + outcome.usage
        reason = "; ".join(e.reason for e in fixes) or outcome.reason
        score = Score(profile=ERRATA_PROFILE, version=ERRATA_VERSION, status=outcome.status, reward=outcome.reward, reason=reason)
        return score, usage

    def _assert_sites_alive(self, page: Any) -> None:
        """An error page in a tab is the agent's doing if the sites answer, and an infrastructure error if not."""
        if not any(p.url.startswith("chrome-error:") for p in page.context.pages):
            return
        instance = self._config.instances[self._spec.instance % len(self._config.instances)]
        for result in probe_instance(instance, self._config, self._spec.task.sites):
            if not result.ok:
                raise SiteError(f"{result.site} went down during the episode: {result.detail}", kind="unreachable")


def _rendered(definition: Any, urls: dict[str, str]) -> Any:
    if isinstance(definition, str):
        return render(definition, urls)
    if isinstance(definition, list):
        return [_rendered(item, urls) for item in definition]
    if isinstance(definition, dict):
        return {key: _rendered(value, urls) for key, value in definition.items()}
    return definition
