"""A stored dream → a Script: what is to be done, step by step, in terms that hold on a page that was loaded anew.

    Trajectory ── steps ──▶ Cue   action without bids, a descriptor for each element it needs, the page it was dreamed on
               └ start.prefix_actions ─▶ cues without a page: executed to reach the dream's first page
A dream that cannot be executed as it was dreamed has a `problem`: it is counted as inconclusive, and no browser is started.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.actions import bids_of
from harness.actions.space import ACTION_SPACE
from harness.axtree import describe, parse
from harness.predictions import RETOLD
from harness.types import Action, Episode, Observation, Record, TargetDescriptor, Task, Trajectory

MISSING_DESCRIPTOR, SITE_VERSION, EMPTY_DREAM, UNKNOWN_TASK = "missing_descriptor", "site_version", "empty_dream", "unknown_task"
RETOLD_GOAL = "retold_goal"
Cause = str


class Cue(Record):
    """One action of the dream."""

    action: Action
    targets: tuple[TargetDescriptor | None, ...] = ()
    """One per element parameter, in the signature's order; None: the element was on no dreamed page."""
    observation: Observation | None = None
    """The dreamed page that it acts on; None for a prefix action."""
    failed: bool = False
    """The dream itself says that this action had no effect."""


class Script(Record):
    """What a replay executes and compares with."""

    task: Task
    prefix: tuple[Cue, ...] = ()
    cues: tuple[Cue, ...] = ()
    final: Observation | None = None
    answer: str | None = None
    problem: str = ""
    """Why it cannot be replayed (a word for counting); empty if it can."""
    detail: str = ""

    def page(self, number: int) -> Observation | None:
        """Dreamed page 1 … T+1; None where the dream has none."""
        if 1 <= number <= len(self.cues):
            return self.cues[number - 1].observation
        return self.final if number == len(self.cues) + 1 else None


def script_of(trajectory: Trajectory, today: Task | None = None) -> Script:
    """The script of a stored trajectory. `today`: the task as it is now; None where it no longer exists."""
    cues = tuple(_cue(step.output.action, step.observation, step.action_error is not None) for step in trajectory.steps)
    script = Script(
        task=trajectory.task,
        prefix=tuple(_cue(action, None, False) for action in trajectory.start.prefix_actions),
        cues=cues,
        final=trajectory.final_observation,
        answer=trajectory.answer,
    )
    problem, detail = _problem(script, today)
    return script.model_copy(update={"problem": problem, "detail": detail})


def dream_id(episode: Episode) -> str:
    """What names a dream across runs."""
    return f"{episode.run_id}/{episode.spec.episode_id}"


def _problem(script: Script, today: Task | None) -> tuple[str, str]:
    if today is None:
        return UNKNOWN_TASK, f"there is no task {script.task.task_id} today"
    if _content(today) != _content(script.task):
        return SITE_VERSION, f"task {today.task_id} is not what it was when this was dreamed"
    if RETOLD in script.task.metadata:
        return RETOLD_GOAL, "the names on its first page were changed: no browser has that page"
    if not script.cues:
        return EMPTY_DREAM, "it has no action"
    for number, cue in enumerate((*script.prefix, *script.cues)):
        if None in cue.targets and not cue.failed:
            return MISSING_DESCRIPTOR, f"action {number + 1} ({cue.action.name}) does not say what it points at"
    return "", ""


def _content(task: Task) -> dict[str, object]:
    return task.model_dump(exclude={"metadata", "known_problems", "depends_on"})


def _cue(action: Action, observation: Observation | None, failed: bool) -> Cue:
    return Cue(action=action, targets=_targets(action, observation), observation=observation, failed=failed)


def _targets(action: Action, observation: Observation | None) -> tuple[TargetDescriptor | None, ...]:
    """The stored descriptor is of the first element; of a second one the dreamed page tells."""
    bids = bids_of(action)
    if not bids:
        return ()
    tree = parse(observation.axtree) if observation is not None and (action.target is None or len(bids) > 1) else None
    described: list[TargetDescriptor | None] = [
        describe(tree, bid) if tree is not None and bid in tree.by_bid else None for bid in bids
    ]
    if action.target is not None:
        described[0] = action.target
    return tuple(described)


def with_bids(action: Action, bids: Sequence[str]) -> Action:
    """The action pointing at these elements of the real page."""
    names = ACTION_SPACE[action.name].bid_parameters
    arguments = {**action.arguments, **dict(zip(names, bids, strict=False))}
    return action.model_copy(update={"arguments": arguments, "target": None})
