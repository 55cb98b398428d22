"""Rollouts in real browsers for the online baseline: same groups, same update, the browser in place of the world model.

    GroupRequest(instance, size, seed) ─▶ `size` EpisodeSpecs of the real task and seed ─▶ play(checkpoint, specs, DIR) ─▶ Samples

`play` is handed in by the command: it runs `harness run`'s own workers, clocks and store on a checkpoint of the present weights.
Rollouts of a group share the environment's seed, so that they have one goal; each draws its own actions (`DRAW`).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.errors import NotReadyError
from harness.types import Episode, EpisodeSpec, Task
from training.agent.mixture import GroupRequest
from training.agent.policy import DRAW, CheckpointActor
from training.agent.rows import Sample

Play = Callable[[Path, Sequence[EpisodeSpec], Path], Sequence[Episode]]
"""(checkpoint, episodes to play, run directory) → the last attempt of each that was played."""


class BrowserRollout:
    """`training.agent.trainer.Rollout` in real browsers. `write` saves the actor's weights as a checkpoint."""

    def __init__(
        self,
        actor: CheckpointActor,
        write: Callable[[Path], None],
        play: Play,
        experts: Mapping[str, Sequence[Sample]],
        directory: Path,
    ) -> None:
        self._actor, self._write, self._play, self._experts, self._directory = actor, write, play, experts, directory
        self._round = (-1, 0)

    def __call__(self, requests: Sequence[GroupRequest], version: int) -> list[Sample]:
        """One sample per rollout. Raises NotReadyError where episodes could not be played at all (a site is down)."""
        self._actor.at(str(version))
        self._round = (version, self._round[1] + 1 if self._round[0] == version else 0)
        seats = self._seats(requests)
        if not seats:
            return []
        checkpoint = self._directory / "policy"
        self._write(checkpoint)
        place = self._directory / f"update-{version + 1:06d}-{self._round[1] + 1}"
        shutil.rmtree(place, ignore_errors=True)
        played = {one.spec.key: one for one in self._play(checkpoint, [spec for _, _, spec in seats], place)}
        if missing := len(seats) - len(played):
            raise NotReadyError(
                f"{missing} of {len(seats)} rollouts were not played", fix="see why in the run's logs; then go on"
            )
        return [
            Sample(request.key, f"real/{member}", played[spec.key].trajectory, played[spec.key].verdict)
            for request, member, spec in seats
        ]

    def _seats(self, requests: Sequence[GroupRequest]) -> list[tuple[GroupRequest, int, EpisodeSpec]]:
        repeats: Counter[str] = Counter()
        seats: list[tuple[GroupRequest, int, EpisodeSpec]] = []
        for request in requests:
            expert = self._experts[request.task.task_id][0].trajectory
            for member in range(request.size):
                task = _drawing(expert.task, (request.seed + member) % 2**31)
                repeat = repeats[task.task_id]
                seats.append((request, member, EpisodeSpec(task=task, repeat=repeat, seed=expert.seed, order_index=len(seats))))
                repeats[task.task_id] += 1
        return seats


def _drawing(task: Task, seed: int) -> Task:
    return task.model_copy(update={"metadata": {**task.metadata, DRAW: seed}})
