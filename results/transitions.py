"""A run's episodes as training data: one line per transition, or one per trajectory. Streamed, one episode in memory.

    transitions(reader)   harness.types.Transition        (o_t, a_t, o_t+1) with where it comes from
    trajectories(reader)  TrajectoryRow                   a whole rollout, its outcome and its split
    hindsight(reader, …)  TrajectoryRow                   the beginning of a walk, under the goal that it reached

Only the last attempt of each planned episode counts, and none that was interrupted. A run's own data are read, never changed.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Literal

from harness.axtree import Tree, normalise, parse
from harness.types import Episode, JsonDict, Observation, Record, Source, Status, Step, Trajectory, Transition
from results.files import disk_errors, fsync_directory
from results.labels import HindsightLabel
from results.reader import RunReader

EXPORT_SCHEMA_VERSION = 1
EXPERTS = frozenset({"oracle"})
"""Policies whose rollouts show how it is done."""
EXPLORERS = frozenset({"explore"})
"""Policies that pursue no task: the goal of the episode they walked in says nothing about what they did."""

Change = Literal["none", "focus", "page", "url"]
"""What became of the page: nothing, only where the focus is, its content, or its address (URL or tabs)."""


class TrajectoryRow(Record):
    """One line of an export of trajectories."""

    schema_version: int = EXPORT_SCHEMA_VERSION
    run_id: str
    episode_id: str
    site: str
    template: str
    """`Task.cluster`: split by this, never by row."""
    split: str
    """The benchmark's own (`train`, `dev`, `test`), empty where it has none."""
    held_out_site: bool
    status: Status
    """Of a hindsight row always `inconclusive`: the goal is a label, nobody scored it."""
    reward: float | None
    label: HindsightLabel | None = None
    trajectory: Trajectory


def change_of(before: Observation, after: Observation) -> Change:
    """Compares what the trees say: not bids, not layout."""
    if before.url != after.url or before.open_pages != after.open_pages or before.active_page_index != after.active_page_index:
        return "url"
    if before.axtree == after.axtree:
        return "none"
    a, b = parse(before.axtree), parse(after.axtree)
    if _content(a, ()) != _content(b, ()):
        return "focus" if _content(a, ("focused",)) == _content(b, ("focused",)) else "page"
    return "none"


def transitions(
    reader: RunReader,
    *,
    source: Source | None = None,
    only_success: bool = False,
    labels: Sequence[HindsightLabel] = (),
) -> Iterator[Transition]:
    """Every transition of the run in the order in which episodes finished, failed actions included.

    `goal` is the episode's; of an explorer's walk it is the goal of the first label that needs the step, else empty.
    """
    by_episode = _by_episode(labels)
    for episode in played(reader, only_success):
        found = by_episode.get(episode.spec.episode_id, ())
        yield from episode_transitions(episode, reader.manifest.policy, source=source, labels=found)


def episode_transitions(
    episode: Episode, policy: str, *, source: Source | None = None, labels: Sequence[HindsightLabel] = ()
) -> Iterator[Transition]:
    """As `transitions`, for one episode that the policy of this name played; `labels` are the episode's own."""
    explored = policy in EXPLORERS
    origin = source or source_of(policy, episode.trajectory)
    for step, following in pairs(episode.trajectory):
        goal = episode.trajectory.goal
        if explored:
            goal = next((label.goal for label in labels if step.index in label.needed_steps), "")
        yield Transition(
            goal=goal,
            observation=step.observation,
            action=step.output.action,
            next_observation=following,
            provenance=_provenance(episode, step, following, origin, explored),
        )


def trajectories(reader: RunReader, *, source: Source | None = None, only_success: bool = False) -> Iterator[TrajectoryRow]:
    """Every trajectory of the run with its outcome, in the order in which episodes finished."""
    for episode in played(reader, only_success):
        origin = source or source_of(reader.manifest.policy, episode.trajectory)
        trajectory = episode.trajectory.model_copy(update={"source": origin})
        yield _row(episode, trajectory, episode.verdict.status, episode.verdict.reward, None)


def hindsight(
    reader: RunReader, labels: Sequence[HindsightLabel], *, source: Source | None = None, only_success: bool = False
) -> Iterator[TrajectoryRow]:
    """For every label the steps that reach its goal, as a trajectory of its own that ends there."""
    by_episode = _by_episode(labels)
    for episode in played(reader, only_success):
        for label in by_episode.get(episode.spec.episode_id, ()):
            whole = episode.trajectory
            following = [step.observation for step in whole.steps[1:]] + [whole.final_observation]
            if not 0 < label.steps <= len(whole.steps):
                continue
            update = {
                "goal": label.goal,
                "steps": whole.steps[: label.steps],
                "final_observation": following[label.steps - 1],
                "stop_reason": "stop",
                "answer": None,
                "source": source or whole.source,
                "producers": {**whole.producers, "labeler": label.labeler},
            }
            yield _row(episode, whole.model_copy(update=update), "inconclusive", None, label)


def source_of(policy: str, trajectory: Trajectory) -> Source:
    """An oracle's rollouts are expert data; all others are what their producer said."""
    return "expert" if policy in EXPERTS and trajectory.source == "real" else trajectory.source


def pairs(trajectory: Trajectory) -> Iterator[tuple[Step, Observation]]:
    """Each step with the observation after it; a last step after which nothing was seen any more is left out."""
    steps = trajectory.steps
    for number, step in enumerate(steps):
        following = steps[number + 1].observation if number + 1 < len(steps) else trajectory.final_observation
        if following is not None:
            yield step, following


def write_lines(path: Path, rows: Iterable[Record]) -> int:
    """One JSON object a line, compressed if the name ends in .gz; `path` appears, or is replaced, only when all is written.

    Returns the number of lines. Equal rows give equal bytes.
    """
    count = 0
    with disk_errors(str(path)), _replaced(path) as file:
        for row in rows:
            file.write(row.model_dump_json() + "\n")
            count += 1
    return count


@contextmanager
def _replaced(path: Path) -> Iterator[IO[str]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as raw:
            if path.suffix == ".gz":
                with (
                    gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed,
                    TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
                ):
                    yield text
            else:
                with TextIOWrapper(raw, encoding="utf-8", newline="\n") as text:
                    yield text
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_directory(path.parent)


def played(reader: RunReader, only_success: bool = False) -> Iterator[Episode]:
    """The last attempt of every planned episode, one at a time, in the order in which they finished; no interrupted ones."""
    rows = sorted(reader.latest().values(), key=lambda row: (row.finish_index, row.episode_id))
    for row in rows:
        if row.final and (row.status == "success" or not only_success):
            yield reader.episode(row.episode_id)


def _by_episode(labels: Sequence[HindsightLabel]) -> dict[str, list[HindsightLabel]]:
    found: dict[str, list[HindsightLabel]] = {}
    for label in sorted(labels, key=lambda label: label.steps):
        found.setdefault(label.episode_id, []).append(label)
    return found


def _row(
    episode: Episode, trajectory: Trajectory, status: Status, reward: float | None, label: HindsightLabel | None
) -> TrajectoryRow:
    task = episode.spec.task
    return TrajectoryRow(
        run_id=episode.run_id,
        episode_id=episode.spec.episode_id,
        site=task.site,
        template=task.cluster,
        split=str(task.metadata.get("split", "")),
        held_out_site=task.metadata.get("held_out_site") is True,
        status=status,
        reward=reward,
        label=label,
        trajectory=trajectory,
    )


def _provenance(episode: Episode, step: Step, following: Observation, source: Source, explored: bool) -> JsonDict:
    task, error = episode.spec.task, step.action_error
    found: JsonDict = {
        "schema_version": EXPORT_SCHEMA_VERSION,
        "run": episode.run_id,
        "episode": episode.spec.episode_id,
        "step": step.index,
        "benchmark": task.benchmark,
        "task_id": task.task_id,
        "template": task.cluster,
        "split": str(task.metadata.get("split", "")),
        "held_out_site": task.metadata.get("held_out_site") is True,
        "site": task.site,
        "source": source,
        "policy": episode.trajectory.producers.get("policy", ""),
        "action": step.output.action.name,
        "action_error": error.kind if error else "",
        "change": (change := change_of(step.observation, following)),
        "changed": change in ("page", "url"),
        "left_the_sites": bool(step.metadata.get("left_the_sites")),
        "terminated": step.terminated,
        "status": episode.verdict.status,
    }
    if explored:
        found["why"] = step.output.text
    return found


def _content(tree: Tree, dropped: Sequence[str]) -> Tree:
    return normalise(tree, drop_properties=dropped)
