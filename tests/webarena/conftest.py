"""Stand-in sites for the whole test session (upstream reads their URLs once per process), and a way to play a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from harness.benchmarks.webarena import (
    WebArenaBenchmark,
    WebArenaConfig,
    WebArenaLiteBenchmark,
    WebArenaVerifiedBenchmark,
)
from harness.completions import EndpointConfig
from harness.envs.session import BrowserSession
from harness.types import EpisodeSpec, Start, StopReason, Trajectory, Verdict
from tests.webarena.sites import SiteSet

BENCHMARKS: dict[str, Any] = {
    "webarena": WebArenaBenchmark,
    "webarena-lite": WebArenaLiteBenchmark,
    "webarena-verified": WebArenaVerifiedBenchmark,
}


@pytest.fixture(scope="session")
def running_sites() -> Iterator[SiteSet]:
    with SiteSet() as sites:
        yield sites


@pytest.fixture
def sites(running_sites: SiteSet) -> SiteSet:
    """The stand-ins in their first state."""
    running_sites.reset()
    return running_sites


class Player:
    """Plays one task: real login, the given hands on the page, real evaluation."""

    def __init__(self, session: BrowserSession, sites: SiteSet) -> None:
        self._session = session
        self.sites = sites
        self.goal = ""
        self.signals: list[Any] = []

    def config(self, **changes: Any) -> WebArenaConfig:
        settings = {"instances": (self.sites.instance,), "evaluator_settle_seconds": 0.0, **changes}
        return WebArenaConfig(**settings)

    def play(
        self,
        task_id: int,
        act: Callable[[Any], Any] = bool,
        *,
        answer: str | None = None,
        stop: StopReason = "stop",
        benchmark: str = "webarena",
        judge: EndpointConfig | None = None,
        **config: Any,
    ) -> Verdict:
        """`act` gets the start page; a page that it returns is the active one at the end."""
        bench = BENCHMARKS[benchmark](self.config(**config), judge)
        task = next(t for t in bench.tasks() if t.task_id == str(task_id))
        page_task = bench.open(EpisodeSpec(task=task, seed=1, order_index=0))
        context = self._session.context(page_task.context_options)
        try:
            start = context.new_page()
            self.goal = page_task.setup(start)
            self.signals = [page_task.check(start, None)]
            ended_on = act(start)
            page = ended_on if isinstance(ended_on, Page) else start
            self.signals.append(page_task.check(page, answer))
            trajectory = Trajectory(
                task=task,
                source="real",
                start=Start(task_id=task.task_id),
                goal=self.goal,
                seed=1,
                stop_reason=stop,
                answer=answer,
            )
            return page_task.score(page, trajectory)
        finally:
            page_task.teardown()
            context.close()


@pytest.fixture
def player(browser_session: BrowserSession, sites: SiteSet) -> Player:
    return Player(browser_session, sites)
