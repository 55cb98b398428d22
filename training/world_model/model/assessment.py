"""Is the goal reached? The question that the world model is taught to answer, asked in the same words everywhere.

    assess
    <format.prompt of: the last page, where the action is the agent's last word>        →  success | failure

DynaWeb's large model judges its own dreams by instruction; a small one learns it from real outcomes of the train split
(oracle, nearly-right, exploring and noisy runs). Asked in: training rows, predictions at an episode's end, the judge of dreams,
and the audit of self-assessment.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.actions import STOP_ACTIONS, make_action
from harness.predictions import PastStep, WorldModelQuery
from harness.types import Action, Observation
from training.world_model.formats import Format

ASSESS = "assess"
SUCCESS, FAILURE = "success", "failure"
CHOICES = (SUCCESS, FAILURE)
WAITING = "noop"


def outcome_query(
    goal: str, history: Sequence[PastStep], observation: Observation, answer: str | None, site: str
) -> WorldModelQuery:
    """The last moment of an episode as a query: the agent's answer is the action, on the last page; none: it waits."""
    action = make_action(WAITING, {}) if answer is None else make_action("send_msg_to_user", {"text": answer})
    return WorldModelQuery(goal=goal, observation=observation, action=action, history=tuple(history), site=site)


def assessment_prompt(form: Format, query: WorldModelQuery) -> str:
    """Does not depend on whether the history already holds the agent's last word."""
    history = query.history
    if history and history[-1].action.name in STOP_ACTIONS:
        query = query.model_copy(update={"history": history[:-1]})
    return f"{ASSESS}\n{form.prompt(query)}"


def ends(action: Action) -> bool:
    """Does an episode end with this action, as far as it alone can tell? Then a prediction says whether the goal is reached."""
    return action.name in STOP_ACTIONS or action.name == WAITING
