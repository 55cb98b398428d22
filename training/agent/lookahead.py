"""Lookahead at inference: candidates of a policy are tried in a world model, and the one that ends best is acted on. No update.

    page ─ k samples of the policy ─ distinct actions ─┬─ imagined page ─ policy ─ … `horizon` steps ─ P(goal reached)
                                                       └─ the highest wins; at a tie the more often sampled one

The baseline that ITL and WebDreamer (Gu et al. 2024, arXiv 2411.06559) stand for, with this project's models: it costs
world-model tokens at every real step and teaches the policy nothing.

    # lookahead.toml: a file for --policy
    name = "training.agent.lookahead:LookaheadPolicy"
    [options]
    checkpoint = "checkpoints/agent"
    world_model = "checkpoints/wm"

Where this differs from WebDreamer: candidates are not refined by a second prompt, and the value is the world model's own
probability that the goal is reached after `horizon` steps, not a language model's graded opinion of progress.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from harness.actions import is_infeasible, make_action
from harness.errors import UsageError
from harness.predictions import PastStep, Prediction, WorldModelQuery
from harness.protocols import WorldModel
from harness.types import INVALID_ACTION, Observation, PolicyOutput, Task, Usage
from training.agent.policy import CheckpointActor, PageRequest, load_actor
from training.world_model.model import load
from training.world_model.model.assessment import ends
from training.world_model.model.judge import Assessor
from training.world_model.model.loading import judge_of

WAIT = make_action("noop", {})
"""The action of a query that asks how things stand."""


@dataclass
class _Branch:
    """A candidate and the dream that follows it."""

    first: PolicyOutput
    samples: int
    query: WorldModelQuery
    """The step that is being imagined."""
    over: bool = False
    broken: bool = False
    usage: Usage = field(default_factory=Usage)


class LookaheadPolicy:
    """`harness.protocols.Policy`. Greedy in what it imagines; candidates are sampled at `temperature`."""

    def __init__(
        self,
        checkpoint: str,
        world_model: str,
        candidates: int = 5,
        horizon: int = 2,
        temperature: float = 1.0,
        device: str = "auto",
        threads: int = 1,
    ) -> None:
        """Raises UsageError for a world model that does not say whether goals are reached, or counts below 1."""
        import torch

        if candidates < 1 or horizon < 1:
            raise UsageError("lookahead needs at least one candidate and one step", fix="candidates and horizon from 1")
        torch.set_num_threads(threads)
        model = load(world_model)
        judge_of(model)
        self._begin(load_actor(checkpoint, temperature=temperature, device=device), model, candidates, horizon)

    @classmethod
    def of(cls, actor: CheckpointActor, model: WorldModel, candidates: int = 5, horizon: int = 2) -> LookaheadPolicy:
        """From models in memory."""
        policy = cls.__new__(cls)
        policy._begin(actor, model, candidates, horizon)
        return policy

    def _begin(self, actor: CheckpointActor, model: WorldModel, candidates: int, horizon: int) -> None:
        self._actor, self._model, self._candidates, self._horizon = actor, model, candidates, horizon
        self._assessor = cast(Assessor, model)
        self.name = f"lookahead:{actor.name.removeprefix('checkpoint:')}"
        self._version = f"{actor.version} in {model.name} {model.version}".strip()
        self._goal, self._site, self._seed, self._past = "", "", 0, tuple[PastStep, ...]()

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._goal, self._site, self._seed, self._past = goal, task.site, seed, ()

    def act(self, observation: Observation) -> PolicyOutput:
        """The candidate that ends best. Where none can be imagined, the one that was sampled most often."""
        seeds = [(self._seed + len(self._past) * self._candidates + k) % 2**31 for k in range(self._candidates)]
        sampled = self._actor.act_all([PageRequest(self._goal, observation, self._past, seed) for seed in seeds])
        branches = self._branches(observation, sampled)
        for depth in range(self._horizon):
            live = [branch for branch in branches if not branch.over]
            if live:
                self._imagine(live, last=depth + 1 == self._horizon)
        chosen = self._best(branches) if len(branches) > 1 else (branches[0].first if branches else sampled[0])
        usage = sum((output.usage for output in sampled), Usage()) + sum((branch.usage for branch in branches), Usage())
        chosen = chosen.model_copy(update={"usage": usage, "policy_version": self._version})
        self._past = (*self._past, PastStep(observation=observation, action=chosen.action))
        return chosen

    def close(self) -> None:
        self._model.close()

    def _branches(self, observation: Observation, sampled: Sequence[PolicyOutput]) -> list[_Branch]:
        """One per distinct readable action, the most often sampled first."""
        found: dict[str, _Branch] = {}
        for output in sampled:
            if output.action.name == INVALID_ACTION:
                continue
            key = f"{output.action.name} {sorted(output.action.arguments.items(), key=lambda pair: pair[0])}"
            if key in found:
                found[key].samples += 1
                continue
            found[key] = _Branch(output, 1, self._query(observation, output, self._past))
        return sorted(found.values(), key=lambda branch: -branch.samples)

    def _query(self, page: Observation, output: PolicyOutput, past: tuple[PastStep, ...]) -> WorldModelQuery:
        return WorldModelQuery(
            goal=self._goal, observation=page, action=output.action, history=past, site=self._site, seed=self._seed
        )

    def _imagine(self, live: list[_Branch], *, last: bool) -> None:
        """One imagined step of every branch, and the policy's answer to it."""
        for branch in live:
            branch.over = ends(branch.query.action) or is_infeasible(branch.query.action)
        asked = [branch for branch in live if not branch.over]
        for branch, (said, *_) in zip(
            asked, self._model.predict([branch.query for branch in asked]) if asked else (), strict=True
        ):
            self._follow(branch, said, last)
        going = [branch for branch in asked if not branch.over]
        requests = [PageRequest(self._goal, b.query.observation, b.query.history, self._seed) for b in going]
        for branch, output in zip(going, self._actor.act_all(requests) if going else (), strict=True):
            branch.usage = branch.usage + output.usage
            branch.over = output.action.name == INVALID_ACTION
            branch.query = branch.query.model_copy(update={"action": WAIT if branch.over else output.action})

    @staticmethod
    def _follow(branch: _Branch, said: Prediction, last: bool) -> None:
        branch.usage = branch.usage + said.usage
        if said.next_observation is None:
            branch.over = branch.broken = True
            return
        query = branch.query
        past = (*query.history, PastStep(observation=query.observation, action=query.action))
        branch.query = query.model_copy(update={"observation": said.next_observation, "history": past})
        branch.over = last or said.terminal is True
        if branch.over:
            branch.query = branch.query.model_copy(update={"action": WAIT})

    def _best(self, branches: Sequence[_Branch]) -> PolicyOutput:
        judged = [branch for branch in branches if not branch.broken]
        if not judged:
            return branches[0].first
        values = self._assessor.assess([branch.query for branch in judged])
        ranked = [(-1.0 if value is None else value, -place) for place, value in enumerate(values)]
        return judged[-max(ranked)[1]].first
