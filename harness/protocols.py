"""The seams of the product: Protocols of at most five methods. A real browser, a dream and a replay plug in here.

    run_episode(policy, env, spec) → Trajectory, Verdict          harness.rollout, the only rollout loop
        policy: Policy        acts
        env:    Env           a page that reacts: BrowserEnv, later DreamEnv and ReplayEnv
    BrowserEnv(page_task=…)
        page_task: PageTask   a benchmark's side of a browser episode: setup, check, score
    Benchmark                 lists tasks, opens PageTasks, says what is missing
    Judge                     a model's verdict on a trajectory
    WorldModel                foresees the next page: learned, retrieved, copied, or a real browser
    Recorder                  takes finished episodes (results.store)

No playwright here: a page is typed `Any` (it is a `playwright.sync_api.Page`), so that dreams need no browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from harness.predictions import Prediction, WorldModelQuery
from harness.types import (
    Action,
    ActionError,
    Check,
    Episode,
    EpisodeSpec,
    Exclusion,
    JsonDict,
    Observation,
    PolicyOutput,
    Task,
    Timing,
    Trajectory,
    Verdict,
)


class Policy(Protocol):
    """An agent. Synchronous: an environment in a thread or beside an event loop is what breaks Playwright."""

    name: str

    def reset(self, goal: str, task: Task, seed: int) -> None:
        """Forget everything; a new episode begins."""

    def act(self, observation: Observation) -> PolicyOutput:
        """Answer one observation. A reply without a readable action is an `invalid` Action, not an exception."""

    def close(self) -> None: ...


class StepResult(NamedTuple):
    """What an Env gives back for one action. `reward` is the environment's own (MiniWoB++), 0.0 where it has none."""

    observation: Observation
    action_error: ActionError | None
    reward: float
    terminated: bool
    truncated: bool
    timing: Timing
    blocked: str = ""
    """Why the site refused to go on (captcha, access denied), else empty."""
    metadata: JsonDict = {}  # noqa: RUF012  (read-only by convention: a NamedTuple default cannot be a factory)


class Env(Protocol):
    """A world with one task in it. Raises `RolloutError`s; an action that merely fails is a `StepResult`."""

    def reset(self, spec: EpisodeSpec) -> tuple[str, Observation]:
        """Start over. Returns (goal, first observation)."""

    def step(self, action: Action) -> StepResult: ...

    def score(self, trajectory: Trajectory) -> Verdict:
        """Called once, at the end, while the world still stands."""

    def close(self) -> None: ...


class TaskSignal(NamedTuple):
    """What a benchmark says after a step without scoring it."""

    reward: float = 0.0
    terminated: bool = False
    blocked: str = ""
    user_message: str = ""
    metadata: JsonDict = {}  # noqa: RUF012


class PageTask(Protocol):
    """A benchmark's side of one browser episode. It runs in the worker process and may touch the page.

    `context_options` go to Playwright's `new_context` (viewport, storage state, geolocation, HAR path …).
    `ends_on_answer`: does a message to the user end the episode (WebArena, WebVoyager) or is it chat (MiniWoB++)?
    `report_infeasible` always ends it.
    """

    context_options: dict[str, Any]
    ends_on_answer: bool

    def setup(self, page: Any) -> str:
        """Log in, navigate, return the goal. The env then finds the active page by itself."""

    def check(self, page: Any, answer: str | None) -> TaskSignal:
        """After each step: has the environment ended the episode or refused to go on? Cheap; not a score."""

    def score(self, page: Any, trajectory: Trajectory) -> Verdict:
        """Evaluate once, at stop."""

    def teardown(self) -> None: ...


class Benchmark(Protocol):
    """A set of tasks. Built from its own config; `tasks()` needs no browser and no network."""

    @property
    def name(self) -> str: ...

    def tasks(self) -> Sequence[Task]: ...

    def open(self, spec: EpisodeSpec) -> PageTask:
        """The page side of one episode, in the worker process."""

    def checks(self) -> Sequence[Check]:
        """What is ready and what is missing; never raises."""

    def worker_environment(self, instance: int) -> dict[str, str]:
        """Environment variables a worker of this instance set must have before anything is imported."""

    def instances(self) -> int:
        """How many site instance sets exist, one episode at a time each; 0 = no shared state, any number at once."""


@runtime_checkable
class Filtered(Protocol):
    """A Benchmark that leaves tasks out by rule, before the run. The manifest names them; the report counts them."""

    def exclusions(self) -> Sequence[Exclusion]:
        """Tasks not in `tasks()` because a filter took them out; one per task and rule."""


@runtime_checkable
class SiteSets(Protocol):
    """A Benchmark on sites whose state tasks change: `instances()` complete copies of them."""

    def unrunnable(self, task: Task, instance: int) -> str:
        """Why `task` cannot run on this instance set (a site that is not configured); empty if it can."""

    def can_reset(self, instance: int) -> bool: ...

    def reset(self, instance: int) -> None:
        """Set the instance back to its first state and wait until it is ready. Raises SiteError."""


class Judge(Protocol):
    """A model that reads a trajectory and says whether the goal was reached."""

    name: str
    version: str

    def judge(self, trajectory: Trajectory) -> Verdict:
        """`error` with boundary `judge` when the reply holds no readable verdict: never a failure."""


class WorldModel(Protocol):
    """Foresees pages. The same protocol for a learned model, the baselines and a real browser (audits/, training/)."""

    name: str
    version: str

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        """`samples` answers to each query, in the order of the queries. Batched: give it all that is to be asked.

        An unreadable answer is a Prediction with `malformed`; only a backend that is down raises (`NotReadyError`).
        Equal queries (their seeds included) get equal answers.
        """

    def close(self) -> None: ...


class Recorder(Protocol):
    """Where finished episodes go."""

    def record(self, episode: Episode, screenshots: dict[str, bytes]) -> None:
        """Store one episode and its PNG files (name → bytes), atomically and durably."""
