"""A run of recorded successes → a run directory of planted dreams, as any run of dreams."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from random import Random

from audits.controls.faults import FAULTS, Planted, plant
from audits.records import PlantedFault
from audits.replay.evidence import Replay
from audits.replay.script import dream_id
from harness.errors import UsageError
from harness.types import Episode, EpisodeSpec, JsonDict, Verdict
from results.index import EpisodeRow
from results.reader import RunReader
from results.store import RunStore

KEY = "planted"
SCORER = "planted"


def plant_run(recorded: RunReader, directory: Path, *, per_fault: int, seed: int) -> int:
    """Write `per_fault` dreams of each kind, fewer where fewer pages allow it. Returns how many there are in all.

    Which recordings serve is drawn by `seed`; no template serves twice for one kind before all have served once.
    A directory that holds planted dreams already is left as it is.
    """
    if (directory / "manifest.json").exists():
        return RunReader.open(directory).manifest.planned
    rows = [row for row in recorded.latest().values() if row.final and row.status == "success" and row.steps > 1]
    if not rows:
        raise UsageError(f"{recorded.directory} holds no success of two actions or more", fix="give a run of recorded successes")
    found: list[tuple[Planted, Episode]] = []
    for fault in FAULTS:
        planted = 0
        for row in _spread(rows, f"{seed}/{fault}"):
            if planted == per_fault:
                break
            episode = recorded.episode(row.episode_id)
            dream = plant(episode.trajectory, fault, Random(f"{seed}/{fault}/{row.key}"))
            if dream is not None:
                found.append((dream, episode))
                planted += 1
    specs = [_spec(planted, episode, number) for number, (planted, episode) in enumerate(found)]
    _write(recorded, directory, found, specs)
    return len(specs)


def planted_row(replay: Replay) -> PlantedFault | None:
    """What the audit found of a planted dream; None where the dream was lost with its worker."""
    note = replay.dream.task.metadata.get(KEY) if replay.dream is not None else None
    if not isinstance(note, dict):
        return None
    task, first = replay.episode.spec.task, replay.assessment.first
    return PlantedFault.model_validate(
        {
            "dream": dream_id(replay.episode),
            "task_id": task.task_id,
            "template": task.intent_template_id,
            "site": task.site,
            "fault": note["fault"],
            "planted_at": note["page"],
            "expected_cause": note["cause"],
            "outcome": replay.assessment.outcome,
            "found_at": first.page if first else None,
            "found_cause": first.cause if first else None,
        }
    )


def _spread(rows: Sequence[EpisodeRow], seed: str) -> list[EpisodeRow]:
    """In random order, one of each template before a second of any."""
    shuffled = sorted(rows, key=lambda row: sha256(f"{seed}/{row.key}".encode()).digest())
    seen: dict[str, int] = {}
    turns = []
    for row in shuffled:
        turns.append((seen.get(row.cluster, 0), row))
        seen[row.cluster] = seen.get(row.cluster, 0) + 1
    return [row for _, row in sorted(turns, key=lambda pair: pair[0])]


def _spec(planted: Planted, episode: Episode, number: int) -> EpisodeSpec:
    mark: JsonDict = {"fault": planted.fault, "page": planted.page, "cause": planted.cause, "of": dream_id(episode)}
    task = episode.spec.task
    return episode.spec.model_copy(
        update={
            "task": task.model_copy(update={"metadata": {**task.metadata, KEY: mark}}),
            "window": f"{episode.spec.window}-{planted.fault}",
            "order_index": number,
            "attempt": 0,
        }
    )


def _write(recorded: RunReader, directory: Path, found: Sequence[tuple[Planted, Episode]], specs: Sequence[EpisodeSpec]) -> None:
    manifest = recorded.manifest.model_copy(
        update={
            "run_id": directory.name,
            "benchmark_options": {"planted_from": recorded.manifest.run_id},
            "tasks": len({spec.task.task_id for spec in specs}),
            "planned": len(specs),
            "policy": "planted",
        }
    )
    with RunStore.create(directory, manifest, specs) as store:
        for number, ((planted, episode), spec) in enumerate(zip(found, specs, strict=True)):
            store.record(
                Episode(
                    run_id=directory.name,
                    spec=spec,
                    trajectory=planted.trajectory.model_copy(update={"task": spec.task}),
                    verdict=Verdict(status="success", reward=1.0, scorer=SCORER, scorer_version="1", reason="says the dream"),
                    started_at=episode.started_at,
                    wall_seconds=0.0,
                    finish_index=number,
                ),
                {},
            )
