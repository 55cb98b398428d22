"""A world model's answers on disk, so that what was asked once is never asked again and figures can be recomputed without it.

    MODEL/asked.json               of whom, on which data
    MODEL/predictions.jsonl.gz     a gzip member per batch: a crash loses at most the batch that was being written

A key names a question:   teacher EXAMPLE · free START DEPTH · goal-none EXAMPLE · goal-other EXAMPLE · outcome EPISODE
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from audits.fidelity.records import Answered, Asked
from harness.errors import UsageError
from harness.predictions import WorldModelQuery
from harness.protocols import WorldModel
from results.files import disk_errors, fsync_directory, gzipped, held, replace_file

ASKED, PREDICTIONS = "asked.json", "predictions.jsonl.gz"
BATCH: Final = 64
"""Questions per call: large enough for a model to batch, small enough to lose."""

Question = tuple[str, WorldModelQuery]
Progress = Callable[[int, int], None]
"""Called with (answered, asked) after each batch."""


def silent(answered: int, asked: int) -> None:
    """A `Progress` that shows nothing."""


class Answers:
    """The stored answers of one model. `answer` asks the model what is not stored yet."""

    def __init__(self, folder: Path, model: WorldModel | None, samples: int = 1, batch: int = BATCH) -> None:
        """Read what lies in `folder`. Without a model nothing is asked. Raises UsageError where a line is damaged."""
        self.folder = folder
        self._model = model
        self._samples = samples
        self._batch = batch
        self._path = folder / PREDICTIONS
        self._known: dict[str, Answered] = {}
        for line in _stored_lines(self._path, repair=model is not None):
            try:
                row = Answered.model_validate_json(line)
            except ValidationError:
                raise UsageError(f"{self._path} holds a line that is no prediction", fix="choose another --out") from None
            self._known[row.key] = row

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> Answered | None:
        return self._known.get(key)

    def answer(self, questions: Sequence[Question], progress: Progress = silent) -> list[Answered | None]:
        """An answer to each question, in order; None only where there is no model to ask."""
        open_ones = list({key: query for key, query in questions if key not in self._known}.items())
        done = len(questions) - len(open_ones)
        progress(done, len(questions))
        for start in range(0, len(open_ones) if self._model else 0, self._batch):
            batch = open_ones[start : start + self._batch]
            self._ask(batch)
            done += len(batch)
            progress(done, len(questions))
        return [self._known.get(key) for key, _ in questions]

    def _ask(self, batch: Sequence[Question]) -> None:
        assert self._model is not None
        began = time.perf_counter()
        found = self._model.predict([query for _, query in batch], self._samples)
        seconds = (time.perf_counter() - began) / (len(batch) * self._samples)
        rows = [
            Answered(key=key, predictions=tuple(predictions), seconds=seconds)
            for (key, _), predictions in zip(batch, found, strict=True)
        ]
        self._append("".join(row.model_dump_json() + "\n" for row in rows))
        self._known.update((row.key, row) for row in rows)

    def _append(self, text: str) -> None:
        with disk_errors(str(self._path)):
            new = not self._path.exists()
            with self._path.open("ab") as file:
                file.write(gzipped(text))
                file.flush()
                os.fsync(file.fileno())
            if new:
                fsync_directory(self.folder)


@contextmanager
def claim(folder: Path, asked: Asked) -> Iterator[None]:
    """Keep other processes out of `folder`, and answers of anything else than `asked`.

    Raises UsageError where something else was asked here before, NotReadyError while another process holds it.
    """
    with held(folder):
        before = read_asked(folder)
        if before is None:
            with disk_errors(str(folder)):
                replace_file(folder / ASKED, asked.model_dump_json(indent=1).encode())
        elif before != asked:
            other = [name for name in Asked.model_fields if getattr(before, name) != getattr(asked, name)]
            raise UsageError(f"{folder} holds answers to something else ({', '.join(other)} differ)", fix="choose another --out")
        yield


def read_asked(folder: Path) -> Asked | None:
    """What was asked here; None where nothing was. Raises UsageError for a damaged file."""
    path = folder / ASKED
    try:
        return Asked.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        raise UsageError(f"{path} is damaged or of another version", fix="choose another --out") from None


def _stored_lines(path: Path, *, repair: bool) -> Iterator[bytes]:
    """Lines of all whole gzip members. A torn last member, left by a crash, ends the file; `repair` cuts it off."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    good = 0
    while good < len(data):
        member = zlib.decompressobj(wbits=31)
        try:
            text = member.decompress(data[good:]) + member.flush()
        except zlib.error:
            break
        if not member.eof:
            break
        yield from text.splitlines()
        good = len(data) - len(member.unused_data)
    if repair and good < len(data):
        with disk_errors(str(path)), path.open("r+b") as file:
            file.truncate(good)
