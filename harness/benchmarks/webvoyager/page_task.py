"""The page side of one WebVoyager episode: open the start page, watch for refusals, ask the judge at stop.

setup   start page or SiteError; a redirect to another site is recorded, not failed
check   blocked? only the task's own site can block an episode: the agent may leave another one as it came
score   blocked → `blocked` · no answer → failure "no answer" · no judge → inconclusive · else the judge's verdict
"""

from __future__ import annotations

from typing import Any

from harness.benchmarks.webvoyager.blocked import Block
from harness.benchmarks.webvoyager.config import WebVoyagerConfig
from harness.benchmarks.webvoyager.offsite import same_site
from harness.benchmarks.webvoyager.visit import Visit
from harness.protocols import Judge, TaskSignal
from harness.types import JsonDict, Task, Trajectory, Verdict

SCORER, SCORER_VERSION = "webvoyager", "1"
"""Scorer of verdicts that need no judge; a judge states its own name and version."""

_MAX_OFFSITE = 20


class WebVoyagerPage:
    """One episode. An answer ends it; so do the step limit and a refusal of the task's own site."""

    ends_on_answer = True

    def __init__(self, task: Task, config: WebVoyagerConfig, judge: Judge | None) -> None:
        self.context_options: dict[str, Any] = {}
        self._task = task
        self._config = config
        self._judge = judge
        self._visit: Visit | None = None
        self._block: Block | None = None
        self._start_redirect = ""
        self._offsite: list[str] = []

    def setup(self, page: Any) -> str:
        self._visit = Visit(
            page,
            timeout_seconds=self._config.start_timeout_seconds,
            challenge_grace_seconds=self._config.challenge_grace_seconds,
        )
        self._visit.goto(page, self._task.start_url)
        self._block = self._visit.block(page)
        if not same_site(page.url, self._task.start_url):
            self._start_redirect = str(page.url)
        return self._task.goal

    def check(self, page: Any, answer: str | None) -> TaskSignal:
        """A block seen at setup is looked at again: it may have gone. Off-site pages are noted, never scored."""
        if self._visit is None:
            return TaskSignal()
        url = str(page.url)
        offsite = not same_site(url, self._task.start_url)
        if offsite and url not in self._offsite and len(self._offsite) < _MAX_OFFSITE:
            self._offsite.append(url)
        found = self._visit.block(page, by_status=self._block is not None)
        metadata: JsonDict = {"offsite": url} if offsite else {}
        if found is not None:
            metadata["block"] = str(found)
        foreign = offsite and not (self._start_redirect and same_site(url, self._start_redirect))
        self._block = None if found is None or foreign else found
        return TaskSignal(blocked=str(self._block) if self._block else "", metadata=metadata)

    def score(self, page: Any, trajectory: Trajectory) -> Verdict:
        evidence: JsonDict = {"offsite": list(self._offsite)} if self._offsite else {}
        if self._start_redirect:
            evidence["start_redirect"] = self._start_redirect
        if self._block is not None:
            block: JsonDict = {"kind": self._block.kind, "evidence": self._block.evidence, "url": str(page.url)}
            return _verdict("blocked", str(self._block), {**evidence, "block": block})
        if trajectory.answer is None or not trajectory.answer.strip():
            return _verdict("failure", "no answer", evidence)
        if self._judge is None:
            return _verdict("inconclusive", "no judge configured", evidence)
        verdict = self._judge.judge(trajectory)
        return verdict.model_copy(update={"evidence": {**verdict.evidence, **evidence}})

    def teardown(self) -> None:
        self._visit = None


def _verdict(status: Any, reason: str, evidence: JsonDict) -> Verdict:
    return Verdict(
        status=status,
        reward=0.0 if status == "failure" else None,
        scorer=SCORER,
        scorer_version=SCORER_VERSION,
        reason=reason,
        evidence=evidence,
    )
