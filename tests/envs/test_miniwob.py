"""MiniWoB++ through our environment: raw rewards, thresholds, and where they part from BrowserGym's verdict."""

from __future__ import annotations

import re

import pytest

from harness.actions import parse_action
from harness.benchmarks.miniwob import MiniwobBenchmark, task_notes
from harness.envs.browser import BrowserEnv
from harness.envs.chromium import Chromium
from harness.envs.config import BrowserConfig
from harness.envs.session import BrowserSession
from harness.policies.heuristic import HeuristicPolicy
from harness.rollout import run_episode
from harness.testing import ScriptedPolicy
from harness.types import EpisodeSpec

TASKS = {task.task_id: task for task in MiniwobBenchmark().tasks()}


def spec(name: str, seed: int = 0) -> EpisodeSpec:
    return EpisodeSpec(task=TASKS[name], seed=seed, order_index=0)


def test_the_125_tasks_of_browsergym() -> None:
    assert len(TASKS) == 125
    assert not set(task_notes()) - set(TASKS), "a note about a task that does not exist"
    assert all(note["reason"] for note in task_notes().values())


@pytest.mark.browser
def test_a_wrong_card_is_no_success_though_browsergym_says_so(miniwob_env: BrowserEnv) -> None:
    """BrowserGym#392: `find-greatest` pays 0.1 for submitting a wrong card."""
    for seed in range(10):
        miniwob_env.reset(spec("find-greatest", seed))  # the same seed gives the same bids again below
        card, submit = (
            miniwob_env.active_page.evaluate(f"document.querySelector('{selector}').getAttribute('bid')")
            for selector in (".card", "#subbtn, #submit, button")
        )
        policy = ScriptedPolicy([f"click('{card}')", f"click('{submit}')"])
        _, verdict = run_episode(policy, miniwob_env, spec("find-greatest", seed), max_steps=2)
        if verdict.raw_reward == pytest.approx(0.1):
            assert verdict.status == "failure"
            assert (verdict.reward, verdict.threshold) == (0.0, 0.5)
            assert verdict.other_scores[0].status == "success"
            return
    pytest.fail("no wrong card in ten seeds")


@pytest.mark.browser
def test_a_finished_task_is_scored_once_with_its_raw_reward(miniwob_env: BrowserEnv) -> None:
    trajectory, verdict = run_episode(HeuristicPolicy(), miniwob_env, spec("click-test"), max_steps=5)
    assert trajectory.stop_reason == "terminated"
    assert (verdict.status, verdict.reward, verdict.raw_reward) == ("success", 1.0, 1.0)
    step = trajectory.steps[0]
    assert step.output.action.target is not None
    assert (step.output.action.target.role, step.output.action.target.name) == ("button", "Click Me!")
    assert step.observation.screenshot is not None
    assert step.observation.screenshot.startswith(b"\x89PNG")


@pytest.mark.browser
def test_an_unfinished_task_is_a_failure_with_a_reason(miniwob_env: BrowserEnv) -> None:
    _, verdict = run_episode(ScriptedPolicy(["noop(0)"]), miniwob_env, spec("click-test"), max_steps=1)
    assert (verdict.status, verdict.raw_reward, verdict.reason) == ("failure", 0.0, "the task was not finished")


@pytest.mark.browser
def test_chat_does_not_end_a_miniwob_episode(miniwob_env: BrowserEnv) -> None:
    miniwob_env.reset(spec("click-test"))
    result = miniwob_env.step(parse_action('send_msg_to_user("done!")'))
    assert not result.terminated
    assert result.observation.chat_messages[-1].message == "done!"
    assert miniwob_env.step(parse_action('report_infeasible("no")')).terminated


@pytest.mark.browser
def test_clickable_text_gets_a_line_when_asked_for(browser_session: BrowserSession, chromium: Chromium) -> None:
    """`click-link` shows its links as spans with handlers: invisible to a reader of BrowserGym's tree."""
    plain = BrowserEnv(browser_session, MiniwobBenchmark().open)
    _, without = plain.reset(spec("click-link"))
    plain.end_episode()
    session = BrowserSession(BrowserConfig(clickable=True), chromium)
    session._driver, session._browser = browser_session._driver, browser_session._browser
    env = BrowserEnv(session, MiniwobBenchmark().open)
    goal, shown = env.reset(spec("click-link"))
    assert "clickable" not in without.axtree
    target = goal.split('"')[1]
    line = next(line for line in shown.axtree.splitlines() if "clickable" in line and target not in line)
    assert "] generic" in line
    bids = re.findall(r"\[(\w+)\] generic, clickable\n\s+StaticText '" + re.escape(target), shown.axtree)
    assert env.step(parse_action(f"click('{bids[0]}')")).reward == 1.0
    env.end_episode()


@pytest.mark.browser
def test_a_link_to_a_fragment_does_not_end_the_task(miniwob_env: BrowserEnv) -> None:
    """BrowserGym 0.14.3 calls it an invalid URL, which makes `search-engine` unsolvable."""
    miniwob_env.reset(spec("search-engine"))
    miniwob_env.active_page.evaluate("location.hash = 'result'")
    assert not miniwob_env.step(parse_action("noop(0)")).terminated
    miniwob_env.active_page.evaluate("core.endEpisode(1, false)")
    assert miniwob_env.step(parse_action("noop(0)")).terminated


@pytest.mark.browser
@pytest.mark.slow
def test_all_125_tasks_reset_observe_act_and_score(miniwob_env: BrowserEnv) -> None:
    for name in TASKS:
        trajectory, verdict = run_episode(HeuristicPolicy(), miniwob_env, spec(name, 1), max_steps=3)
        assert trajectory.goal, name
        assert verdict.status in ("success", "failure"), (name, verdict)
        assert verdict.raw_reward is not None, name
        assert trajectory.steps[0].observation.axtree.startswith("RootWebArea"), name
