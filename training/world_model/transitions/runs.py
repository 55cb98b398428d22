"""Our own rollouts as raw episodes: run directories (`harness run`, `harness explore`), and exports of their transitions.

An oracle's rollouts are expert data (`results.transitions.source_of`); an explorer's steps have the goal that a hindsight
label gives them, or none. A step after which nothing was seen (the browser broke, a clock ran out) is a row all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from harness.types import Episode, JsonDict, Transition
from results.labels import HindsightLabel, read_labels
from results.reader import RunReader
from results.transitions import episode_transitions, played
from training.world_model.transitions.lines import BadRow, Group, Row, file_facts, groups, text_of
from training.world_model.transitions.raw import Advance, RawEpisode, RawOutcome, RawStep, Unreadable

LABELER = "rules-1"
"""Whose hindsight labels name what a walk did; written by `harness explore`."""

_OF_A_STEP = frozenset({"step", "action", "action_error", "change", "changed", "left_the_sites", "terminated", "why"})


class RunSource:
    """A run directory: the last attempt of every planned episode. Raises UsageError if no run lies there."""

    kind = "run"

    def __init__(self, directory: Path) -> None:
        self.name = directory.name
        self._reader = RunReader.open(directory)
        self.total = sum(row.final for row in self._reader.latest().values())

    def facts(self) -> JsonDict:
        manifest = self._reader.manifest
        return {
            "run_id": manifest.run_id,
            "benchmark": manifest.benchmark,
            "policy": f"{manifest.policy} {manifest.policy_version}".strip(),
            "task_set_hash": manifest.task_set_hash,
            "episodes": self.total,
        }

    def episodes(self, scratch: Path, advance: Advance) -> Iterator[RawEpisode | Unreadable]:
        labels: dict[str, list[HindsightLabel]] = {}
        for label in sorted(read_labels(self._reader.directory, LABELER), key=lambda label: label.steps):
            labels.setdefault(label.episode_id, []).append(label)
        for episode in played(self._reader):
            yield _of_run(episode, self._reader.manifest.policy, labels.get(episode.spec.episode_id, ()))
            advance(1)
        for episode_id, why in self._reader.unreadable().items():
            yield Unreadable("unreadable_episode", why, {"run": self._reader.manifest.run_id, "episode": episode_id})


class TransitionsSource:
    """A file that `harness export --format transitions` wrote, or several such files one after the other."""

    kind = "transitions"

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.total = path.stat().st_size
        self._path = path

    def facts(self) -> JsonDict:
        return file_facts(self._path)

    def episodes(self, scratch: Path, advance: Advance) -> Iterator[RawEpisode | Unreadable]:
        for group in groups(self._path, scratch, _locate, advance):
            if isinstance(group, Unreadable):
                yield group
                continue
            for number in group.repeated:
                yield Unreadable("repeated_step", f"episode {group.episode}", {"file": self.name, "line": number})
            yield from self._read(group)

    def _read(self, group: Group) -> Iterator[RawEpisode | Unreadable]:
        found = []
        for row, number in zip(group.rows, group.numbers, strict=True):
            try:
                found.append(Transition.model_validate(row))
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False, include_context=False)[0]
                where = ".".join(map(str, first["loc"]))
                yield Unreadable("unreadable_line", f"{where}: {first['msg']}", {"file": self.name, "line": number})
        if found:
            yield _of_transitions(found)


def is_transition(row: Row) -> bool:
    """Is this a row of an export of transitions?"""
    return {"observation", "action", "next_observation", "provenance"} <= row.keys()


def _locate(row: Row) -> tuple[str, int]:
    provenance = row.get("provenance")
    if not is_transition(row) or not isinstance(provenance, dict):
        raise BadRow("not a transition: it has no observation, action, next_observation and provenance")
    step = provenance.get("step")
    if not isinstance(step, int) or isinstance(step, bool):
        raise BadRow("its provenance has no step")
    return f"{text_of(provenance, 'run')}/{text_of(provenance, 'episode')}", step


def _of_run(episode: Episode, policy: str, labels: Sequence[HindsightLabel]) -> RawEpisode:
    found = {t.provenance["step"]: t for t in episode_transitions(episode, policy, labels=labels)}
    task, trajectory = episode.spec.task, episode.trajectory
    shared: JsonDict = {
        "run": episode.run_id,
        "episode": episode.spec.episode_id,
        "benchmark": task.benchmark,
        "task_id": task.task_id,
        "template": task.cluster,
        "split": str(task.metadata.get("split", "")),
        "held_out_site": task.metadata.get("held_out_site") is True,
        "site": task.site,
        "status": episode.verdict.status,
    }
    for transition in found.values():
        shared = _shared(transition)
        break
    steps = tuple(
        _step(found[step.index])
        if step.index in found
        else RawStep(
            step.index,
            step.observation,
            step.output.action,
            None,
            problem="missing_observation",
            detail="nothing was seen after the action",
            provenance={"step": step.index, "action": step.output.action.name},
        )
        for step in trajectory.steps
    )
    last = trajectory.final_observation or (trajectory.steps[-1].observation if trajectory.steps else None)
    scored = episode.verdict.status in ("success", "failure") and last is not None
    outcome = RawOutcome(last, trajectory.answer, episode.verdict.status == "success") if scored and last else None
    return RawEpisode(task.site, task.sites, trajectory.goal, shared, steps, outcome)


def _of_transitions(found: list[Transition]) -> RawEpisode:
    shared = _shared(found[0])
    site = str(shared.get("site", ""))
    return RawEpisode(site, (site,), found[0].goal, shared, tuple(_step(t) for t in found))


def _shared(transition: Transition) -> JsonDict:
    return {key: value for key, value in transition.provenance.items() if key not in _OF_A_STEP}


def _step(transition: Transition) -> RawStep:
    own = {key: value for key, value in transition.provenance.items() if key in _OF_A_STEP}
    index = own.get("step")
    return RawStep(
        index if isinstance(index, int) else 0,
        transition.observation,
        transition.action,
        transition.next_observation,
        transition.goal,
        provenance=own,
    )
