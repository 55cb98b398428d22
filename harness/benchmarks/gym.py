"""`gym:GLOB`: any task that an installed BrowserGym package registers, or a user's own module, scored by its own `validate`.

    glob, packages → import what registers tasks → gymnasium registry ids "browsergym/…" that match → Task
    open → the task's own class, seeded → GymPage: setup, validate after every step, sum of rewards

BrowserGym's rules, kept: `validate` is called after every step and pays "the reward obtained since the last call"; its `done`
ends the episode; an answer is a chat message that the task reads, and ends nothing by itself. Unlike BrowserGym, the page is
ours (harness.envs): no chat browser, no `slow_mo`, our waiting for a quiet page. Success is a sum of rewards of at least
`threshold`; the raw sum is kept.
"""

from __future__ import annotations

import importlib
import math
import os
import pkgutil
import sys
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from pydantic import Field

from harness.benchmarks.miniwob import html_folder
from harness.completions import EndpointConfig
from harness.errors import EvaluatorError, HarnessError, UsageError, first_line
from harness.protocols import TaskSignal
from harness.types import (
    Check,
    EpisodeSpec,
    EvaluatorSpec,
    JsonDict,
    Record,
    Task,
    Trajectory,
    Verdict,
    json_value,
)

NAMESPACE = "browsergym/"
"""Prefix of every id that BrowserGym registers."""
_NO_TASKS = ("experiments", "utils", "leaderboard")
_GREETING = "Hi! I am your UI assistant, I can perform web tasks for you. What can I help you with?"


class GymConfig(Record):
    """`[gym]` of run.toml."""

    glob: str = "*"
    """Over task ids without "browsergym/": `assistantbench.*`, `miniwob.click-test`. Given as `--bench gym:GLOB`."""
    packages: tuple[str, ...] = ()
    """Modules to import first because they call `register_task`: a user's own. The working directory is searched too."""
    threshold: float = Field(default=1.0)
    """A sum of rewards of at least this is a success."""
    task_kwargs: JsonDict = Field(default_factory=dict)
    """Further arguments of the task classes, for those that want some (`openended`: start_url, goal)."""


class GymBenchmark:
    """Tasks of gymnasium's registry behind the `Benchmark` protocol. One namespace per process: registration is global."""

    name = "gym"

    def __init__(self, config: GymConfig | None = None, judge: EndpointConfig | None = None) -> None:
        """`judge` is not used: these tasks score themselves."""
        self.config = config or GymConfig()
        self._imported = False
        self._import_failures: dict[str, str] = {}
        """Module → why it does not import."""

    def tasks(self) -> Sequence[Task]:
        """Matching tasks in order of registration. Raises UsageError if none matches, with what did not import."""
        found = [self._task(task_id) for task_id in self._registered() if fnmatchcase(task_id, self.config.glob)]
        if found:
            return found
        failures = "; ".join(f"{name}: {why}" for name, why in self._import_failures.items())
        raise UsageError(
            f"no registered BrowserGym task matches {self.config.glob!r}" + (f" ({failures})" if failures else ""),
            fix=f"installed: {', '.join(_installed())}; install the package that registers it, "
            "or name your own module in [gym] packages",
        )

    def open(self, spec: EpisodeSpec) -> GymPage:
        self._registered()
        entry = _registry().get(NAMESPACE + spec.task.task_id)
        if entry is None:
            raise UsageError(f"{spec.task.task_id!r} is not registered in this process", fix="name its module in [gym] packages")
        unused_env = entry.entry_point(**entry.kwargs)  # BrowserGym's env: opens no browser before its reset
        try:
            task = unused_env.task_entrypoint(seed=spec.seed, **{**unused_env.task_kwargs, **self.config.task_kwargs})
        except (TypeError, ValueError, AssertionError) as error:
            raise UsageError(
                f"{spec.task.task_id} cannot be made: {type(error).__name__}: {first_line(error)}",
                fix="give its arguments in [gym] task_kwargs, and the environment variables its package asks for",
            ) from error
        return GymPage(task, threshold=self.config.threshold)

    def checks(self) -> Sequence[Check]:
        try:
            count = len(self.tasks())
        except HarnessError as error:
            return [Check(name="BrowserGym tasks", status="missing", detail=str(error), fix=error.fix)]
        checks = [Check(name="BrowserGym tasks", status="ok", detail=f"{count} tasks match {self.config.glob!r}")]
        for name, why in self._import_failures.items():
            checks.append(Check(name=f"package {name}", status="warning", detail=f"does not import: {why}"))
        return checks

    def worker_environment(self, instance: int) -> dict[str, str]:
        return dict(self._miniwob_url)

    def instances(self) -> int:
        return 0

    # ------------------------------------------------------------------ inside

    def _import(self) -> None:
        """Import what may register a matching task, once."""
        if self._imported:
            return
        self._imported = True
        os.environ.update(self._miniwob_url)
        here = str(Path.cwd())
        if self.config.packages and here not in sys.path:
            sys.path.append(here)  # a console script does not have it; last, so that nothing is shadowed
        for name in (*self.config.packages, *self._candidates()):
            try:
                importlib.import_module(name)
            except Exception as error:  # noqa: BLE001  packages assert, download and read variables while they are imported
                self._import_failures[name] = f"{type(error).__name__}: {first_line(error)}"
        for name in self.config.packages:
            if why := self._import_failures.get(name):
                self._imported = False
                raise UsageError(f"cannot import {name!r}: {why}", fix="correct [gym] packages")

    @cached_property
    def _miniwob_url(self) -> dict[str, str]:
        """MiniWoB++'s package reads its address from the environment when a task is made."""
        if not any(name.endswith(".miniwob") for name in self._candidates()):
            return {}
        return {"MINIWOB_URL": os.environ.get("MINIWOB_URL", "").replace("unused:", "") or html_folder().as_uri() + "/"}

    def _candidates(self) -> list[str]:
        """Installed browsergym.* packages that may register a match: all for a glob, else the one of the group's name."""
        group = self.config.glob.partition(".")[0]
        names = _installed()
        if not set(group) & set("*?["):
            names = [name for name in names if name == ("core" if group == "openended" else group)]
        return [f"browsergym.{name}" for name in names]

    def _registered(self) -> list[str]:
        self._import()
        return [key.removeprefix(NAMESPACE) for key in _registry() if key.startswith(NAMESPACE)]

    def _task(self, task_id: str) -> Task:
        return Task(
            benchmark=self.name,
            task_id=task_id,
            sites=(task_id.partition(".")[0],),
            evaluator=EvaluatorSpec(kind="validate", spec={"threshold": self.config.threshold}),
            metadata={"nondeterministic": bool(_registry()[NAMESPACE + task_id].nondeterministic)},
        )


class GymPage:
    """One BrowserGym task on one of our pages."""

    ends_on_answer = False

    def __init__(self, task: Any, *, threshold: float) -> None:
        self._task = task
        self._threshold = threshold
        self._messages: list[dict[str, Any]] = []
        self._last_answer: str | None = None
        self._rewards: list[float] = []
        self._done = False
        self._info: JsonDict = {}
        options = {"viewport": task.viewport, "locale": task.locale, "timezone_id": task.timezone_id}
        self.context_options = {name: value for name, value in options.items() if value is not None}

    def setup(self, page: Any) -> str:
        page.context.set_default_timeout(self._task.timeout)
        goal, _info = self._task.setup(page=page)
        text = goal_text(goal)
        self._say("assistant", _GREETING)
        if text:
            self._say("user", text)
        return text

    def check(self, page: Any, answer: str | None) -> TaskSignal:
        if answer is not None and answer != self._last_answer:
            self._last_answer = answer
            self._say("assistant", answer)
        reward, message = self._validate(page)
        return TaskSignal(reward=reward, terminated=self._done, user_message=message, metadata=self._info)

    def score(self, page: Any, trajectory: Trajectory) -> Verdict:
        """The sum of the rewards so far. Asks the task once more only if it has not been asked, or not about this end."""
        if trajectory.stop_reason == "infeasible" and not self._done:
            self._say("infeasible", trajectory.answer or "")
            self._validate(page)
        elif not self._rewards:
            self._validate(page)
        raw = sum(self._rewards)
        success = raw >= self._threshold
        return Verdict(
            status="success" if success else "failure",
            reward=float(success),
            raw_reward=raw,
            threshold=self._threshold,
            scorer=f"validate:{type(self._task).__module__}.{type(self._task).__qualname__}",
            scorer_version=_version_of(self._task),
            reason="" if self._done else "the task did not say it was done",
            evidence={"info": self._info, "rewards": list(self._rewards)},
        )

    def teardown(self) -> None:
        self._task.teardown()

    def _validate(self, page: Any) -> tuple[float, str]:
        reward, done, message, info = self._task.validate(page, self._messages)
        value = float(reward)
        if not math.isfinite(value):
            raise EvaluatorError(f"the task's reward is {value}", kind="bad_reward")
        self._rewards.append(value)
        self._done = self._done or bool(done)
        self._info = {str(key): json_value(item) for key, item in dict(info or {}).items()}
        if message:
            self._say("user", str(message))
        return value, str(message or "")

    def _say(self, role: str, message: str) -> None:
        self._messages.append({"role": role, "timestamp": time.time(), "message": message})


def goal_text(goal: Any) -> str:
    """A task's goal as text. BrowserGym allows None, text, or a list of OpenAI-style parts; an image is named, not shown."""
    if goal is None or isinstance(goal, str):
        return goal or ""
    texts = []
    for part in goal:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in ("text", "image_url"):
            raise EvaluatorError(f"the task's goal holds a part of unknown type {kind!r}", kind="bad_goal")
        texts.append(str(part["text"]) if kind == "text" else "[an image belongs here]")
    return "\n".join(texts)


def _installed() -> list[str]:
    """Names of the installed browsergym.* packages that may register tasks."""
    browsergym = importlib.import_module("browsergym")
    return [module.name for module in pkgutil.iter_modules(browsergym.__path__) if module.name not in _NO_TASKS]


def _registry() -> dict[str, Any]:
    registry: dict[str, Any] = importlib.import_module("gymnasium").registry
    return registry


def _version_of(task: Any) -> str:
    """Version of the distribution that the task's class comes from; empty for a loose module of the user."""
    module = type(task).__module__
    root = module.partition(".")[0]
    names = packages_distributions().get(root, [])
    if root == "browsergym":
        names = [f"browsergym-{module.split('.')[1]}"]
    try:
        return version(names[0]) if names else ""
    except PackageNotFoundError:
        return ""
