"""What was not taken, and why: one line each in rejects.jsonl.gz, without the pages."""

from __future__ import annotations

import gzip
from collections import Counter
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType

from harness.types import Action, JsonDict, Record
from training.world_model.transitions.raw import REASONS

FILE = "rejects.jsonl.gz"


class Reject(Record):
    """One rejected row. `reason` is one of `raw.REASONS`; `action` is None where none could be read."""

    reason: str
    detail: str = ""
    input: str
    action: Action | None = None
    provenance: JsonDict


class Lines:
    """A .jsonl.gz file being written: equal records give equal bytes. Use as a context manager."""

    def __init__(self, path: Path, level: int = 6) -> None:
        self._raw = path.open("wb")
        self._packed = gzip.GzipFile(filename="", mode="wb", fileobj=self._raw, compresslevel=level, mtime=0)
        self._text = TextIOWrapper(self._packed, encoding="utf-8", newline="\n")

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._text.close()
        self._packed.close()
        self._raw.close()

    def write(self, line: str) -> None:
        self._text.write(line + "\n")


class RejectLog:
    """Writes rejects and counts them by input and reason."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self.counts: Counter[tuple[str, str]] = Counter()

    def add(self, reject: Reject) -> None:
        if reject.reason not in REASONS:
            raise ValueError(f"unknown reason {reject.reason!r}")
        self.counts[reject.input, reject.reason] += 1
        self._lines.write(reject.model_dump_json())
