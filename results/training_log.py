"""`train_log.jsonl`: one JSON object per line, appended as a training goes on; read here, tolerantly, for curves.

A line may hold any numbers (`step`, `loss`, `tokens`, `seconds`, `lr`, `grad_norm`, `reward` …) and nested groups of
numbers (`dev`: {`loss`: …} becomes `dev.loss`). What is no number is left out; a last line without an end is being written.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from harness.errors import UsageError
from harness.types import JsonDict
from results.manifest import flat

TRAIN_LOG = "train_log.jsonl"
MAX_BYTES = 256 * 2**20


@dataclass(frozen=True)
class TrainingLog:
    """`frame`: one line per readable line, columns in order of appearance, a missing number NA. `step` always exists."""

    frame: pd.DataFrame
    skipped_lines: int

    @property
    def measures(self) -> list[str]:
        """Names of the columns that hold a curve."""
        return [name for name in self.frame.columns if name != "step"]


def read_training_log(path: Path) -> TrainingLog:
    """Read a training's log. Raises `UsageError` where the file cannot be read at all."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path} has more than {MAX_BYTES // 2**20} MiB", fix="thin it out: keep every n-th line")
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    rows, skipped = [], 0
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        row = _numbers(line)
        if not row:
            skipped += 1
            continue
        rows.append({"step": float(number), **row})
    frame = pd.DataFrame(rows, dtype="Float64") if rows else pd.DataFrame({"step": pd.Series(dtype="Float64")})
    return TrainingLog(frame, skipped)


def _numbers(line: bytes) -> dict[str, float]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    values: JsonDict = dict(flat(data))
    found: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                number = float(value)
            except OverflowError:
                continue
            if math.isfinite(number):
                found[name] = number
    return found
