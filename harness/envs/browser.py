"""BrowserEnv: a real Chromium with one benchmark task in it, behind the `Env` protocol."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Error as PlaywrightError

from harness.actions import answer_of, is_infeasible, said_of
from harness.envs.chromium import find_chromium
from harness.envs.config import BrowserConfig
from harness.envs.execute import ActionExecutor
from harness.envs.observe import Look, glance, look
from harness.envs.pages import Pages
from harness.envs.session import BrowserSession
from harness.envs.settle import settle
from harness.errors import EnvError, boundary, first_line
from harness.protocols import PageTask, StepResult
from harness.types import Action, ChatMessage, EpisodeSpec, Observation, Timing, Trajectory, Verdict


class BrowserEnv:
    """`reset → step … → score → close`, then `reset` again: the browser is kept, the context is not.

    `open_task` makes the benchmark's side of an episode (Benchmark.open).
    """

    def __init__(self, session: BrowserSession, open_task: Callable[[EpisodeSpec], PageTask]) -> None:
        self._session = session
        self._config = session.config
        self._open_task = open_task
        self._context: Any = None
        self._task: PageTask | None = None
        self._pages: Pages
        self._executor: ActionExecutor
        self._answer: str | None = None
        self._chat: tuple[ChatMessage, ...] = ()

    def reset(self, spec: EpisodeSpec) -> tuple[str, Observation]:
        self.end_episode()
        self._answer, self._chat = None, ()
        self._task = self._open_task(spec)
        self._context = self._session.context(self._task.context_options)
        self._pages = Pages(self._context, max_pages=self._config.max_pages, max_dialogs=self._config.max_dialogs)
        self._executor = ActionExecutor(self._pages, self._config)
        with boundary("env"):
            goal = self._task.setup(self._pages.active)
            seen, slow = self._settle(since=time.monotonic())
            return goal, self._observe(seen, slow=slow)

    def step(self, action: Action) -> StepResult:
        task = self._require_task()
        started = time.perf_counter()
        with boundary("env"):
            error = self._executor.execute(action)
            executed = time.perf_counter()
            ended = self._take_message(action)
            seen, slow = self._settle(since=time.monotonic())
            settled = time.perf_counter()
        with boundary("evaluator"):
            signal = task.check(self._pages.active, self._answer)
        checked = time.perf_counter()
        if signal.user_message:
            self._chat += (ChatMessage(role="user", message=signal.user_message),)
        with boundary("env"):
            observation = self._observe(seen, slow=slow, last_action_error=error.message if error else "")
        return StepResult(
            observation=observation,
            action_error=error,
            reward=signal.reward,
            terminated=signal.terminated or ended,
            truncated=False,
            timing=Timing(
                execute=executed - started,
                settle=settled - executed,
                check=checked - settled,
                observe=time.perf_counter() - checked,
            ),
            blocked=signal.blocked,
            metadata={**signal.metadata, **self._incidents()},
        )

    def score(self, trajectory: Trajectory) -> Verdict:
        with boundary("evaluator"):
            return self._require_task().score(self._pages.active, trajectory)

    def close(self) -> None:
        self.end_episode()
        self._session.close()

    @property
    def active_page(self) -> Any:
        """The Playwright page that actions go to."""
        return self._pages.active

    def recover(self) -> None:
        """After an env error: drop context and browser, so that the next episode starts on a fresh one."""
        self.end_episode()
        self._session.restart()

    def end_episode(self) -> None:
        """Close the episode's pages and cookies; the browser stays for the next `reset`."""
        task, context = self._task, self._context
        self._task = self._context = None
        if task is not None:
            with boundary("evaluator"):
                task.teardown()
        if context is not None:
            try:
                context.close()
            except PlaywrightError as error:
                self._session.restart()
                raise EnvError(f"the browser context does not close: {first_line(error)}", kind="browser_lost") from error

    # ------------------------------------------------------------------ inside

    def _require_task(self) -> PageTask:
        if self._task is None:
            raise EnvError("step or score before reset", kind="misuse")
        return self._task

    def _take_message(self, action: Action) -> bool:
        """Keep what the agent says; does it end the episode?"""
        if is_infeasible(action):
            self._chat += (ChatMessage(role="infeasible", message=said_of(action) or ""),)
            self._answer = None
            return True
        answer = answer_of(action)
        if answer is None:
            return False
        self._chat += (ChatMessage(role="assistant", message=answer),)
        self._answer = answer
        return self._require_task().ends_on_answer

    def _settle(self, since: float) -> tuple[Look | None, bool]:
        """(a first look at the page, whether it was still busy at the cap)."""
        seen = glance(self._pages, self._config)
        config = self._config
        quiet = settle(self._pages, since=since, quiet_seconds=config.quiet_seconds, cap_seconds=config.settle_cap_seconds)
        return seen, not quiet

    def _observe(self, seen: Look | None, *, slow: bool, last_action_error: str = "") -> Observation:
        if seen is None or slow or not seen.still_true(self._pages):
            seen = look(self._pages, self._config)
        return seen.observation(last_action_error=last_action_error, chat_messages=self._chat, slow=slow)

    def _incidents(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self._pages.dialogs:
            found["dialogs"] = list(self._pages.dialogs)
        if self._pages.popups_closed:
            found["popups_closed"] = self._pages.popups_closed
        return found


def probe_browser(config: BrowserConfig) -> str:
    """Start the browser, open a blank page, close it; what was found. Raises NotReadyError or EnvError."""
    chromium = find_chromium(config.executable_path)
    session = BrowserSession(config, chromium)
    try:
        session.context({}).new_page()
    finally:
        session.close()
    return f"{chromium.name} ({chromium.origin}: {chromium.path})"
