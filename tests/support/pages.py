"""A PageTask that only opens a URL: for tests of the environment itself."""

from __future__ import annotations

from typing import Any

from harness.errors import SiteError
from harness.protocols import TaskSignal
from harness.types import EpisodeSpec, EvaluatorSpec, Task, Trajectory, Verdict


class UrlPage:
    """Opens `task.start_url`; succeeds if the page's title is "done" at the end."""

    ends_on_answer = True

    def __init__(self, url: str) -> None:
        self._url = url
        self.context_options: dict[str, Any] = {}

    def setup(self, page: Any) -> str:
        response = page.goto(self._url, wait_until="domcontentloaded")
        if response is not None and response.status >= 500:
            raise SiteError(f"{self._url} answered {response.status}")
        return "look at the page"

    def check(self, page: Any, answer: str | None) -> TaskSignal:
        return TaskSignal()

    def score(self, page: Any, trajectory: Trajectory) -> Verdict:
        success = page.title() == "done"
        return Verdict(status="success" if success else "failure", reward=float(success), scorer="title", scorer_version="1")

    def teardown(self) -> None: ...


def open_url(spec: EpisodeSpec) -> UrlPage:
    return UrlPage(spec.task.start_url)


def url_spec(url: str) -> EpisodeSpec:
    task = Task(benchmark="test", task_id="page", start_url=url, evaluator=EvaluatorSpec(kind="validate"))
    return EpisodeSpec(task=task, seed=0, order_index=0)
