"""Lookahead: of what the policy would do, that which the world model says ends best; and never worse off for a broken model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.actions import parse_action
from harness.errors import UsageError
from harness.predictions import Prediction, WorldModelQuery
from harness.types import EvaluatorSpec, Observation, PolicyOutput, Task, Usage
from tests.training.dream.places import agent
from tests.training.model.support import checkpoint
from training.agent.lookahead import LookaheadPolicy

PAGE = Observation(url="http://x.test/", axtree="RootWebArea 'Start'\n\t[1] button 'Left'\n\t[2] button 'Right'")
TASK = Task(benchmark="b", task_id="t", evaluator=EvaluatorSpec(kind="state"))


class Actor:
    """Samples Left twice as often as Right on the first page; answers imagined pages with `then`."""

    name, version = "checkpoint:actor", "1"

    def __init__(self, then: str = "click('1')") -> None:
        self.then = then

    def act_all(self, requests: Sequence[object]) -> list[PolicyOutput]:
        found = []
        for place, request in enumerate(requests):
            first = not request.history  # type: ignore[attr-defined]
            text = ("click('1')", "click('1')", "click('2')", "rubbish")[place % 4] if first else self.then
            found.append(PolicyOutput(action=parse_action(text), text=text, usage=Usage(requests=1, completion_tokens=2)))
        return found


class Model:
    """Right leads to a page where anything wins; Left leads nowhere. `broken`: answers cannot be read."""

    name, version, assesses = "model", "1", True

    def __init__(self, broken: bool = False) -> None:
        self.broken = broken
        self.asked: list[int] = []

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        self.asked.append(len(queries))
        return [[self._one(query)] for query in queries]

    def _one(self, query: WorldModelQuery) -> Prediction:
        if self.broken:
            return Prediction(world_model="model 1", next_observation=None, malformed="rubbish")
        before = query.observation.axtree
        name = "Won" if "Half" in before else ("Half" if query.action.arguments == {"bid": "2"} else "Lost")
        page = query.observation.model_copy(update={"axtree": f"RootWebArea '{name}'\n\t[1] button 'On'"})
        return Prediction(world_model="model 1", next_observation=page, usage=Usage(requests=1, completion_tokens=5))

    def assess(self, queries: Sequence[WorldModelQuery]) -> list[float | None]:
        return [0.9 if "Won" in query.observation.axtree else 0.1 for query in queries]

    def close(self) -> None: ...


def act(model: Model, horizon: int = 2, then: str = "click('1')") -> PolicyOutput:
    policy = LookaheadPolicy.of(Actor(then), model, candidates=4, horizon=horizon)  # type: ignore[arg-type]
    policy.reset("win", TASK, 0)
    return policy.act(PAGE)


def test_the_rarer_action_wins_if_it_ends_better() -> None:
    model = Model()
    chosen = act(model)
    assert chosen.action.arguments == {"bid": "2"}
    assert model.asked == [2, 2], "two distinct readable actions, two steps each, batched"
    assert chosen.usage.completion_tokens == 4 * 2 + 2 * (5 + 2 + 5), "what was thrown away was paid for too"


def test_a_horizon_too_short_to_see_the_difference_keeps_the_usual_action() -> None:
    assert act(Model(), horizon=1).action.arguments == {"bid": "1"}


def test_a_policy_that_breaks_off_in_imagination_is_judged_where_it_stands() -> None:
    assert act(Model(), then="rubbish").action.arguments == {"bid": "1"}


def test_a_world_model_that_cannot_be_read_leaves_the_policy_as_it_was() -> None:
    assert act(Model(broken=True)).action.arguments == {"bid": "1"}


def test_real_models_by_name(tmp_path: object) -> None:
    """From checkpoints, as `--policy training.agent.lookahead:LookaheadPolicy` makes it; a mute world model is refused."""
    from pathlib import Path

    folder = Path(str(tmp_path))
    actor, model = agent(folder / "agent"), checkpoint(folder / "wm")
    policy = LookaheadPolicy(str(actor), str(model), candidates=2, horizon=1, device="cpu")
    policy.reset("win", TASK, 0)
    assert policy.act(PAGE).policy_version.endswith("edits " + policy._model.version.split()[-1])
    policy.close()
    with pytest.raises(UsageError, match="does not say whether"):
        LookaheadPolicy(str(actor), str(checkpoint(folder / "mute", assesses=False)))
