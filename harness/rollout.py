"""The only rollout loop. A browser, a dream and a replay are choices of `env` and `policy`; the loop stays the same, which is
what makes simulated and real success comparable.

    reset → (observe → act → step)* → score          phases are announced to the listener: a parent sets a wall clock on each

This is the one place where a failed rollout becomes data (harness.errors); a killed worker is the other, in harness.runner.
"""

from __future__ import annotations

import time
from typing import Protocol

from harness.actions import answer_of, bids_of, is_infeasible, said_of
from harness.axtree import describe, parse
from harness.errors import HarnessError, PolicyError, boundary, error_info
from harness.protocols import Env, Policy
from harness.types import (
    Action,
    EpisodeSpec,
    ErrorInfo,
    JsonDict,
    Observation,
    Phase,
    PolicyOutput,
    Source,
    Start,
    Step,
    StopReason,
    Trajectory,
    Verdict,
)

NO_SCORER = "none"


class Listener(Protocol):
    """Watches a rollout from outside (progress, wall clocks, partial results of a worker that dies)."""

    def phase(self, name: Phase) -> None: ...

    def goal(self, goal: str) -> None: ...

    def step(self, step: Step) -> None: ...


class Silent:
    """A listener that does not listen."""

    def phase(self, name: Phase) -> None: ...

    def goal(self, goal: str) -> None: ...

    def step(self, step: Step) -> None: ...


def run_episode(
    policy: Policy,
    env: Env,
    spec: EpisodeSpec,
    *,
    max_steps: int,
    source: Source = "real",
    listener: Listener | None = None,
) -> tuple[Trajectory, Verdict]:
    """Play one task to its end and score it once. Never raises a HarnessError: it comes back as an `error` verdict.

    An answer, the environment (terminated or truncated), a refusing site, or `max_steps` (counted in policy outputs) ends it.
    What nobody expected (a mistake of ours, KeyboardInterrupt) propagates.
    """
    run = _Rollout(policy, env, spec, max_steps, source, listener or Silent())
    try:
        return run.play()
    except HarnessError as error:  # also UsageError and NotReadyError: a task that cannot be made must not end the others' run
        return run.trajectory("error"), error_verdict(error_info(error))


class _Rollout:
    def __init__(self, policy: Policy, env: Env, spec: EpisodeSpec, max_steps: int, source: Source, listener: Listener) -> None:
        self.policy, self.env, self.spec = policy, env, spec
        self.max_steps, self.source, self.listener = max_steps, source, listener
        self.goal = spec.task.goal
        self.steps: list[Step] = []
        self.last: Observation | None = None
        self.answer: str | None = None
        self.version = ""

    def play(self) -> tuple[Trajectory, Verdict]:
        self.listener.phase("reset")
        self.goal, observation = self.env.reset(self.spec)
        self.last = named(observation, 0)
        self.listener.goal(self.goal)
        self.listener.phase("policy")
        with boundary("policy"):
            self.policy.reset(self.goal, self.spec.task, self.spec.seed)
        reason, why = self._steps()
        trajectory = self.trajectory(reason)
        if reason == "blocked":
            return trajectory, blocked_verdict(why, self.steps[-1].metadata)
        self.listener.phase("score")
        return trajectory, self.env.score(trajectory)

    def _steps(self) -> tuple[StopReason, str]:
        for index in range(self.max_steps):
            assert self.last is not None
            self.listener.phase("policy")
            started = time.perf_counter()
            with boundary("policy"):
                output = _checked(self.policy.act(self.last))
            thought = time.perf_counter() - started
            output = output.model_copy(update={"action": with_target(output.action, self.last)})
            self.version = output.policy_version or self.version
            self.listener.phase("step")
            result = self.env.step(output.action)
            step = Step(
                index=index,
                observation=self.last,
                output=output,
                action_error=result.action_error,
                reward=result.reward,
                terminated=result.terminated,
                truncated=result.truncated or index + 1 == self.max_steps,
                timing=result.timing.model_copy(update={"policy": thought}),
                metadata=result.metadata,
            )
            self.steps.append(step)
            self.last = named(result.observation, index + 1)
            self.listener.step(step)
            if (said := said_of(output.action)) is not None:
                self.answer = said
            if result.blocked:
                return "blocked", result.blocked
            if result.terminated:
                return _why_terminated(output.action), ""
            if result.truncated:
                return "truncated", ""
        return "max_steps", ""

    def trajectory(self, reason: StopReason) -> Trajectory:
        return Trajectory(
            task=self.spec.task,
            source=self.source,
            start=Start(task_id=self.spec.task.task_id),
            goal=self.goal,
            seed=self.spec.seed,
            steps=tuple(self.steps),
            final_observation=self.last,
            stop_reason=reason,
            answer=self.answer,
            producers={"policy": f"{self.policy.name} {self.version}".strip()},
        )


def _checked(output: object) -> PolicyOutput:
    """A policy may be anyone's code: what it returns is looked at before it is used."""
    if not isinstance(output, PolicyOutput):
        raise PolicyError(f"act() returned a {type(output).__name__}, not a PolicyOutput", kind="bad_output")
    return output


def _why_terminated(action: Action) -> StopReason:
    if is_infeasible(action):
        return "infeasible"
    return "stop" if answer_of(action) is not None else "terminated"


def named(observation: Observation, index: int) -> Observation:
    """Give the screenshot its file name: step-000.png is what the agent saw before its first action."""
    if observation.screenshot is None:
        return observation
    return observation.model_copy(update={"screenshot_ref": f"step-{index:03d}.png"})


def with_target(action: Action, observation: Observation) -> Action:
    """Describe what an element action points at: a bid means nothing once the page has been loaded again."""
    bids = bids_of(action)
    if action.target is not None or not bids:
        return action
    tree = parse(observation.axtree)
    target = describe(tree, bids[0]) if bids[0] in tree.by_bid else None
    return action if target is None else action.model_copy(update={"target": target})


def error_verdict(error: ErrorInfo) -> Verdict:
    return Verdict(status="error", scorer=NO_SCORER, scorer_version="", reason=f"{error.kind}: {error.message}", error=error)


def blocked_verdict(why: str, evidence: JsonDict) -> Verdict:
    return Verdict(status="blocked", scorer=NO_SCORER, scorer_version="", reason=why, evidence=evidence)
