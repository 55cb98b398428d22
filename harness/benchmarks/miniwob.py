"""MiniWoB++: the 125 tasks that BrowserGym registers, with the HTML of the `miniwob` package. The embedded default.

BrowserGym calls any raw reward above 0 a success; pages that give partial credit then count a nearly wrong answer as right
(`find-greatest` pays 0.1 for a wrong card, BrowserGym#392). Here the raw reward is kept and compared with a threshold per task;
BrowserGym's own verdict is stored beside it as the profile `browsergym`.
"""

from __future__ import annotations

import importlib.resources
import importlib.util
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.errors import NotReadyError
from harness.protocols import TaskSignal
from harness.types import (
    Check,
    EpisodeSpec,
    EvaluatorSpec,
    JsonDict,
    Record,
    Score,
    Task,
    Trajectory,
    Verdict,
    json_value,
)

DEFAULT_THRESHOLD = 0.0
"""A raw reward must be greater than this: right for tasks that pay 1 or -1, which are all but those in miniwob.toml."""


class MiniwobConfig(Record):
    """`[miniwob]` of run.toml."""

    base_url: str = ""
    """Where the task pages lie, with a trailing slash; empty: the `miniwob` package's own files."""


class MiniwobBenchmark:
    name = "miniwob"

    def __init__(self, config: MiniwobConfig | None = None) -> None:
        self._config = config or MiniwobConfig()

    def tasks(self) -> Sequence[Task]:
        special = task_notes()
        return [_task(cls, special.get(cls.subdomain, {})) for cls in _task_classes()]

    def open(self, spec: EpisodeSpec) -> MiniwobPage:
        by_name = {cls.subdomain: cls for cls in _task_classes()}
        inner = by_name[spec.task.task_id](seed=spec.seed, base_url=self.base_url())
        return MiniwobPage(inner, threshold=float(spec.task.evaluator.spec["threshold"]))  # type: ignore[arg-type]

    def base_url(self) -> str:
        if self._config.base_url:
            return self._config.base_url
        return html_folder().as_uri() + "/"

    def checks(self) -> Sequence[Check]:
        try:
            pages = len(list(html_folder().glob("*.html")))
        except NotReadyError as error:
            return [Check(name="MiniWoB++ pages", status="missing", detail=str(error), fix=error.fix)]
        return [Check(name="MiniWoB++ pages", status="ok", detail=f"{pages} pages, {len(self.tasks())} tasks")]

    def worker_environment(self, instance: int) -> dict[str, str]:
        return {"MINIWOB_URL": self.base_url()}

    def instances(self) -> int:
        return 0


class MiniwobPage:
    """One MiniWoB++ episode: the page itself says when it is over and what it pays."""

    ends_on_answer = False

    def __init__(self, task: Any, *, threshold: float) -> None:
        self._task = task
        self._threshold = threshold
        self._left = False
        self.context_options = {"viewport": task.viewport}

    def setup(self, page: Any) -> str:
        goal, _info = self._task.setup(page)
        return str(goal)

    def check(self, page: Any, answer: str | None) -> TaskSignal:
        self._accept_fragment(page)
        reward, done, _message, info = self._task.validate(page, [])
        return TaskSignal(reward=float(reward), terminated=bool(done), metadata=_as_json(info))

    def score(self, page: Any, trajectory: Trajectory) -> Verdict:
        reward, done, _message, info = self._task.validate(page, [])
        if "error" in info:
            raw, reason = 0.0, str(info["error"])
        else:
            raw = float(info["RAW_REWARD_GLOBAL"]) if done else 0.0
            reason = "" if done else "the task was not finished"
        success = raw > self._threshold
        return Verdict(
            status="success" if success else "failure",
            reward=float(success),
            raw_reward=raw,
            threshold=self._threshold,
            scorer="miniwob-threshold",
            scorer_version=f"1 (browsergym-miniwob {_version()})",
            reason=reason,
            evidence=_as_json(info),
            other_scores=(
                Score(
                    profile="browsergym",
                    version=_version(),
                    status="success" if done and reward > 0 and not self._left else "failure",
                    reward=float(reward) if done and not self._left else 0.0,
                    reason="a link changed the URL's fragment" if self._left else "",
                ),
            ),
        )

    def teardown(self) -> None:
        self._task.teardown()

    def _accept_fragment(self, page: Any) -> None:
        """A link to `#` leaves the page where it is; upstream would end the task for it (see `left` in the verdict)."""
        if page.url != self._task.url and page.url.partition("#")[0] == self._task.url.partition("#")[0]:
            self._task.url = page.url
            self._left = True


def html_folder() -> Path:
    """The folder of the task pages inside the installed `miniwob` package (found without importing it: that loads selenium)."""
    spec = importlib.util.find_spec("miniwob")
    if spec is None or not spec.submodule_search_locations:
        raise NotReadyError("the package `miniwob` (the task pages) is not installed", fix="pip install miniwob==1.1.0")
    return Path(spec.submodule_search_locations[0]) / "html" / "miniwob"


def task_notes() -> dict[str, JsonDict]:
    """Thresholds with reasons, known problems: miniwob.toml, keyed by task name."""
    text = importlib.resources.files(__package__).joinpath("miniwob.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _task(cls: Any, notes: JsonDict) -> Task:
    threshold = notes.get("threshold", DEFAULT_THRESHOLD)
    problems = notes.get("problems", [])
    return Task(
        benchmark="miniwob",
        task_id=cls.subdomain,
        sites=("miniwob",),
        evaluator=EvaluatorSpec(kind="raw_reward", spec={"threshold": threshold, "reason": notes.get("reason", "")}),
        known_problems=tuple(str(p) for p in problems) if isinstance(problems, list) else (),
        metadata={"description": cls.desc, "nondeterministic": bool(cls.nondeterministic)},
    )


def _task_classes() -> list[Any]:
    import os

    os.environ.setdefault("MINIWOB_URL", "unused:")  # asserted at import; we pass base_url to each task instead
    from browsergym.miniwob import ALL_MINIWOB_TASKS

    return list(ALL_MINIWOB_TASKS)


def _version() -> str:
    from importlib.metadata import version

    return version("browsergym-miniwob")


def _as_json(info: dict[str, Any]) -> JsonDict:
    return {str(key): json_value(value) for key, value in info.items()}
