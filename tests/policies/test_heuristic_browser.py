"""The heuristic in a real Chromium, on real MiniWoB++ pages: one task per kind of rule."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.envs.browser import BrowserEnv
from harness.envs.session import BrowserSession
from harness.policies import HeuristicPolicy, NoopPolicy
from harness.protocols import Policy
from harness.rollout import run_episode
from harness.types import EpisodeSpec, Task, Verdict

pytestmark = pytest.mark.browser

SOLVED = (
    "click-test-2", "click-checkboxes", "click-option", "choose-list", "choose-date-easy", "login-user-popup", "enter-date",
    "use-autocomplete", "read-table", "simple-algebra", "guess-number", "click-menu", "use-slider", "drag-sort-numbers",
    "phone-book", "copy-paste-2",
)  # fmt: skip
SEED = 3


@pytest.fixture(scope="module")
def tasks() -> dict[str, Task]:
    return {task.task_id: task for task in MiniwobBenchmark().tasks()}


@pytest.fixture
def env(browser_session: BrowserSession) -> Iterator[BrowserEnv]:
    made = BrowserEnv(browser_session, MiniwobBenchmark().open)
    yield made
    made.end_episode()


def play(env: BrowserEnv, policy: Policy, task: Task) -> Verdict:
    spec = EpisodeSpec(task=task, seed=SEED, order_index=0)
    _, verdict = run_episode(policy, env, spec, max_steps=10)
    return verdict


@pytest.mark.parametrize("task_id", SOLVED)
def test_a_task_of_each_kind_is_solved(env: BrowserEnv, tasks: dict[str, Task], task_id: str) -> None:
    verdict = play(env, HeuristicPolicy(), tasks[task_id])
    assert verdict.status == "success", verdict.reason


def test_doing_nothing_solves_nothing(env: BrowserEnv, tasks: dict[str, Task]) -> None:
    assert play(env, NoopPolicy(), tasks["click-test-2"]).status == "failure"


def test_giving_up_is_a_failure_not_an_error(env: BrowserEnv, tasks: dict[str, Task]) -> None:
    assert play(env, HeuristicPolicy(), tasks["click-color"]).status == "failure"
