"""`oracle`: a real browser behind the world model's protocol. What perfect foresight scores, and where measuring itself errs.

    query ── RecordedEpisodes.locate ──▶ (task with its seed, actions so far)
          ── reset, play the actions, each element found again by its descriptor ──▶ the page of the query
          ── the query's action ──▶ the real next page

Every query starts from a reset, so no two influence each other. It falls short of 1 exactly where pages differ between two
visits (clocks, counters, random ids): that is the noise floor of every fidelity figure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from harness.actions import answer_of, bids_of, is_infeasible, said_of
from harness.assembly import make_benchmark
from harness.axtree import find, parse
from harness.config import RunConfig, build_config
from harness.envs.browser import BrowserEnv
from harness.envs.chromium import find_chromium
from harness.envs.session import BrowserSession
from harness.errors import RolloutError, UsageError, first_line
from harness.predictions import Prediction, WorldModelQuery
from harness.protocols import StepResult
from harness.types import Action, EpisodeSpec, Observation, Start, Trajectory, Usage, Verdict
from results.manifest import RunManifest
from results.reader import read_manifest
from training.world_model.model.recorded import Prefix, RecordedEpisodes

_PLAYABLE: Final = ("miniwob", "arena")
"""Benchmarks whose episodes begin in the same state each time: a prefix means nothing elsewhere."""


UNKNOWN_PAGE: Final = "no recorded episode shows this page"
Answer = TypeVar("Answer")


class Unreachable(Exception):
    """The page of a query cannot be reached again; `str()` says why."""


class Replayer:
    """Brings a browser to where a recorded episode was. One browser, whichever run an episode is of."""

    def __init__(self, session: BrowserSession | None = None) -> None:
        self._session = session
        self._owns_session = session is None
        self._envs: dict[Path, BrowserEnv] = {}
        self._current: BrowserEnv | None = None
        self._spec: EpisodeSpec | None = None
        self._played: tuple[Action, ...] = ()
        self._page: Observation | None = None
        self._ended = False
        self.resets = 0
        self.step_seconds: list[float] = []
        """Wall time of every action played, prefixes included."""

    def played(self, prefix: Prefix) -> bool:
        """Has the browser just done exactly this?"""
        return self._spec == prefix.spec and self._played == prefix.actions

    def stands_at(self, prefix: Prefix) -> bool:
        """… and can the episode go on?"""
        return self.played(prefix) and not self._ended

    def go_to(self, prefix: Prefix) -> None:
        """Reset the task and play the prefix. Raises Unreachable where an action cannot be played again."""
        self._spec, self._ended = None, False
        env = self._env(prefix.run)
        self.resets += 1
        try:
            _, self._page = env.reset(prefix.spec)
        except RolloutError as error:
            raise Unreachable(f"reset: {first_line(error)}") from error
        self._current, self._spec, self._played = env, prefix.spec, ()
        for number, action in enumerate(prefix.actions):
            result = self.play(action)
            if result.terminated and number + 1 < len(prefix.actions):
                raise Unreachable(f"replay: the episode ended at step {number}")

    def play(self, action: Action) -> StepResult:
        """One action on the page that the browser shows. Raises Unreachable where its element is gone."""
        assert self._current is not None
        assert self._page is not None
        grounded = _grounded(action, self._page)
        began = time.perf_counter()
        try:
            result = self._current.step(grounded)
        except RolloutError as error:
            self._spec = None
            raise Unreachable(f"step: {first_line(error)}") from error
        self.step_seconds.append(time.perf_counter() - began)
        self._played = (*self._played, action)
        self._page, self._ended = result.observation, result.terminated or bool(result.blocked)
        return result

    def reward(self, action: Action) -> float | None:
        """The benchmark's own reward for an episode that ended with `action`; None where it has none."""
        try:
            return self.verdict(action).reward
        except RolloutError:
            return None

    def verdict(self, action: Action) -> Verdict:
        """The benchmark's own verdict on an episode that ended with `action`. Raises RolloutError where it cannot be had."""
        assert self._current is not None
        assert self._spec is not None
        ended = "infeasible" if is_infeasible(action) else "stop" if answer_of(action) is not None else "terminated"
        trajectory = Trajectory(
            task=self._spec.task,
            source="real",
            start=Start(task_id=self._spec.task.task_id),
            goal=self._spec.task.goal,
            seed=self._spec.seed,
            final_observation=self._page,
            stop_reason=ended,
            answer=said_of(action),
        )
        return self._current.score(trajectory)

    def close(self) -> None:
        for env in self._envs.values():
            env.end_episode()
        if self._session is not None and self._owns_session:
            self._session.close()

    def _env(self, run: Path) -> BrowserEnv:
        """Only one episode is open at a time: the sessions' contexts are of one browser."""
        if self._current is not None:
            self._current.end_episode()
        if run not in self._envs:
            config = _config(read_manifest(run))
            if self._session is None:
                self._session = BrowserSession(config.browser, find_chromium(config.browser.executable_path))
            self._envs[run] = BrowserEnv(self._session, make_benchmark(config).open)
        return self._envs[run]


class OracleWorldModel:
    """Answers with what a real browser shows. `runs` are run directories that hold the episodes asked about.

    May be asked from any thread: its browser lives in one of its own, unless a `session` of the caller's is given.
    """

    name = "oracle"
    version = "1"
    parameters = 0

    def __init__(self, runs: Sequence[Path], session: BrowserSession | None = None) -> None:
        """Raises UsageError for runs whose tasks do not begin in the same state each time."""
        for run in runs:
            _config(read_manifest(run))
        self._episodes = RecordedEpisodes(runs)
        self.replayer = Replayer(session)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=self.name) if session is None else None

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        """Each sample is a visit of its own: their agreement is the noise of the real pages."""
        return self._there(lambda: self._answers(queries, samples))

    def verdict(self, query: WorldModelQuery) -> Verdict:
        """The benchmark's own verdict on the episode that the query's action ends.

        Raises Unreachable where it cannot be played again, RolloutError where the benchmark cannot say.
        """
        return self._there(lambda: self._verdict(query))

    def close(self) -> None:
        self._there(self.replayer.close)
        if self._thread is not None:
            self._thread.shutdown()

    def _there(self, call: Callable[[], Answer]) -> Answer:
        return call() if self._thread is None else self._thread.submit(call).result()

    def _answers(self, queries: Sequence[WorldModelQuery], samples: int) -> list[list[Prediction]]:
        return [[self._visit(query) for _ in range(samples)] for query in queries]

    def _verdict(self, query: WorldModelQuery) -> Verdict:
        prefix = self._episodes.locate(query)
        if prefix is None:
            raise Unreachable(UNKNOWN_PAGE)
        whole = replace(prefix, actions=(*prefix.actions, query.action))
        if not self.replayer.played(whole):
            self._reach(prefix)
            self.replayer.play(query.action)
        return self.replayer.verdict(query.action)

    def _visit(self, query: WorldModelQuery) -> Prediction:
        prefix = self._episodes.locate(query)
        who = f"{self.name} {self.version}"
        if prefix is None:
            return Prediction(world_model=who, next_observation=None, malformed=UNKNOWN_PAGE)
        began = time.perf_counter()
        try:
            self._reach(prefix)
            result = self.replayer.play(query.action)
        except Unreachable as error:
            return Prediction(world_model=who, next_observation=None, malformed=str(error))
        return Prediction(
            world_model=who,
            next_observation=result.observation,
            terminal=result.terminated,
            self_assessed_reward=self.replayer.reward(query.action) if result.terminated else None,
            usage=Usage(seconds=time.perf_counter() - began),
        )

    def _reach(self, prefix: Prefix) -> None:
        self.replayer.go_to(prefix)


def _grounded(action: Action, page: Observation) -> Action:
    """The action with the bid that its element has on this load of the page."""
    bids = bids_of(action)
    if action.target is None or len(bids) != 1:
        return action
    tree = parse(page.axtree)
    found = find(tree, action.target)
    if not found:
        raise Unreachable(f"replay: no {action.target.role} {action.target.name[:60]!r} on the page")
    # Where namesakes are left, the recorded bid decides if it is one of them: documents that did not change keep theirs.
    bid = bids[0] if bids[0] in found else found[0]
    arguments = {name: bid if value == bids[0] else value for name, value in action.arguments.items()}
    return action.model_copy(update={"arguments": arguments})


def _config(manifest: RunManifest) -> RunConfig:
    if manifest.benchmark not in _PLAYABLE:
        raise UsageError(
            f"run {manifest.run_id} is of {manifest.benchmark}, whose episodes cannot be played again",
            fix=f"give runs of {' or '.join(_PLAYABLE)}",
        )
    return build_config(dict(manifest.config), source="manifest.json")
