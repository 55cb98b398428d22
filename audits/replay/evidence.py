"""The evidence bundle of a replay is its stored episode: nothing else is needed to judge it again.

    episode.json.gz
    ├── trajectory.steps[t].observation         the real page, tree before action t (after: the next one's)
    │             .metadata["replay"]           Note: the resolver's decisions with scores, what was done, safety
    ├── verdict                                 the benchmark's own, with its state diff or final address
    │   └── evidence["replay"]["dream"]         the dreamed trajectory
    │                         ["claim"]         what the dream says of itself: its verdict
    │                         ["assessment"]    outcome, cause, page checks, divergences
    │                         ["har"]           what the browser asked for, without headers, cookies and bodies
    └── spec.task.metadata["dream"]             which episode of the dreams' run it was
    step-000.png …                              screenshots, where they were asked for
Settings, calibration and versions are in the run's manifest. A replay whose worker was killed has no evidence of its own; the
dream is then read from its run, and the outcome is inconclusive all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from audits.replay.assess import NOTE, Assessment, assess
from audits.replay.config import ReplaySettings
from audits.replay.script import script_of
from harness.errors import UsageError
from harness.types import Episode, EpisodeSpec, JsonDict, Task, Trajectory, Verdict
from results.reader import RunReader

DREAM_KEY, UNKNOWN_KEY = "dream", "unknown_task"
SETTINGS_KEY = "replay"
"""Key of `ReplaySettings` in `RunManifest.benchmark_options`."""


class Replay(NamedTuple):
    """One finished replay, as stored."""

    episode: Episode
    dream: Trajectory | None
    """None where a killed worker left none and the dreams' run cannot be read."""
    assessment: Assessment
    stored: JsonDict | None
    """The assessment as it was written; None where none was."""
    claim: Verdict | None = None
    """The dream's verdict on itself; None where `dream` is."""


def dream_of(spec: EpisodeSpec) -> str:
    """Episode id of the dream in its run."""
    return str(spec.task.metadata.get(DREAM_KEY, ""))


def today(spec: EpisodeSpec) -> Task | None:
    """The task as it was when the replay was planned; None if there was none of this id any more."""
    return None if spec.task.metadata.get(UNKNOWN_KEY) else spec.task


def with_evidence(verdict: Verdict, dream: Episode, found: Assessment, har: JsonDict | None = None) -> Verdict:
    note: JsonDict = {
        "dream": dream.trajectory.model_dump(mode="json"),
        "claim": dream.verdict.model_dump(mode="json"),
        "assessment": found.model_dump(mode="json"),
    }
    if har is not None:
        note["har"] = har
    return verdict.model_copy(update={"evidence": {**verdict.evidence, NOTE: note}})


def settings_of(reader: RunReader) -> ReplaySettings:
    """How a run of replays was made. Raises UsageError for a run of something else."""
    stored = reader.manifest.benchmark_options.get(SETTINGS_KEY)
    if not isinstance(stored, dict):
        raise UsageError(f"{reader.directory} is no run of replays", fix="harness audit replay DREAMS makes one")
    return ReplaySettings.model_validate(stored)


def read_replays(reader: RunReader) -> Iterator[Replay]:
    """The last attempt of every replay, assessed anew from what is stored, in the order of finishing."""
    settings = settings_of(reader)
    dreams = _open(Path(settings.dreams))
    rows = sorted(reader.latest().values(), key=lambda row: (row.finish_index, row.episode_id))
    for row in rows:
        if row.final:
            yield judge(reader.episode(row.episode_id), settings, dreams)


def judge(episode: Episode, settings: ReplaySettings, dreams: RunReader | None = None) -> Replay:
    """One stored replay, judged from its own evidence; `dreams` only serves those whose worker was killed."""
    note = episode.verdict.evidence.get(NOTE)
    stored = note.get("assessment") if isinstance(note, dict) else None
    dream, claim = _stored_dream(note) if isinstance(note, dict) else _dream(dreams, episode.spec)
    found = (
        _without_dream(episode, settings)
        if dream is None
        else assess(
            script_of(dream, today(episode.spec)),
            episode.trajectory,
            _bare(episode.verdict),
            settings.calibration,
            settings.arm,
        )
    )
    return Replay(episode, dream, found, stored if isinstance(stored, dict) else None, claim)


def same(replay: Replay) -> bool:
    """Is what is stored what the evidence says, byte for byte?"""
    if replay.stored is None:
        return True
    return json.dumps(replay.stored, sort_keys=True) == json.dumps(replay.assessment.model_dump(mode="json"), sort_keys=True)


def _bare(verdict: Verdict) -> Verdict:
    return verdict.model_copy(update={"evidence": {k: v for k, v in verdict.evidence.items() if k != NOTE}})


def _stored_dream(note: JsonDict) -> tuple[Trajectory | None, Verdict | None]:
    try:
        return Trajectory.model_validate(note.get("dream")), Verdict.model_validate(note.get("claim"))
    except ValidationError:
        return None, None


def _dream(dreams: RunReader | None, spec: EpisodeSpec) -> tuple[Trajectory | None, Verdict | None]:
    try:
        episode = dreams.episode(dream_of(spec)) if dreams is not None else None
    except UsageError:
        episode = None
    return (episode.trajectory, episode.verdict) if episode is not None else (None, None)


def _without_dream(episode: Episode, settings: ReplaySettings) -> Assessment:
    reason = episode.verdict.reason
    cause, _, detail = reason.partition(": ") if episode.verdict.status == "inconclusive" else ("infrastructure", "", reason)
    return Assessment(
        arm=settings.arm,
        outcome="inconclusive",
        cause=cause or "infrastructure",
        detail=detail[:300],
        length=0,
        calibration=settings.calibration.digest,
    )


def _open(directory: Path) -> RunReader | None:
    try:
        return RunReader.open(directory)
    except UsageError:
        return None
