"""DreamEnv: a world model behind the Env protocol, so that `run_episode` plays dreams as it plays real pages.

    reset   the real page on which the dream begins
    step    an action in words the page does not know    → same page, last_action_error, as in a browser; no model is asked
            a message that ends the episode               → same page, terminated
            anything else                                 → WorldModel.predict; terminal states end it, doubt truncates it
    score   the judge's verdict on the dream and the steps that led to its start: self-assessment, never the truth (audits/
            measures how often it lies)

What the model answered is kept in each step's `metadata["prediction"]`. An answer that cannot be read breaks the dream
(EnvError, kind `malformed_prediction`): the trajectory is invalid and leaves the statistics; it is no failure of the policy.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from harness.actions import answer_of, bids_of, is_infeasible
from harness.axtree import Node, parse
from harness.errors import EnvError, JudgeError
from harness.predictions import PastStep, Prediction, WorldModelQuery
from harness.protocols import Judge, StepResult, WorldModel
from harness.types import (
    INVALID_ACTION,
    Action,
    ActionError,
    ActionErrorKind,
    EpisodeSpec,
    JsonDict,
    Observation,
    PolicyOutput,
    Step,
    Timing,
    Trajectory,
    Usage,
    Verdict,
)
from training.dream.config import DreamRules
from training.dream.starts import DreamStart
from training.dream.truncation import confidence, disagreement

CHAT_ONLY = "raw_reward"
"""Evaluator kind of benchmarks in which a message to the user is chat and ends nothing (MiniWoB++)."""


class DreamEnv:
    """One dream. `seed` tells the dreams of a group apart."""

    def __init__(self, world_model: WorldModel, judge: Judge, start: DreamStart, config: DreamRules, *, seed: int) -> None:
        self._model, self._judge, self._start, self._config, self._seed = world_model, judge, start, config, seed
        self._now = start.observation
        self._past = start.history
        self.world_model = f"{world_model.name} {world_model.version}".strip()

    def reset(self, spec: EpisodeSpec) -> tuple[str, Observation]:
        self._now, self._past = self._start.observation, self._start.history
        return self._start.goal, self._now

    def step(self, action: Action) -> StepResult:
        began = time.perf_counter()
        if error := _refused(action, self._now):
            self._now = self._now.model_copy(update={"last_action_error": error.message})
            return StepResult(self._now, error, 0.0, False, False, Timing(execute=time.perf_counter() - began))
        if is_infeasible(action) or (answer_of(action) is not None and self._start.task.evaluator.kind != CHAT_ONLY):
            return StepResult(self._now, None, 0.0, True, False, Timing(execute=time.perf_counter() - began))
        predictions = self._ask(action)
        first = predictions[0]
        if first.next_observation is None:
            raise EnvError(f"the world model's answer cannot be read: {first.malformed}", kind="malformed_prediction")
        doubt = self._doubt(predictions)
        self._past = (*self._past, PastStep(observation=self._now, action=action))
        self._now = with_bids(first.next_observation)
        return StepResult(
            observation=self._now,
            action_error=None,
            reward=0.0,
            terminated=bool(first.terminal),
            truncated=doubt["unsure"] is True and not first.terminal,
            timing=Timing(execute=time.perf_counter() - began),
            metadata={"prediction": _stored(predictions), **doubt},
        )

    def score(self, trajectory: Trajectory) -> Verdict:
        verdict = self._judge.judge(self._from_the_beginning(trajectory))
        if verdict.status not in ("success", "failure"):
            raise JudgeError(f"the judge gave no verdict on a dream: {verdict.reason}", kind="no_verdict")
        return verdict

    def close(self) -> None: ...

    def _from_the_beginning(self, trajectory: Trajectory) -> Trajectory:
        """With the expert's steps before the start: whether a goal is reached depends on all that was done for it."""
        before = tuple(
            Step(index=number, observation=past.observation, output=PolicyOutput(action=past.action))
            for number, past in enumerate(self._start.history)
        )
        dreamt = tuple(step.model_copy(update={"index": len(before) + step.index}) for step in trajectory.steps)
        return trajectory.model_copy(update={"steps": (*before, *dreamt)})

    def _ask(self, action: Action) -> list[Prediction]:
        query = WorldModelQuery(
            goal=self._start.goal if self._config.tell_goal else "",
            observation=self._now,
            action=action,
            history=self._past,
            site=self._start.task.site,
            seed=self._seed,
        )
        samples = self._config.samples if self._config.truncation == "disagreement" else 1
        return self._model.predict([query], samples)[0]

    def _doubt(self, predictions: list[Prediction]) -> JsonDict:
        """How sure the model was, and whether the dream's rule calls that too unsure to go on."""
        sure = confidence(predictions[0])
        found: JsonDict = {"confidence": sure, "unsure": False}
        if self._config.truncation == "confidence":
            if sure is None:
                raise EnvError(
                    "the world model gives no token probabilities", kind="no_logprobs", fix="truncation = disagreement"
                )
            found["unsure"] = sure < self._config.min_confidence
        elif self._config.truncation == "disagreement":
            found["disagreement"] = apart = disagreement(self._now, predictions)
            found["unsure"] = apart > self._config.max_disagreement
        return found


def with_bids(observation: Observation) -> Observation:
    """Elements that the model brought in get bids that no other element has: a policy that acts by bid needs them.

    Static texts have none in BrowserGym's trees either.
    """
    tree = parse(observation.axtree)
    if all(node.bid is not None or node.role in ("StaticText", "RootWebArea") for node in tree.nodes):
        return observation
    taken = {node.bid for node in tree.nodes}
    numbers = (str(number) for number in range(1, 10**9) if str(number) not in taken)
    nodes = tuple(
        node if node.bid is not None or node.role in ("StaticText", "RootWebArea") else node._replace(bid=next(numbers))
        for node in tree.nodes
    )
    return observation.model_copy(update={"axtree": replace(tree, nodes=nodes).to_text()})


def _refused(action: Action, now: Observation) -> ActionError | None:
    """What a browser would refuse without looking at the site: no action at all, or an element that is not on the page."""
    if action.name == INVALID_ACTION:
        return ActionError(kind="parse", message=action.error or "no action could be read")
    tree = parse(now.axtree)
    for bid in bids_of(action):
        if bid not in tree.by_bid:
            return _error("stale", f"there is no element {bid!r} on this page")
        node: Node = tree.nodes[tree.by_bid[bid]]
        if node.get("disabled") is True:
            return _error("disabled", f"element {bid!r} is disabled")
    return None


def _error(kind: ActionErrorKind, message: str) -> ActionError:
    return ActionError(kind=kind, message=message)


def _stored(predictions: Sequence[Prediction]) -> JsonDict:
    """What the step keeps of the sample that is dreamed on, at the cost of all: the next page is the next step's observation."""
    paid = predictions[0].model_copy(update={"usage": sum((said.usage for said in predictions), Usage())})
    kept: JsonDict = paid.model_dump(mode="json", exclude={"next_observation"}, exclude_defaults=True)
    return kept
