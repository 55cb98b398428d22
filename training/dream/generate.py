"""Make dreams: group_size dreams from each start, all of them side by side, each by `run_episode`.

    plan_dreams(starts, config)                          →  PlannedDream …   group_size per start, each with a seed and a name
    plan_groups([(start, size, seed) …])                 →  PlannedDream …   as many per start as a training asks for
    dream(planned, actor, world_model, judge, config)  →  Dream …          (trajectory, verdict), in order

The policy is asked through an `Actor`, which answers a batch of pages at once; the world model and the judge are batched already
or asked one by one. Seeds: dream m of start g draws from (config.seed, g, m), so that dreams are the same in any batch size that
the models themselves do not care about.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol, runtime_checkable

from harness.predictions import PastStep, Prediction, WorldModelQuery
from harness.protocols import Judge, WorldModel
from harness.rollout import run_episode
from harness.types import EpisodeSpec, Observation, PolicyOutput, Record, Start, Task, Trajectory, Verdict
from training.dream.config import DreamConfig, DreamRules
from training.dream.env import DreamEnv
from training.dream.meeting import Meeting
from training.dream.starts import DreamStart


class ActRequest(Record):
    """One page that a policy is to answer, with what it saw before."""

    goal: str
    observation: Observation
    history: tuple[PastStep, ...] = ()
    """Oldest first, the way to a dream's start included."""
    seed: int


class Actor(Protocol):
    """A policy without memory of its own, asked in batches."""

    name: str

    def act_all(self, requests: Sequence[ActRequest]) -> list[PolicyOutput]:
        """One output each, in order. A reply without a readable action is an `invalid` Action, not an exception."""


@runtime_checkable
class BatchJudge(Protocol):
    """A Judge that reads many trajectories at once."""

    def judge_all(self, trajectories: Sequence[Trajectory]) -> list[Verdict]: ...


class PlannedDream(NamedTuple):
    """A dream to be dreamt. Dreams of one `group` begin alike: advantages are taken over them."""

    group: int
    member: int
    start: DreamStart
    spec: EpisodeSpec


class Dream(NamedTuple):
    """A dream that was dreamt."""

    planned: PlannedDream
    trajectory: Trajectory
    verdict: Verdict


def plan_dreams(starts: Sequence[DreamStart], config: DreamConfig) -> list[PlannedDream]:
    """Dreams of one task are its repeats, numbered through all its starts, so that each has a name of its own in a run."""
    return plan_groups([(start, config.group_size, f"{config.seed}/{group}") for group, start in enumerate(starts)])


def plan_groups(groups: Sequence[tuple[DreamStart, int, str]]) -> list[PlannedDream]:
    """Groups of any size: (start, dreams, seed of the group). Numbered as `plan_dreams` numbers them."""
    dreams_of: Counter[str] = Counter()
    planned: list[PlannedDream] = []
    for group, (start, size, seed) in enumerate(groups):
        for member in range(size):
            digest = hashlib.sha256(f"{seed}/{member}".encode()).digest()
            spec = EpisodeSpec(
                task=start.task,
                repeat=dreams_of[start.task.task_id],
                seed=int.from_bytes(digest[:4], "big") // 2,  # below 2**31, as every seed here
                order_index=len(planned),
            )
            dreams_of[start.task.task_id] += 1
            planned.append(PlannedDream(group, member, start, spec))
    return planned


def dream(
    planned: Sequence[PlannedDream],
    actor: Actor,
    world_model: WorldModel,
    judge: Judge,
    config: DreamRules,
    *,
    on_done: Callable[[Dream], None] | None = None,
) -> list[Dream]:
    """All `planned` dreams side by side, in their order. `on_done` is called for each as it ends, by one thread at a time.

    A model that breaks gives `error` verdicts, which are no rewards; what nobody expected (a mistake of ours) propagates.
    """
    meeting = Meeting(
        len(planned),
        {
            "world model": lambda requests: _predict(world_model, requests),
            "policy": lambda requests: actor.act_all(requests),
            "judge": lambda trajectories: _judge(judge, trajectories),
        },
    )

    telling = threading.Lock()

    def play(number: int) -> Dream:
        seat = planned[number]
        try:
            asking = _AskedModel(meeting, number, world_model)
            env = DreamEnv(asking, _AskedJudge(meeting, number, judge), seat.start, config, seed=seat.spec.seed)
            policy = _AskedPolicy(meeting, number, actor, seat.start)
            trajectory, verdict = run_episode(policy, env, seat.spec, max_steps=config.dream_length, source="dream")
        finally:
            meeting.leave()
        finished = Dream(seat, _named(trajectory, seat.start, env, judge), _noted(verdict, seat))
        if on_done:
            with telling:
                on_done(finished)
        return finished

    if not planned:
        return []
    with ThreadPoolExecutor(len(planned), thread_name_prefix="dream") as pool:
        return list(pool.map(play, range(len(planned))))


class _AskedPolicy:
    """The Policy protocol over a meeting; remembers the pages that an Actor is told."""

    def __init__(self, meeting: Meeting, member: int, actor: Actor, start: DreamStart) -> None:
        self.name = actor.name
        self._meeting, self._member, self._past = meeting, member, start.history

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._goal, self._seed, self._turn = goal, seed, 0

    def act(self, observation: Observation) -> PolicyOutput:
        request = ActRequest(goal=self._goal, observation=observation, history=self._past, seed=(self._seed + self._turn) % 2**31)
        self._turn += 1
        output: PolicyOutput = self._meeting.ask(self._member, "policy", request)
        self._past = (*self._past, PastStep(observation=observation, action=output.action))
        return output

    def close(self) -> None: ...


class _AskedModel:
    """The WorldModel protocol over a meeting."""

    def __init__(self, meeting: Meeting, member: int, model: WorldModel) -> None:
        self.name, self.version = model.name, model.version
        self._meeting, self._member = meeting, member

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        return [self._meeting.ask(self._member, "world model", (query, samples)) for query in queries]

    def close(self) -> None: ...


class _AskedJudge:
    """The Judge protocol over a meeting."""

    def __init__(self, meeting: Meeting, member: int, judge: Judge) -> None:
        self.name, self.version = judge.name, judge.version
        self._meeting, self._member = meeting, member

    def judge(self, trajectory: Trajectory) -> Verdict:
        verdict: Verdict = self._meeting.ask(self._member, "judge", trajectory)
        return verdict


def _predict(model: WorldModel, asked: Sequence[tuple[WorldModelQuery, int]]) -> list[list[Prediction]]:
    samples = max(number for _, number in asked)
    answers = model.predict([query for query, _ in asked], samples)
    return [found[:number] for found, (_, number) in zip(answers, asked, strict=True)]


def _judge(judge: Judge, trajectories: Sequence[Trajectory]) -> list[Verdict]:
    if isinstance(judge, BatchJudge):
        return judge.judge_all(trajectories)
    return [judge.judge(trajectory) for trajectory in trajectories]


def _named(trajectory: Trajectory, start: DreamStart, env: DreamEnv, judge: Judge) -> Trajectory:
    """The trajectory as it is stored: under its real task and start, with everyone who had a hand in it."""
    return trajectory.model_copy(
        update={
            "task": start.task,
            "seed": start.seed,
            "start": Start(task_id=start.task.task_id, prefix_actions=start.prefix_actions),
            "producers": {
                **trajectory.producers,
                "world_model": env.world_model,
                "judge": f"{judge.name} {judge.version}".strip(),
                "expert": start.expert,
            },
        }
    )


def _noted(verdict: Verdict, seat: PlannedDream) -> Verdict:
    """Where in the set this dream belongs: an audit of updates needs its group, an audit of starts its step."""
    dream_of = {"group": seat.group, "member": seat.member, "expert": seat.start.expert, "start_step": len(seat.start.history)}
    return verdict.model_copy(update={"evidence": {**verdict.evidence, "dream": dream_of}})
