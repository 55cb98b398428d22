"""Where dreams begin: the first or a middle state of a real expert trajectory.

    expert trajectory    o_0 a_0 o_1 a_1 o_2 a_2 o_3 …
    a start at k = 2     observation o_2, prefix (a_0, a_1), history ((o_0, a_0), (o_1, a_1))

The prefix is what an audit replays to stand on the same real page. DynaWeb §3.3.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from harness.errors import UsageError
from harness.predictions import PastStep
from harness.types import Action, Observation, Record, Task, Trajectory


class DreamStart(Record):
    """A real state with the way that led to it."""

    task: Task
    goal: str
    seed: int
    """Of the real episode: a replay resets its environment with it."""
    observation: Observation
    history: tuple[PastStep, ...] = ()
    expert: str = ""
    """Name of the expert's episode, to pair dreams with it."""

    @property
    def prefix_actions(self) -> tuple[Action, ...]:
        return tuple(past.action for past in self.history)


def sample_starts(
    experts: Sequence[tuple[str, Trajectory]], count: int, *, middle_share: float, rng: random.Random
) -> list[DreamStart]:
    """`count` starts from (name, trajectory) pairs, each trajectory about equally often, in random order.

    A middle state is one that the expert still acted on after at least one action; a trajectory without one gives its first.
    Raises UsageError where no trajectory has a step to begin at.
    """
    usable = [(name, trajectory) for name, trajectory in experts if trajectory.steps]
    if not usable:
        raise UsageError("there is no expert trajectory to dream from", fix="give runs of the oracle or of successful policies")
    drawn: list[tuple[str, Trajectory]] = []
    while len(drawn) < count:
        drawn += rng.sample(usable, min(len(usable), count - len(drawn)))
    return [_start(name, trajectory, middle_share, rng) for name, trajectory in drawn]


def start_at(name: str, trajectory: Trajectory, step: int) -> DreamStart:
    """The state in which the expert took its action number `step` (from 0)."""
    return DreamStart(
        task=trajectory.task,
        goal=trajectory.goal,
        seed=trajectory.seed,
        observation=trajectory.steps[step].observation,
        history=tuple(PastStep(observation=past.observation, action=past.output.action) for past in trajectory.steps[:step]),
        expert=name,
    )


def _start(name: str, trajectory: Trajectory, middle_share: float, rng: random.Random) -> DreamStart:
    middle = len(trajectory.steps) > 1 and rng.random() < middle_share
    return start_at(name, trajectory, rng.randrange(1, len(trajectory.steps)) if middle else 0)
