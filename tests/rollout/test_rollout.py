"""The one rollout loop: every way to end, every border that can break, and what is kept of an episode that did."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import (
    EnvError,
    EpisodeTimeout,
    EvaluatorError,
    JudgeError,
    NotReadyError,
    PolicyError,
    RolloutError,
    SiteError,
    UsageError,
    boundary,
)
from harness.protocols import StepResult
from harness.rollout import run_episode
from harness.testing import ScriptedEnv, ScriptedPolicy
from harness.types import (
    Action,
    EpisodeSpec,
    EvaluatorSpec,
    Observation,
    Phase,
    PolicyOutput,
    Step,
    Task,
    Trajectory,
    Verdict,
)

PAGES = ("RootWebArea 'One'\n\t[4] button 'Go'\n\t[5] button 'Go'", "RootWebArea 'Two'\n\t[9] link 'On'", "RootWebArea 'Three'")
TASK = Task(benchmark="b", task_id="t", goal="the plan's goal", evaluator=EvaluatorSpec(kind="x"))
SPEC = EpisodeSpec(task=TASK, seed=11, order_index=0)


class Ears:
    """A listener that keeps what it hears, in order."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.steps: list[Step] = []

    def phase(self, name: Phase) -> None:
        self.heard.append(name)

    def goal(self, goal: str) -> None:
        self.heard.append(f"goal {goal}")

    def step(self, step: Step) -> None:
        self.heard.append(f"step {step.index}")
        self.steps.append(step)


class StoppingEnv(ScriptedEnv):
    """Ends with an answer, as a benchmark whose `ends_on_answer` is true."""

    def step(self, action: Action) -> StepResult:
        result = super().step(action)
        return result._replace(terminated=action.name in ("send_msg_to_user", "report_infeasible"))


class RefusingEnv(ScriptedEnv):
    """Its site shows a captcha after the second step."""

    def step(self, action: Action) -> StepResult:
        result = super().step(action)
        return result._replace(blocked="captcha", metadata={"seen": "robot check"}) if len(self.actions) == 2 else result

    def score(self, trajectory: Trajectory) -> Verdict:
        raise AssertionError("what a site refused cannot be scored")


class BrokenScorer(ScriptedEnv):
    """Its scorer raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(PAGES)
        self._error = error

    def score(self, trajectory: Trajectory) -> Verdict:
        with boundary("evaluator"):
            raise self._error


class Photographed(ScriptedEnv):
    """Every observation has a screenshot."""

    def _observation(self) -> Observation:
        return super()._observation().model_copy(update={"screenshot": b"png"})


def play(policy: Any, env: ScriptedEnv, max_steps: int = 5, ears: Ears | None = None) -> tuple[Trajectory, Verdict]:
    return run_episode(policy, env, SPEC, max_steps=max_steps, listener=ears)


# ------------------------------------------------------------------ ends


def test_the_environment_ends_it_and_scores_once() -> None:
    ears = Ears()
    trajectory, verdict = play(ScriptedPolicy(['click("4")', "noop()"]), ScriptedEnv(PAGES), ears=ears)
    assert (trajectory.stop_reason, verdict.status, verdict.reward) == ("terminated", "success", 1.0)
    assert [step.observation.axtree for step in trajectory.steps] == list(PAGES[:2])
    assert trajectory.final_observation is not None
    assert trajectory.final_observation.axtree == PAGES[2]
    assert [step.reward for step in trajectory.steps] == [0.0, 1.0]
    assert ears.heard == [
        "reset", "goal reach the last page",
        "policy", "policy", "step", "step 0",
        "policy", "step", "step 1",
        "score",
    ]  # fmt: skip
    assert tuple(ears.steps) == trajectory.steps
    assert (trajectory.goal, trajectory.seed, trajectory.source) == ("reach the last page", 11, "real")
    assert trajectory.producers == {"policy": "scripted scripted"}


@pytest.mark.parametrize(
    ("action", "reason", "answer"),
    [
        ("send_msg_to_user('42')", "stop", "42"),
        ("send_msg_to_user('')", "stop", ""),
        ("report_infeasible('no such page')", "infeasible", "no such page"),
    ],
)
def test_an_answer_ends_it_and_is_kept(action: str, reason: str, answer: str) -> None:
    trajectory, verdict = play(ScriptedPolicy(["noop()", action]), StoppingEnv(PAGES, status="failure"))
    assert (trajectory.stop_reason, trajectory.answer, len(trajectory.steps)) == (reason, answer, 2)
    assert (verdict.status, verdict.reward) == ("failure", 0.0)


def test_an_answer_that_ends_nothing_is_still_the_last_answer() -> None:
    env = ScriptedEnv([PAGES[0]] * 9)
    trajectory, _ = play(ScriptedPolicy(["send_msg_to_user('first')", "send_msg_to_user('second')", "noop()"]), env, max_steps=3)
    assert (trajectory.stop_reason, trajectory.answer) == ("max_steps", "second")


def test_max_steps_counts_policy_outputs_invalid_ones_too_and_is_scored() -> None:
    env = ScriptedEnv([PAGES[0]] * 9, status="failure")
    trajectory, verdict = play(ScriptedPolicy(["no action here", 'click("4")']), env, max_steps=3)
    assert (trajectory.stop_reason, verdict.status) == ("max_steps", "failure")
    assert [step.truncated for step in trajectory.steps] == [False, False, True]
    assert [step.output.action.name for step in trajectory.steps] == ["invalid", "click", "click"]
    assert len(env.actions) == 3


def test_a_refusing_site_ends_it_without_a_score() -> None:
    trajectory, verdict = play(ScriptedPolicy(["noop()"]), RefusingEnv([PAGES[0]] * 9))
    assert (trajectory.stop_reason, verdict.status, verdict.reward) == ("blocked", "blocked", None)
    assert (verdict.reason, verdict.evidence) == ("captcha", {"seen": "robot check"})
    assert len(trajectory.steps) == 2


# ------------------------------------------------------------------ borders


@pytest.mark.parametrize(
    ("error", "where", "kind"),
    [
        (EnvError("x", kind="page_crash"), "env", "page_crash"),
        (SiteError("x"), "site", "infra_error"),
        (EvaluatorError("x"), "evaluator", "evaluator_error"),
        (JudgeError("x"), "judge", "judge_error"),
        (EpisodeTimeout("x"), "timeout", "timeout"),
    ],
)
@pytest.mark.parametrize("at", [0, 2])
def test_a_broken_world_is_data_with_the_steps_so_far(at: int, error: RolloutError, where: str, kind: str) -> None:
    ears = Ears()
    trajectory, verdict = play(ScriptedPolicy(['click("4")']), ScriptedEnv([PAGES[0]] * 9, fault=(at, error)), ears=ears)
    assert (trajectory.stop_reason, verdict.status, verdict.reward) == ("error", "error", None)
    assert verdict.error is not None
    assert (verdict.error.boundary, verdict.error.kind, verdict.error.message) == (where, kind, "x")
    assert [step.index for step in trajectory.steps] == list(range(max(at - 1, 0)))
    assert tuple(ears.steps) == trajectory.steps
    assert (trajectory.final_observation is None) == (at == 0)
    assert trajectory.goal == ("the plan's goal" if at == 0 else "reach the last page")


class BadReset(ScriptedPolicy):
    def reset(self, goal: str, task: Task, seed: int) -> None:
        raise LookupError("no weights")


class Returns(ScriptedPolicy):
    """A user's class that gives back something else."""

    def __init__(self, value: Any) -> None:
        super().__init__(["noop()"])
        self._value = value

    def act(self, observation: Observation) -> PolicyOutput:
        return self._value  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("policy", "kind", "message"),
    [
        (ScriptedPolicy(["noop()", ValueError("first\nsecond")]), "policy_error", "ValueError: first"),
        (ScriptedPolicy(["noop()", PolicyError("slow down", kind="rate_limited")]), "rate_limited", "slow down"),
        (ScriptedPolicy(["noop()", RecursionError()]), "policy_error", "RecursionError:"),
        (ScriptedPolicy(["noop()", ValueError("\ud800")]), "policy_error", r"ValueError: \ud800"),
        (BadReset(["noop()"]), "policy_error", "LookupError: no weights"),
        (Returns(None), "bad_output", "act() returned a NoneType, not a PolicyOutput"),
        (Returns('click("4")'), "bad_output", "act() returned a str, not a PolicyOutput"),
    ],
)
def test_whatever_a_policy_does_is_the_policys_error(policy: ScriptedPolicy, kind: str, message: str) -> None:
    trajectory, verdict = play(policy, ScriptedEnv([PAGES[0]] * 9))
    assert verdict.error is not None
    assert (verdict.status, verdict.error.boundary, verdict.error.kind) == ("error", "policy", kind)
    assert verdict.error.message == message
    assert "Error" in verdict.error.traceback
    verdict.model_dump_json()
    assert trajectory.stop_reason == "error"


class Exits(ScriptedPolicy):
    def act(self, observation: Observation) -> PolicyOutput:
        raise SystemExit(3)


def test_sys_exit_ends_the_episode_not_the_process() -> None:
    _, verdict = play(Exits(["noop()"]), ScriptedEnv(PAGES))
    assert verdict.error is not None
    assert (verdict.error.boundary, verdict.error.message) == ("policy", "SystemExit: 3")


@pytest.mark.parametrize("error", [KeyError("answer"), SystemExit(1)])
def test_a_scorer_that_raises_keeps_the_whole_trajectory(error: BaseException) -> None:
    trajectory, verdict = play(ScriptedPolicy(["noop()"]), BrokenScorer(error))
    assert verdict.error is not None
    assert (verdict.error.boundary, verdict.error.kind) == ("evaluator", "evaluator_error")
    assert len(trajectory.steps) == 2
    assert trajectory.final_observation is not None


@pytest.mark.parametrize("error", [UsageError("needs start_url"), NotReadyError("needs start_url")])
def test_a_task_that_cannot_be_made_is_an_error_of_its_episode(error: Any) -> None:
    trajectory, verdict = play(ScriptedPolicy(["noop()"]), ScriptedEnv(PAGES, fault=(0, error)))
    assert verdict.error is not None
    assert (verdict.error.boundary, verdict.error.kind) == ("harness", type(error).__name__)
    assert trajectory.steps == ()


def test_an_interrupt_is_nobodys_data() -> None:
    class Pressed(ScriptedPolicy):
        def act(self, observation: Observation) -> PolicyOutput:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(Pressed(["noop()"]), ScriptedEnv(PAGES))


# ------------------------------------------------------------------ what steps hold


def test_an_action_carries_what_it_points_at_in_terms_that_survive_a_reload() -> None:
    env = ScriptedEnv([PAGES[0]] * 9)
    trajectory, _ = play(ScriptedPolicy(['click("5")', 'click("77")', "noop()"]), env, max_steps=3)
    target, missing, none = (step.output.action.target for step in trajectory.steps)
    assert target is not None
    assert (target.role, target.name, target.index, target.count) == ("button", "Go", 1, 2)
    assert missing is None
    assert none is None
    assert env.actions[0].target == target, "the environment is given the described action"


def test_screenshots_are_named_by_step_and_the_policy_sees_the_name() -> None:
    policy = ScriptedPolicy(["noop()"])
    trajectory, _ = play(policy, Photographed([PAGES[0]] * 9), max_steps=2)
    names = [step.observation.screenshot_ref for step in trajectory.steps]
    assert names == ["step-000.png", "step-001.png"]
    assert trajectory.final_observation is not None
    assert trajectory.final_observation.screenshot_ref == "step-002.png"
    assert [seen.screenshot_ref for seen in policy.seen] == names
    assert "png" not in trajectory.model_dump()["steps"][0]["observation"].get("screenshot", ""), "bytes are never serialised"


def test_a_source_is_stated_by_its_producer() -> None:
    trajectory, _ = run_episode(ScriptedPolicy(["noop()"]), ScriptedEnv(PAGES), SPEC, max_steps=2, source="dream")
    assert trajectory.source == "dream"
