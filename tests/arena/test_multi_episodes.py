"""A task on three applications in one browser: signed in on each, the fact carried over by tabs, one ticket left behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.benchmarks.arena import ArenaBenchmark
from harness.benchmarks.arena.oracle import NearlyPolicy, OraclePolicy
from harness.envs.browser import BrowserEnv
from harness.envs.session import BrowserSession
from harness.protocols import Policy
from harness.rollout import run_episode
from harness.types import EpisodeSpec, Trajectory, Verdict

pytestmark = [pytest.mark.sites, pytest.mark.browser, pytest.mark.webarena]
TASK = "multi-gift-to-ticket-0"


@pytest.fixture
def env(browser_session: BrowserSession, arena: ArenaBenchmark) -> Iterator[BrowserEnv]:
    env = BrowserEnv(browser_session, arena.open)
    yield env
    env.end_episode()


def play(env: BrowserEnv, arena: ArenaBenchmark, policy: Policy) -> tuple[Trajectory, Verdict]:
    task = next(task for task in arena.tasks() if task.task_id == TASK)
    return run_episode(policy, env, EpisodeSpec(task=task, seed=0, order_index=0), max_steps=25)


def test_the_oracle_goes_from_tab_to_tab_and_wins(env: BrowserEnv, arena: ArenaBenchmark) -> None:
    trajectory, verdict = play(env, arena, OraclePolicy())
    assert verdict.status == "success", verdict.reason
    focused = [step for step in trajectory.steps if step.output.action.name == "tab_focus"]
    assert len(focused) == 2, "the shop, then the forum, then the tracker"


def test_the_price_of_another_product_is_found_out(env: BrowserEnv, arena: ArenaBenchmark) -> None:
    _, verdict = play(env, arena, NearlyPolicy())
    assert verdict.status == "failure"
    assert "trim(description)" in verdict.reason
