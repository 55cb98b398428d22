"""Experts, actors and judges for dreams, without a model."""

from __future__ import annotations

from collections.abc import Sequence

from harness.actions import parse_action
from harness.rollout import run_episode
from harness.testing import ScriptedEnv, ScriptedPolicy
from harness.types import EpisodeSpec, EvaluatorSpec, PolicyOutput, Status, Task, Trajectory, Verdict
from training.dream.generate import ActRequest

PAGES = [f"RootWebArea 'Page {number}'\n\t[{number + 7}] button 'Go {number}'" for number in range(6)]


def expert(task_id: str = "t", steps: int = 4, kind: str = "state") -> Trajectory:
    task = Task(benchmark="b", task_id=task_id, sites=("shop",), evaluator=EvaluatorSpec(kind=kind))
    actions = [f"click('{number + 7}')" for number in range(steps)]
    env = ScriptedEnv(PAGES[: steps + 1], goal=f"go {steps} times")
    spec = EpisodeSpec(task=task, seed=3, order_index=0)
    return run_episode(ScriptedPolicy(actions), env, spec, max_steps=steps)[0].model_copy(update={"source": "expert"})


class Acts:
    """An Actor that does what it is told, by the number of actions it took in this dream; keeps the batches it was asked."""

    name = "acts"

    def __init__(self, *actions: str | Exception, prefix: int = 0) -> None:
        self._actions, self._prefix = actions, prefix
        self.batches: list[list[ActRequest]] = []

    def act_all(self, requests: Sequence[ActRequest]) -> list[PolicyOutput]:
        self.batches.append(list(requests))
        return [self._act(request) for request in requests]

    def _act(self, request: ActRequest) -> PolicyOutput:
        action = self._actions[min(len(request.history) - self._prefix, len(self._actions) - 1)]
        if isinstance(action, Exception):
            raise action
        return PolicyOutput(action=parse_action(action), text=action, policy_version="1")


class Judges:
    """Says success if the last page names one of `pages`."""

    name, version = "judges", "1"

    def __init__(self, *pages: str, status: Status | None = None) -> None:
        self._pages, self._status = pages, status
        self.batches: list[int] = []
        self.seen: list[Trajectory] = []

    def judge(self, trajectory: Trajectory) -> Verdict:
        return self.judge_all([trajectory])[0]

    def judge_all(self, trajectories: Sequence[Trajectory]) -> list[Verdict]:
        self.batches.append(len(trajectories))
        self.seen += trajectories
        return [self._verdict(trajectory) for trajectory in trajectories]

    def _verdict(self, trajectory: Trajectory) -> Verdict:
        assert trajectory.final_observation is not None
        reached = any(page in trajectory.final_observation.axtree for page in self._pages)
        status: Status = self._status or ("success" if reached else "failure")
        return Verdict(status=status, reward={"success": 1.0, "failure": 0.0}.get(status), scorer="judges", scorer_version="1")
