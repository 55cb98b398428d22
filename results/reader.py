"""Reads a run directory (layout: results.store). Any number of processes may read while one writes.

A file that cannot be read is named and counted (`unreadable`): never a crash, and never a failure of the agent.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from pydantic import ValidationError

from harness.errors import UsageError
from harness.types import SCHEMA_VERSION, Episode, EpisodeSpec, Status
from results import files
from results.index import EpisodeRow, load_index, row_of
from results.manifest import MANIFEST_SCHEMA_VERSION, RunManifest

MANIFEST, PLAN, EPISODES, INDEX = "manifest.json", "plan.jsonl.gz", "episodes", "index.jsonl"
EPISODE = "episode.json.gz"

SAFE_NAME = re.compile(r"[\w-][\w.-]{0,199}")
SAFE_PNG = re.compile(r"[\w-][\w.-]{0,99}\.png")


class RunReader:
    """One run directory, as it is on disk at the moment of each call."""

    def __init__(self, directory: Path, manifest: RunManifest) -> None:
        self.directory = directory
        self.manifest = manifest
        self._unreadable: dict[str, str] = {}
        self._rows: dict[str, EpisodeRow] | None = None

    @classmethod
    def open(cls, directory: Path) -> RunReader:
        """Open a run for reading. Raises `UsageError` if no readable run lies there."""
        return RunReader(directory, read_manifest(directory))

    def plan(self) -> list[EpisodeSpec]:
        """The planned episodes, in order, each once, `attempt` 0. A resume plays these, whatever tasks say today."""
        try:
            text = files.read_gzipped(self.directory / PLAN)
            return [EpisodeSpec.model_validate_json(line) for line in text.splitlines()]
        except (files.Unreadable, ValidationError) as error:
            reason = str(error) if isinstance(error, files.Unreadable) else "not valid"
            raise UsageError(f"cannot read {self.directory / PLAN}: {reason}", fix="restore it, or start a new run") from error

    def rows(self) -> list[EpisodeRow]:
        """One row per readable episode, all attempts, in the order in which they finished."""
        return sorted(self._current().values(), key=lambda row: (row.finish_index, row.episode_id))

    def latest(self) -> dict[str, EpisodeRow]:
        """The last attempt of each key. A key whose last attempt cannot be read is left out: nothing is known of it."""
        rows: dict[str, EpisodeRow] = {}
        for row in self._current().values():
            if row.key not in rows or row.attempt > rows[row.key].attempt:
                rows[row.key] = row
        lost = set(self._unreadable)
        return {key: row for key, row in rows.items() if not (lost and self._later_attempts(row) & lost)}

    def finished(self, retry: Collection[Status] = ()) -> set[str]:
        """Keys that need not be played again. Episodes whose status is in `retry` count as not finished."""
        return {key for key, row in self.latest().items() if row.final and row.status not in retry}

    def next_attempt(self, spec: EpisodeSpec) -> EpisodeSpec:
        """`spec` with the first attempt number that is free on disk."""
        attempt = 0
        while (self._episodes / spec.model_copy(update={"attempt": attempt}).episode_id).exists():
            attempt += 1
        return spec.model_copy(update={"attempt": attempt})

    def episode(self, episode_id: str) -> Episode:
        """One episode. Raises `UsageError` if it does not exist or cannot be read."""
        try:
            return self._read(episode_id)[0]
        except files.Unreadable as error:
            raise UsageError(f"cannot read episode {episode_id}: {error}") from error

    def episodes(self) -> Iterator[Episode]:
        """All readable episodes, one at a time, by name."""
        for episode_id in self._stored():
            try:
                yield self._read(episode_id)[0]
            except files.Unreadable as error:
                self._unreadable[episode_id] = str(error)

    def screenshot(self, episode_id: str, name: str) -> bytes:
        """The PNG bytes of one step. Raises `UsageError` for a name that is not one of this run's."""
        if SAFE_NAME.fullmatch(episode_id) and SAFE_PNG.fullmatch(name):
            path = self._episodes / episode_id / name
            if path.is_file() and not path.is_symlink():
                return path.read_bytes()
        raise UsageError(f"no screenshot {name!r} in episode {episode_id!r}")

    def unreadable(self) -> dict[str, str]:
        """Episode id → why its file cannot be read. They count as not yet played, never as failures."""
        self._current()
        return dict(sorted(self._unreadable.items()))

    @property
    def _episodes(self) -> Path:
        return self.directory / EPISODES

    def _stored(self) -> list[str]:
        try:
            entries = list(os.scandir(self._episodes))
        except FileNotFoundError:
            return []
        return sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())

    def _current(self) -> dict[str, EpisodeRow]:
        """The rows of what is on disk now: from the index where it agrees, else from the episodes themselves."""
        cached = load_index(self.directory / INDEX) if self._rows is None else self._rows
        self._rows = self._refresh(cached)
        return self._rows

    def _refresh(self, cached: dict[str, EpisodeRow]) -> dict[str, EpisodeRow]:
        rows: dict[str, EpisodeRow] = {}
        self._unreadable = {}
        for episode_id in self._stored():
            row = cached.get(episode_id)
            if row is not None and row.bytes == _size(self._episodes / episode_id / EPISODE):
                rows[episode_id] = row
                continue
            try:
                episode, size = self._read(episode_id)
            except files.Unreadable as error:
                self._unreadable[episode_id] = str(error)
                continue
            rows[episode_id] = row_of(episode, size)
        return rows

    def _read(self, episode_id: str) -> tuple[Episode, int]:
        if not SAFE_NAME.fullmatch(episode_id):
            raise files.Unreadable("not an episode's name")
        path = self._episodes / episode_id / EPISODE
        text = files.read_gzipped(path)
        try:
            episode = Episode.model_validate_json(text)
        except ValidationError as error:
            raise files.Unreadable(_why_invalid(text, error)) from None
        if episode.spec.episode_id != episode_id:
            raise files.Unreadable(f"holds episode {episode.spec.episode_id}")
        return episode, _size(path)

    def _later_attempts(self, row: EpisodeRow) -> set[str]:
        stem = row.episode_id.rpartition("__a")[0]
        return {name for name in self._unreadable if _attempt(name, stem) > row.attempt}


def read_manifest(directory: Path) -> RunManifest:
    """The manifest of a run directory. Raises `UsageError` if there is none that this version can read."""
    path = directory / MANIFEST
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"no run in {directory}", fix="name a directory that holds manifest.json") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    try:
        return RunManifest.model_validate_json(text)
    except ValidationError as error:
        version = _schema_version(text)
        if version is not None and version > MANIFEST_SCHEMA_VERSION:
            raise UsageError(f"{path} has the newer schema {version}", fix="update the harness") from None
        raise UsageError(f"{path} is damaged: {_first(error)}", fix="restore it, or start a new run") from None


def find_run(name: str, root: Path = Path("runs")) -> Path:
    """The run directory called `name`: a path, a run id under `root`, or a unique beginning of one."""
    for candidate in (Path(name), root / name):
        if (candidate / MANIFEST).is_file():
            return candidate
    ids = sorted(path.parent.name for path in root.glob(f"*/{MANIFEST}"))
    matches = [run_id for run_id in ids if name and run_id.startswith(name)]
    if len(matches) == 1:
        return root / matches[0]
    known = ", ".join(matches or ids[-5:]) or "none"
    what = f"several runs begin with {name!r}" if matches else f"no run {name!r}"
    raise UsageError(what, fix=f"give its directory or id; runs in {root}/: {known}")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _attempt(episode_id: str, stem: str) -> int:
    head, _, number = episode_id.rpartition("__a")
    return int(number) if head == stem and number.isdecimal() else -1


def _schema_version(text: str) -> int | None:
    try:
        data = json.loads(text)
    except ValueError:
        return None
    version = data.get("schema_version") if isinstance(data, dict) else None
    return version if isinstance(version, int) else None


def _why_invalid(text: str, error: ValidationError) -> str:
    version = _schema_version(text)
    if version is not None and version > SCHEMA_VERSION:
        return f"newer schema {version}: update the harness"
    return f"damaged: {_first(error)}"


def _first(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in problem["loc"]) or "the whole"
    return f"{where}: {problem['msg']}"
