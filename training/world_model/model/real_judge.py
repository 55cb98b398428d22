"""`RealJudge`: the benchmark's own verdict on a dream that was dreamed in a real browser. The judge of `oracle` and `program`."""

from __future__ import annotations

from typing import Protocol

from harness.errors import JudgeError, RolloutError, error_info, first_line
from harness.predictions import PastStep, WorldModelQuery
from harness.types import Trajectory, Verdict
from training.world_model.model.oracle import Unreachable


class RealWorld(Protocol):
    """A world model with a real browser behind it."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def verdict(self, query: WorldModelQuery) -> Verdict: ...


class RealJudge:
    """A `harness.protocols.Judge` that never errs: it asks the world in which the dream took place."""

    def __init__(self, world: RealWorld) -> None:
        self._world = world
        self.name, self.version = f"benchmark behind {world.name}", world.version

    def judge(self, trajectory: Trajectory) -> Verdict:
        """`error` (boundary judge) where the world cannot be brought there again, or has no verdict."""
        steps = [step for step in trajectory.steps if step.action_error is None]
        if not steps:
            return self._error(JudgeError("nothing was done", kind="no_page"))
        history = [PastStep(observation=step.observation, action=step.output.action) for step in steps]
        query = WorldModelQuery(
            goal=trajectory.goal,
            observation=history[-1].observation,
            action=history[-1].action,
            history=tuple(history[:-1]),
            site=trajectory.task.site,
        )
        try:
            return self._world.verdict(query)
        except (Unreachable, RolloutError) as error:
            return self._error(JudgeError(f"the real world gave no verdict: {first_line(error)}", kind="no_verdict"))

    def _error(self, error: JudgeError) -> Verdict:
        return Verdict(status="error", scorer=self.name, scorer_version=self.version, reason=str(error), error=error_info(error))
