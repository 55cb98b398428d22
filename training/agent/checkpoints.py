"""Checkpoints of a training, and how it goes on after it was killed.

    DIR/
      training.json                what was asked for; a resume with another configuration is refused
      train_log.jsonl              one line per update, appended
      checkpoints/update-000010/   a checkpoint of the policy (training.models): `harness run --policy checkpoint:…` takes it
        resume/                    accelerate's state: weights, optimizer, scheduler, random numbers
        progress.json              where the training stands; written last: a checkpoint without it does not exist
      preset.json, model files     the policy at the end (or the best one on dev tasks), copied here when the training has ended

A checkpoint is written beside its place and renamed into it. After a kill the newest one is taken up, and lines that the log has
beyond it are cut off, so that an update is never counted twice.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.errors import UsageError
from harness.types import JsonDict, Record
from results.files import replace_file
from results.training_log import TRAIN_LOG
from training.agent.ledger import Ledger

CONFIG, PROGRESS, RESUME, CHECKPOINTS = "training.json", "progress.json", "resume", "checkpoints"


class Progress(Record):
    """Where a training stands after an update."""

    update: int = 0
    """Updates done."""
    cursor: int = 0
    """Tasks taken from the stream, all epochs together."""
    ledger: Ledger = Ledger()
    evaluated: int = -1
    """The last update whose checkpoint was evaluated on the dev tasks."""
    best_update: int | None = None
    best_score: float | None = None
    """Of the dev tasks, where they are evaluated."""


class TrainingDirectory:
    """One training's files. With several processes all call every method; the main one writes."""

    def __init__(self, directory: Path, config: JsonDict, accelerator: Any) -> None:
        """Make or enter the directory. Raises UsageError if another configuration was trained there."""
        self.directory = directory
        self._accelerator = accelerator
        path = directory / CONFIG
        if accelerator.is_main_process and not path.exists():
            directory.mkdir(parents=True, exist_ok=True)
            replace_file(path, (json.dumps(config, indent=2, sort_keys=True) + "\n").encode())
        accelerator.wait_for_everyone()
        try:
            there = json.loads(path.read_text(encoding="utf-8"))
            changed = sorted(_changed(there, config))
        except (OSError, ValueError, AttributeError):
            raise UsageError(f"{path} cannot be read", fix="restore it, or train into a new directory") from None
        if changed:
            raise UsageError(f"{directory} holds a training with another {', '.join(changed)}", fix="train into a new directory")

    @property
    def log(self) -> Path:
        return self.directory / TRAIN_LOG

    def checkpoint(self, update: int) -> Path:
        return self.directory / CHECKPOINTS / f"update-{update:06d}"

    def latest(self) -> tuple[Path, Progress] | None:
        """The newest complete checkpoint; None at the beginning. Raises UsageError if it cannot be read."""
        found = self._complete()
        if not found:
            return None
        try:
            return found[-1], Progress.model_validate_json((found[-1] / PROGRESS).read_bytes())
        except (OSError, ValidationError):
            raise UsageError(
                f"{found[-1] / PROGRESS} cannot be read", fix="remove that checkpoint: the one before is taken"
            ) from None

    def save(self, progress: Progress, write: Callable[[Path], None], keep: int) -> None:
        """Write a checkpoint: `write` fills its directory. Older ones go, but for the last `keep` and the best."""
        place = self.checkpoint(progress.update)
        partial = place.with_name(f".{place.name}")
        main = self._accelerator.is_main_process
        if main:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
        self._accelerator.wait_for_everyone()
        with _without_warnings():
            self._accelerator.save_state(str(partial / RESUME))
        if main:
            write(partial)
            (partial / PROGRESS).write_text(progress.model_dump_json(), encoding="utf-8")
            shutil.rmtree(place, ignore_errors=True)
            partial.rename(place)
            self._prune(progress, keep)
        self._accelerator.wait_for_everyone()

    def write_progress(self, progress: Progress) -> None:
        """Say more about a checkpoint that exists."""
        if self._accelerator.is_main_process:
            replace_file(self.checkpoint(progress.update) / PROGRESS, progress.model_dump_json().encode())

    def load_state(self, checkpoint: Path) -> None:
        """Weights, optimizer, scheduler and random numbers. Raises UsageError where they are damaged."""
        try:
            self._accelerator.load_state(str(checkpoint / RESUME))
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            first = (str(error).splitlines() or [""])[0]
            raise UsageError(f"{checkpoint / RESUME} cannot be loaded: {first}", fix="remove that checkpoint") from None

    def append(self, line: JsonDict) -> None:
        """One line of the log, on disk before anything else happens."""
        if self._accelerator.is_main_process:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
                file.flush()
                os.fsync(file.fileno())

    def cut_log(self, progress: Progress) -> None:
        """Keep whole lines of what `progress` knows of."""
        if self._accelerator.is_main_process and self.log.exists():
            kept = [line for line in self.log.read_bytes().split(b"\n")[:-1] if _known(line, progress)]
            replace_file(self.log, b"".join(line + b"\n" for line in kept))

    def _complete(self) -> list[Path]:
        return sorted(path.parent for path in self.directory.glob(f"{CHECKPOINTS}/update-*/{PROGRESS}"))

    def _prune(self, progress: Progress, keep: int) -> None:
        best = None if progress.best_update is None else self.checkpoint(progress.best_update)
        for path in self._complete()[:-keep]:
            if path != best:
                shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """accelerate warns at every save that tied embeddings are stored once, which is how Hugging Face stores and loads them."""
    logger = logging.getLogger("accelerate.utils.other")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _changed(before: JsonDict, now: JsonDict) -> Iterator[str]:
    """Names of fields that differ, those of sections as section.field."""
    for key in {*before, *now}:
        one, other = before.get(key), now.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from (f"{key}.{field}" for field in {*one, *other} if one.get(field) != other.get(field))
        elif one != other:
            yield key


def _known(line: bytes, progress: Progress) -> bool:
    try:
        data = json.loads(line)
        return bool(data["step"] <= (progress.evaluated if "dev" in data else progress.update))
    except (ValueError, KeyError, TypeError):
        return False
