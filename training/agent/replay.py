"""The last successes of each task, for groups in which all failed (ARPO §3.5; FIFO of 8 per task as in its released code).

Saved with a checkpoint as `replay.jsonl.gz`, one success a line, in order: a resumed training draws what it would have drawn.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.types import Trajectory, Verdict
from training.agent.experts import instance_of
from training.agent.rows import Prepared, Row, Sample

PER_TASK = 8
FILE = "replay.jsonl.gz"


class ReplayBuffer:
    """Successes of the policy itself; experts never enter."""

    def __init__(self) -> None:
        self._kept: dict[str, deque[Prepared]] = {}

    def add(self, prepared: Sequence[Prepared]) -> None:
        """Keep the successes among these valid samples."""
        for one in prepared:
            if not one.sample.expert and one.reward >= 1:
                self._kept.setdefault(_instance(one), deque(maxlen=PER_TASK)).append(one)

    def draw(self, instance: str, rng: random.Random) -> Prepared | None:
        """One of the instance's successes; None if there is none yet."""
        kept = self._kept.get(instance)
        return rng.choice(list(kept)) if kept else None

    def save(self, directory: Path) -> None:
        with gzip.open(directory / FILE, "wt", encoding="utf-8") as file:
            for kept in self._kept.values():
                for one in kept:
                    file.write(json.dumps(_to_json(one)) + "\n")

    def load(self, directory: Path) -> None:
        """What `save` wrote there; nothing if it is not there."""
        self._kept = {}
        if (directory / FILE).exists():
            with gzip.open(directory / FILE, "rt", encoding="utf-8") as file:
                self.add([_from_json(json.loads(line)) for line in file])


def _instance(one: Prepared) -> str:
    return instance_of(one.sample.trajectory.task, one.sample.trajectory.seed)


def _to_json(one: Prepared) -> dict[str, Any]:
    sample = one.sample
    return {
        "group": sample.group,
        "name": sample.name,
        "trajectory": sample.trajectory.model_dump(mode="json"),
        "verdict": sample.verdict.model_dump(mode="json"),
        "poisoned": sample.poisoned,
        "rows": [asdict(row) for row in one.rows],
    }


def _from_json(data: dict[str, Any]) -> Prepared:
    trajectory, verdict = Trajectory.model_validate(data["trajectory"]), Verdict.model_validate(data["verdict"])
    sample = Sample(data["group"], data["name"], trajectory, verdict, poisoned=data["poisoned"])
    rows = [
        Row(
            group=row["group"],
            trajectory=row["trajectory"],
            turn=row["turn"],
            prompt_ids=tuple(row["prompt_ids"]),
            response_ids=tuple(row["response_ids"]),
            mask=tuple(row["mask"]),
            sampler_log_probs=None if row["sampler_log_probs"] is None else tuple(row["sampler_log_probs"]),
        )
        for row in data["rows"]
    ]
    return Prepared(sample, tuple(rows))
