"""Is the world model right about success? Its own reward for real episodes whose outcome is known.

outcome (history, last page, answer, success)  →  query: the answer is the action, on the last page
                                                  (noop where the episode ended without one)
Prediction.self_assessed_reward  beside  success  →  precision, recall, Brier, ECE, AUROC
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from audits.fidelity.answers import Answers, Progress, Question, silent
from audits.fidelity.calibration import Stated
from harness.actions import make_action, said_of
from harness.predictions import PastStep, WorldModelQuery
from harness.types import JsonDict, Observation


class Outcome(Protocol):
    """How one real episode ended."""

    @property
    def goal(self) -> str: ...

    @property
    def site(self) -> str: ...

    @property
    def history(self) -> tuple[PastStep, ...]: ...

    @property
    def observation(self) -> Observation: ...

    @property
    def answer(self) -> str | None: ...

    @property
    def success(self) -> bool: ...

    @property
    def provenance(self) -> JsonDict: ...


def outcome_question(outcome: Outcome) -> Question:
    """The last moment of an episode: the agent's last word on the last page; where it said none, it waits."""
    past = outcome.history
    if past and said_of(past[-1].action) is not None:
        past = past[:-1]
    said = outcome.answer
    action = make_action("noop", {}) if said is None else make_action("send_msg_to_user", {"text": said})
    query = WorldModelQuery(goal=outcome.goal, observation=outcome.observation, action=action, history=past, site=outcome.site)
    return f"outcome {outcome.provenance.get('run', '')}/{outcome.provenance.get('episode', '')}", query


def assess(outcomes: Sequence[Outcome], answers: Answers, progress: Progress = silent) -> tuple[list[Stated], int]:
    """What the model stated for each outcome, and for how many it stated nothing."""
    rows = answers.answer([outcome_question(outcome) for outcome in outcomes], progress)
    stated: list[Stated] = []
    silent_ones = 0
    for outcome, row in zip(outcomes, rows, strict=True):
        p = row.predictions[0].self_assessed_reward if row else None
        if p is None or not 0 <= p <= 1:
            silent_ones += row is not None
        else:
            stated.append(Stated(p, outcome.success, str(outcome.provenance.get("template", ""))))
    return stated, silent_ones
