"""Dreams as the trainer's rollouts: groups → starts on real pages → dreams → samples, each update's kept as a run.

    GroupRequest(instance, size, seed) ─▶ a state of one of its experts ─▶ `size` dreams, all groups side by side ─▶ Sample …
    DIR/update-000012/      the dreams from which update 12 was made; harness show, report and audit replay read them
    DIR/update-000012-2/    its second round, where groups without signal were replaced

A group begins at one state: advantages compare dreams of one goal from one page. Dreams of an update that is played again after a
resume replace what was stored of it.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.errors import NotReadyError
from harness.protocols import Judge, WorldModel
from harness.types import JsonDict
from results.store import RunStore
from training.agent.mixture import GroupRequest
from training.agent.policy import CheckpointActor
from training.agent.rows import Sample
from training.dream import Dream, DreamRules, DreamStart, dream, plan_groups, sample_starts
from training.dream.generate import PlannedDream
from training.dream.storing import dream_episode, dream_manifest


class DreamRollout:
    """`training.agent.trainer.Rollout` in a world model.

    `experts`: instance → trajectories whose states dreams begin in. `directory`: where dreams are kept; None: nowhere.
    """

    def __init__(
        self,
        actor: CheckpointActor,
        world_model: WorldModel,
        judge: Judge,
        rules: DreamRules,
        experts: Mapping[str, Sequence[Sample]],
        *,
        directory: Path | None = None,
        about: JsonDict | None = None,
        batch: int = 64,
        on_done: Callable[[Dream], None] = lambda _: None,
    ) -> None:
        self._actor, self._models, self._rules, self._experts = actor, (actor, world_model, judge), rules, experts
        self._directory, self._batch, self._on_done = directory, batch, on_done
        self._about: JsonDict = {"world_model": f"{world_model.name} {world_model.version}".strip(), **(about or {})}
        self._round = (-1, 0)

    def __call__(self, requests: Sequence[GroupRequest], version: int) -> list[Sample]:
        """One sample per dream; a dream that broke has an `error` verdict. Never raises for what a model answers.

        Raises NotReadyError where nobody answered at all: a training must not spend its goals on a server that is down.
        """
        self._actor.at(str(version))
        self._round = (version, self._round[1] + 1 if self._round[0] == version else 0)
        planned = plan_groups([(self._start(request), request.size, f"{request.seed}/dream") for request in requests])
        if not planned:
            return []
        if self._directory is None:
            return _answered(self._dreamt(requests, planned, lambda _: None))
        directory = self._place(self._directory, version + 1)
        about: JsonDict = {**self._about, "update": version + 1}
        manifest = dream_manifest(directory, planned, self._rules, policy=self._actor.name, about=about, seed=version)
        with RunStore.create(directory, manifest, [item.spec for item in planned]) as store:
            return _answered(self._dreamt(requests, planned, lambda one: store.record(dream_episode(manifest.run_id, one), {})))

    def _start(self, request: GroupRequest) -> DreamStart:
        """Drawn from the request's own seed: an expert of the instance, and one of its states."""
        pool = [(sample.name, sample.trajectory) for sample in self._experts[request.task.task_id]]
        rng = random.Random(f"{request.seed}/start")
        return sample_starts(pool, 1, middle_share=self._rules.middle_share, rng=rng)[0]

    def _dreamt(
        self, requests: Sequence[GroupRequest], planned: Sequence[PlannedDream], keep: Callable[[Dream], None]
    ) -> list[Sample]:
        def done(found: Dream) -> None:
            keep(found)
            self._on_done(found)

        samples: list[Sample] = []
        for first in range(0, len(planned), self._batch):
            for one in dream(planned[first : first + self._batch], *self._models, self._rules, on_done=done):
                key = requests[one.planned.group].key
                samples.append(Sample(key, f"dream/{one.planned.member}", one.trajectory, one.verdict))
        return samples

    def _place(self, directory: Path, update: int) -> Path:
        """Where this round's dreams go; what an earlier sitting left of the update goes away with its first round."""
        stem = f"update-{update:06d}"
        if self._round[1] == 0:
            for old in directory.glob(f"{stem}*"):
                shutil.rmtree(old)
            return directory / stem
        return directory / f"{stem}-{self._round[1] + 1}"


def _answered(samples: list[Sample]) -> list[Sample]:
    broken = [sample.verdict.error for sample in samples if sample.verdict.error and sample.verdict.error.kind == "NotReadyError"]
    if len(broken) < len(samples):
        return samples
    raise NotReadyError(f"no dream came to an end: {broken[0].message}", fix="see to it; then the same command goes on")
