"""The store of a run: appends finished episodes. Reading is `results.reader`.

runs/<run_id>/
├── manifest.json                 what was run (results.manifest)
├── plan.jsonl.gz                 every planned EpisodeSpec: the denominator
├── episodes/<episode_id>/        one directory per finished attempt, made aside and renamed: all or nothing
│   ├── episode.json.gz           harness.types.Episode
│   └── step-000.png …
├── index.jsonl                   a cache of one row per episode (results.index); may be deleted
└── lock                          held by the one process that writes; the kernel frees it
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from harness.errors import HarnessError, UsageError
from harness.types import Episode, EpisodeSpec, Status
from results import files
from results.index import EpisodeRow, dump_index, index_line, load_index, row_of
from results.manifest import RunManifest
from results.reader import EPISODE, EPISODES, INDEX, MANIFEST, PLAN, SAFE_NAME, SAFE_PNG, RunReader, read_manifest
from results.redact import Redactor

RETRY_ERRORS: tuple[Status, ...] = ("error", "blocked", "inconclusive")
"""Statuses that say nothing about the agent: what `--retry errors` plays again."""


class RunStore(RunReader):
    """A run directory held for writing: made by `create`, `resume` or `start`. `open` gives a `RunReader`."""

    def __init__(self, directory: Path, manifest: RunManifest, redactor: Redactor, lock: int) -> None:
        super().__init__(directory, manifest)
        self._redactor = redactor
        self._lock: int | None = lock

    @classmethod
    def start(
        cls, directory: Path, manifest: RunManifest, plan: Sequence[EpisodeSpec], redactor: Redactor | None = None
    ) -> RunStore:
        """`resume` where a run lies, else `create`. The stored plan wins: see `plan`."""
        if (directory / MANIFEST).exists():
            return cls.resume(directory, manifest, redactor)
        return cls.create(directory, manifest, plan, redactor)

    @classmethod
    def create(
        cls, directory: Path, manifest: RunManifest, plan: Sequence[EpisodeSpec], redactor: Redactor | None = None
    ) -> RunStore:
        """Make a run directory and hold its lock. Raises `UsageError` if a run lies there or names clash."""
        _check_plan(manifest, plan)
        secrets = redactor or Redactor()
        with files.disk_errors(str(directory)):
            (directory / EPISODES).mkdir(parents=True, exist_ok=True)
        lock = files.lock_file(directory / files.LOCK)
        try:
            if (directory / MANIFEST).exists():
                raise UsageError(f"a run lies in {directory} already", fix="resume it, or choose another --run-dir")
            stored = _clean(manifest, secrets)
            with files.disk_errors(str(directory)):
                lines = "".join(secrets.record(spec).model_dump_json() + "\n" for spec in plan)
                files.replace_file(directory / PLAN, files.gzipped(lines))
                _write_manifest(directory, stored)
        except BaseException:
            os.close(lock)
            raise
        return cls(directory, stored, secrets, lock)

    @classmethod
    def resume(cls, directory: Path, manifest: RunManifest, redactor: Redactor | None = None) -> RunStore:
        """Hold the lock of an existing run. Raises `UsageError` naming the keys in which `manifest` differs from it."""
        secrets = redactor or Redactor()
        old, new = read_manifest(directory), _clean(manifest, secrets)
        if differing := old.differences(new):
            shown = "; ".join(differing[:5]) + (f"; and {len(differing) - 5} more" if len(differing) > 5 else "")
            raise UsageError(
                f"{directory} holds a run with other settings: {shown}",
                fix="give the same settings to resume it, or choose another --run-dir",
            )
        lock = files.lock_file(directory / files.LOCK)
        try:
            for environment in new.environments:
                old = old.with_environment(environment)
            old = old.model_copy(update={"execution": new.execution})
            with files.disk_errors(str(directory)):
                _write_manifest(directory, old)
                for leftover in (directory / EPISODES).glob(f"{files.TEMPORARY_PREFIX}*"):
                    shutil.rmtree(leftover, ignore_errors=True)
            store = cls(directory, old, secrets, lock)
            store._repair_index()
        except BaseException:
            os.close(lock)
            raise
        return store

    def close(self) -> None:
        """Free the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def record(self, episode: Episode, screenshots: dict[str, bytes]) -> None:
        """Store one episode and its PNG files, atomically and durably, without secrets.

        Raises `NotReadyError` if the disk refuses (nothing half-written stays, what was stored stays) and `UsageError`
        if the episode or its screenshots cannot have these names.
        """
        if self._lock is None:
            raise HarnessError(f"the store of {self.directory} is closed")
        episode_id = episode.spec.episode_id
        _check_name(episode_id)
        for name in screenshots:
            if not SAFE_PNG.fullmatch(name):
                raise UsageError(f"a screenshot of {episode_id} cannot be called {name!r}", fix="use step-000.png …")
        if episode.run_id != self.manifest.run_id:
            raise UsageError(f"{episode_id} belongs to run {episode.run_id}, not to {self.manifest.run_id}")
        text = episode.model_dump_json()
        if self._redactor.suspects(text):
            episode = self._redactor.episode(episode)
            text = episode.model_dump_json()
        data = files.gzipped(text)
        with files.disk_errors(f"episode {episode_id}"):
            try:
                files.write_directory(self._episodes / episode_id, {**screenshots, EPISODE: data})
            except FileExistsError:
                raise UsageError(
                    f"episode {episode_id} is stored already", fix=f"ask next_attempt({episode.spec.key!r})"
                ) from None
            row = row_of(episode, len(data))
            self._current()[episode_id] = row
            self._append(row)

    def rebuild_index(self) -> list[EpisodeRow]:
        """Write the index anew from the episodes alone."""
        self._rows = self._refresh({})
        self._write_index(self._rows)
        return self.rows()

    def _repair_index(self) -> None:
        path = self.directory / INDEX
        rows = self._current()
        if load_index(path) != rows or (path.exists() and not path.read_bytes().endswith(b"\n")):
            self._write_index(rows)

    def _write_index(self, rows: dict[str, EpisodeRow]) -> None:
        with files.disk_errors(INDEX):
            files.replace_file(self.directory / INDEX, dump_index(rows))

    def _current(self) -> dict[str, EpisodeRow]:
        # This process is the only writer, so what it has seen once needs no second look.
        return super()._current() if self._rows is None else self._rows

    def _append(self, row: EpisodeRow) -> None:
        # Not fsync'd: the episode is durable by now, and a lost line is read again from it.
        with (self.directory / INDEX).open("ab") as file:
            size = file.tell()
            try:
                file.write(index_line(row))
                file.flush()
            except OSError:
                os.ftruncate(file.fileno(), size)
                raise


def _check_plan(manifest: RunManifest, plan: Sequence[EpisodeSpec]) -> None:
    ids: dict[str, str] = {}
    for spec in plan:
        _check_name(spec.episode_id)
        if (other := ids.setdefault(spec.episode_id, spec.key)) != spec.key:
            raise UsageError(f"tasks {other!r} and {spec.key!r} would share the name {spec.episode_id}")
    if len(ids) != len(plan):
        raise HarnessError("the plan holds an episode twice")
    if manifest.planned != len(plan):
        raise HarnessError(f"the manifest plans {manifest.planned} episodes, the plan has {len(plan)}")


def _check_name(episode_id: str) -> None:
    if not SAFE_NAME.fullmatch(episode_id) or len(episode_id.encode()) > 200:
        raise UsageError(
            f"{episode_id[:80]!r} cannot name an episode's directory",
            fix="use letters, digits, '.', '_' and '-' in windows and task ids, 200 bytes at most",
        )


def _clean(manifest: RunManifest, secrets: Redactor) -> RunManifest:
    config, options = secrets.config(manifest.config), secrets.config(manifest.benchmark_options)
    return secrets.record(manifest).model_copy(update={"config": config, "benchmark_options": options})


def _write_manifest(directory: Path, manifest: RunManifest) -> None:
    files.replace_file(directory / MANIFEST, (manifest.model_dump_json(indent=1) + "\n").encode("utf-8"))
