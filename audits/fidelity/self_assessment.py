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
    """The last question of an episode: what comes of the agent's last word, or, where it said none, of doing nothing more?"""
    past, page = outcome.history, outcome.observation
    if past and said_of(past[-1].action) is not None:
        page, action, past = past[-1].observation, past[-1].action, past[:-1]
    elif outcome.answer is not None:
        action = make_action("send_msg_to_user", {"text": outcome.answer})
    else:
        action = make_action("noop", {})
    query = WorldModelQuery(goal=outcome.goal, observation=page, action=action, history=past, site=outcome.site)
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
