"""`SelfJudge`: a world model grades dreams, as a rule those that it made (DynaWeb §3.3). Its verdict is a claim, never the truth.

raw_reward = P(success) ∈ [0, 1];   reward = 1 from `threshold` on, else 0.   audits/ measures how often it is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.errors import JudgeError, NotReadyError, error_info
from harness.predictions import PastStep, WorldModelQuery
from harness.types import Trajectory, Verdict
from training.world_model.model.assessment import outcome_query


class Assessor(Protocol):
    """A world model that says whether goals are reached."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def assess(self, queries: Sequence[WorldModelQuery]) -> list[float | None]: ...

    def assessment_text(self, query: WorldModelQuery) -> str: ...


class SelfJudge:
    """A `harness.protocols.Judge`."""

    name = "self-assessment"

    def __init__(self, assessor: Assessor, threshold: float = 0.5) -> None:
        self._assessor, self._threshold = assessor, threshold
        self.version = f"1 {assessor.name} {assessor.version}"

    def judge(self, trajectory: Trajectory) -> Verdict:
        """`error` (boundary judge) where the dream shows no last page or the model cannot be asked: never a failure."""
        return self.judge_all([trajectory])[0]

    def judge_all(self, trajectories: Sequence[Trajectory]) -> list[Verdict]:
        """One verdict each, in order; the model is asked once for all."""
        queries = [_query(trajectory) for trajectory in trajectories]
        shown = [query for query in queries if query is not None]
        try:
            found = iter(self._assessor.assess(shown) if shown else [])
        except NotReadyError as error:
            down = self._error(JudgeError(f"the world model cannot be asked: {error}", kind="not_ready", fix=error.fix))
            return [self._no_page() if query is None else down for query in queries]
        return [self._no_page() if query is None else self._verdict(query, next(found)) for query in queries]

    def _verdict(self, query: WorldModelQuery, p: float | None) -> Verdict:
        if p is None:
            return self._error(JudgeError("the world model gave neither verdict", kind="unreadable"))
        success = p >= self._threshold
        return Verdict(
            status="success" if success else "failure",
            reward=float(success),
            raw_reward=p,
            threshold=self._threshold,
            scorer=self.name,
            scorer_version=self.version,
            reason=f"P(success) = {p:.3f} by the judgement of {self._assessor.name}",
            evidence={"prompt": self._assessor.assessment_text(query), "reply": {"success": p, "failure": 1.0 - p}},
        )

    def _no_page(self) -> Verdict:
        return self._error(JudgeError("the trajectory shows no page", kind="no_page"))

    def _error(self, error: JudgeError) -> Verdict:
        return Verdict(status="error", scorer=self.name, scorer_version=self.version, reason=str(error), error=error_info(error))


def _query(trajectory: Trajectory) -> WorldModelQuery | None:
    """None where the trajectory shows no last page."""
    page = trajectory.final_observation or (trajectory.steps[-1].observation if trajectory.steps else None)
    if page is None:
        return None
    history = [PastStep(observation=step.observation, action=step.output.action) for step in trajectory.steps]
    return outcome_query(trajectory.goal, history, page, trajectory.answer, trajectory.task.site)
