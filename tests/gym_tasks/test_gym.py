"""`gym:GLOB`: a user's own tasks and an installed package's, scored by their own `validate`, in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.actions import parse_action
from harness.benchmarks.gym import GymBenchmark, GymConfig, goal_text
from harness.benchmarks.miniwob import html_folder
from harness.envs.browser import BrowserEnv
from harness.envs.session import BrowserSession
from harness.errors import EvaluatorError, UsageError
from harness.rollout import run_episode
from harness.types import EpisodeSpec, Observation, PolicyOutput, Task, Trajectory, Verdict

OURS = "tests.gym_tasks.tasks"


class Scripted:
    """Plays a list of action texts; `BID` becomes the bid of the page's button."""

    name = "scripted"

    def __init__(self, *actions: str) -> None:
        self._actions: Iterator[str] = iter(actions)

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self.goal = goal

    def act(self, observation: Observation) -> PolicyOutput:
        bid = next((line.split("[")[1].split("]")[0] for line in observation.axtree.splitlines() if "button" in line), "")
        return PolicyOutput(action=parse_action(next(self._actions, "noop()").replace("BID", bid)))

    def close(self) -> None: ...


def play(session: BrowserSession, glob: str, *actions: str, max_steps: int = 6, **fields: Any) -> tuple[Trajectory, Verdict]:
    benchmark = GymBenchmark(GymConfig(glob=glob, packages=fields.pop("packages", (OURS,)), **fields))
    (task,) = benchmark.tasks()
    env = BrowserEnv(session, benchmark.open)
    try:
        return run_episode(Scripted(*actions), env, EpisodeSpec(task=task, seed=3, order_index=0), max_steps=max_steps)
    finally:
        env.end_episode()


@pytest.mark.browser
def test_rewards_add_up_and_the_tasks_done_ends_the_episode(browser_session: BrowserSession) -> None:
    trajectory, verdict = play(browser_session, "mine.count", 'click("BID")', "noop()", 'click("BID")')
    assert trajectory.stop_reason == "terminated"
    assert trajectory.goal == "Click Add 2 times.\n[an image belongs here]"
    assert [step.reward for step in trajectory.steps] == [0.5, 0.0, 0.5]
    assert (verdict.status, verdict.reward, verdict.raw_reward, verdict.threshold) == ("success", 1.0, 1.0, 1.0)
    assert verdict.scorer == f"validate:{OURS}.CountTask"
    assert verdict.evidence["rewards"] == [0.5, 0.0, 0.5]
    assert str(trajectory.steps[-1].metadata["odd"]).startswith("<object object")  # what JSON cannot hold is still stored


@pytest.mark.browser
def test_half_way_is_a_failure_with_its_raw_reward(browser_session: BrowserSession) -> None:
    trajectory, verdict = play(browser_session, "mine.count", 'click("BID")', max_steps=2)
    assert trajectory.stop_reason == "max_steps"
    assert (verdict.status, verdict.raw_reward, verdict.reason) == ("failure", 0.5, "the task did not say it was done")
    assert play(browser_session, "mine.count", 'click("BID")', max_steps=2, threshold=0.5)[1].status == "success"


@pytest.mark.browser
def test_task_arguments(browser_session: BrowserSession) -> None:
    assert play(browser_session, "mine.count", 'click("BID")', task_kwargs={"clicks": 1})[1].raw_reward == 0.5
    for glob, arguments, why in (
        ("mine.count-three", {"clicks": 1}, "frozen parameters"),
        ("mine.say", {"colour": "blue"}, "cannot be made"),
    ):
        verdict = play(browser_session, glob, task_kwargs=arguments)[1]
        assert verdict.error is not None
        assert (verdict.error.boundary, verdict.error.kind) == ("harness", "UsageError")
        assert why in verdict.error.message


@pytest.mark.browser
def test_answers_are_chat_and_only_the_task_ends_the_episode(browser_session: BrowserSession) -> None:
    trajectory, verdict = play(
        browser_session, "mine.say", 'send_msg_to_user("green")', 'send_msg_to_user("blue")', 'send_msg_to_user("late")'
    )
    assert len(trajectory.steps) == 2
    assert verdict.status == "success"
    assert verdict.evidence["info"] == {"roles": ["assistant", "user", "assistant", "user", "assistant"]}
    last = trajectory.final_observation
    assert last is not None
    assert [m.message for m in last.chat_messages] == ["green", "look again", "blue"]


@pytest.mark.browser
def test_reporting_infeasible_reaches_the_task_as_such(browser_session: BrowserSession) -> None:
    trajectory, verdict = play(browser_session, "mine.say", 'report_infeasible("no sky")')
    assert (trajectory.stop_reason, verdict.status) == ("infeasible", "success")


@pytest.mark.browser
def test_a_reward_that_is_not_a_number_is_the_evaluators_error(browser_session: BrowserSession) -> None:
    _, verdict = play(browser_session, "mine.broken")
    assert verdict.status == "error"
    assert verdict.error is not None
    assert (verdict.error.boundary, verdict.error.kind) == ("evaluator", "bad_reward")


@pytest.mark.browser
def test_viewport_and_locale_are_the_tasks_own(browser_session: BrowserSession) -> None:
    benchmark = GymBenchmark(GymConfig(glob="mine.count", packages=(OURS,)))
    page_task = benchmark.open(EpisodeSpec(task=benchmark.tasks()[0], seed=0, order_index=0))
    assert page_task.context_options == {"viewport": {"width": 500, "height": 400}, "locale": "de-DE"}


@pytest.mark.browser
def test_an_installed_packages_task(browser_session: BrowserSession) -> None:
    trajectory, verdict = play(browser_session, "miniwob.click-test", 'click("BID")', packages=())
    assert trajectory.goal == "Click the button."
    assert (trajectory.stop_reason, verdict.status, verdict.raw_reward) == ("terminated", "success", 1.0)
    assert verdict.scorer_version.count(".") == 2


def test_tasks_are_found_without_a_browser() -> None:
    benchmark = GymBenchmark(GymConfig(glob="mine.*", packages=(OURS,)))
    assert [task.task_id for task in benchmark.tasks()] == ["mine.count", "mine.count-three", "mine.say", "mine.broken"]
    task = benchmark.tasks()[0]
    assert (task.benchmark, task.site, task.evaluator.kind) == ("gym", "mine", "validate")
    assert benchmark.checks()[0].detail == "4 tasks match 'mine.*'"
    miniwob = GymBenchmark(GymConfig(glob="miniwob.*"))
    assert len(miniwob.tasks()) == 125
    assert miniwob.worker_environment(0)["MINIWOB_URL"] == html_folder().as_uri() + "/"
    assert [task.task_id for task in GymBenchmark(GymConfig(glob="openended")).tasks()] == ["openended"]


def test_no_match_says_what_is_installed() -> None:
    benchmark = GymBenchmark(GymConfig(glob="assistantbench.*"))
    with pytest.raises(UsageError, match=r"no registered BrowserGym task matches 'assistantbench\.\*'") as caught:
        benchmark.tasks()
    assert "miniwob" in caught.value.fix
    assert benchmark.checks()[0].status == "missing"


def test_a_package_that_does_not_import() -> None:
    with pytest.raises(UsageError, match=r"cannot import 'no_such_module': ModuleNotFoundError"):
        GymBenchmark(GymConfig(glob="mine.*", packages=("no_such_module",))).tasks()


@pytest.mark.parametrize(("goal", "text"), [(None, ""), ("a", "a"), ([], ""), ([{"type": "text", "text": "a"}], "a")])
def test_goals(goal: Any, text: str) -> None:
    assert goal_text(goal) == text


@pytest.mark.parametrize("goal", [[{"type": "video"}], ["text"]])
def test_unknown_goals_are_errors(goal: Any) -> None:
    with pytest.raises(EvaluatorError):
        goal_text(goal)
