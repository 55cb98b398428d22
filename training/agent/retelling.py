"""Experts told again with other names, so that dreams begin on goals that nobody was ever given.

    goal "Select 5G0A and click Submit."   →   goal "Select 3R8K and click Submit."     `click-option#7`  →  `click-option#7~1`
    every page of the expert, every action of it: the same names changed for the same others (training.agent.copying)

A policy that dreams on the same few hundred goals again and again learns those goals; a world model can be asked about any page.
What this takes for granted is that a task means the same under other names, as it does where names are copied. Pages and verdict
of such an expert were never seen in a browser: what is dreamt from them cannot be replayed, and says so
(`harness.predictions.RETOLD`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.axtree import parse
from harness.predictions import RETOLD
from harness.types import Action, Trajectory
from training.agent.copying import renaming
from training.agent.rows import Sample


def retold(pool: Mapping[str, Sequence[Sample]], times: int, seed: int) -> dict[str, list[Sample]]:
    """`times` more instances for each of `pool`; none for an instance without names. A function of its arguments."""
    texts = {name: [_text(sample.trajectory) for sample in samples] for name, samples in pool.items()}
    goals = {name: samples[0].trajectory.goal for name, samples in pool.items()}
    rename = renaming([(goals[name], "\n".join(texts[name])) for name in sorted(pool)], seed, _bids(pool))
    found: dict[str, list[Sample]] = {}
    for turn in range(times):
        for number, name in enumerate(sorted(pool)):
            if change := rename(number, turn):
                told = f"{name}~{turn + 1}"
                found[told] = [_renamed(sample, turn + 1, change) for sample in pool[name]]
    return found


def _bids(pool: Mapping[str, Sequence[Sample]]) -> set[str]:
    """In lower case: those of frames look like names."""
    steps = [step for samples in pool.values() for sample in samples for step in sample.trajectory.steps]
    return {bid.lower() for step in steps for bid in parse(step.observation.axtree).by_bid}


def _text(trajectory: Trajectory) -> str:
    steps = trajectory.steps
    return "\n".join([trajectory.goal, *(step.observation.axtree for step in steps), *(step.output.action.raw for step in steps)])


def _renamed(sample: Sample, turn: int, change: Callable[[str], str]) -> Sample:
    before = sample.trajectory
    steps = tuple(
        step.model_copy(
            update={
                "observation": step.observation.model_copy(update={"axtree": change(step.observation.axtree)}),
                "output": step.output.model_copy(
                    update={"action": _acted(step.output.action, change), "text": change(step.output.text)}
                ),
            }
        )
        for step in before.steps
    )
    task = before.task.model_copy(update={"metadata": {**before.task.metadata, RETOLD: turn}})
    trajectory = before.model_copy(update={"goal": change(before.goal), "task": task, "steps": steps})
    return Sample(sample.group, f"{sample.name}~{turn}", trajectory, sample.verdict, sample.expert, sample.poisoned)


def _acted(action: Action, change: Callable[[str], str]) -> Action:
    def told(value: object) -> object:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, dict):
            return {key: one if key.endswith("bid") else told(one) for key, one in value.items()}
        return [told(one) for one in value] if isinstance(value, list | tuple) else value

    return Action.model_validate(told(action.model_dump(mode="json")))
