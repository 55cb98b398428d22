"""Hindsight labels of a run: which goal a walk happened to reach, and with which of its steps. The record and its file.

runs/<run_id>/labels/<labeler>.jsonl      one `HindsightLabel` a line; beside the episodes, which are never changed
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from harness.errors import UsageError
from harness.types import Record
from results import files

LABEL_SCHEMA_VERSION = 1
LABELS = "labels"
MAX_GOAL_CHARS = 300

Kind = Literal["open", "search", "add", "send", "choose", "tick", "write", "press"]
"""What sort of goal: `send` is a form filled in and sent, `press` a button on its own."""


class HindsightLabel(Record):
    """A goal in words, reached by the first `steps` steps of an episode."""

    schema_version: int = LABEL_SCHEMA_VERSION
    run_id: str
    episode_id: str
    labeler: str
    """Who says so: `rules-1`, or `llm:` and a model's name."""
    goal: str = Field(min_length=1, max_length=MAX_GOAL_CHARS)
    kind: Kind
    steps: int = Field(ge=1)
    """The goal is reached after this many steps."""
    needed_steps: tuple[int, ...] = Field(min_length=1)
    """Indices of the steps that the goal needs; the others of the prefix are detours."""
    confidence: float = Field(ge=0, le=1)
    """How far the label can be trusted, by the labeler's own measure: for filtering, not a probability."""
    evidence: tuple[str, ...] = ()
    """What changed with the last step, in sentences."""

    @model_validator(mode="after")
    def _needs_steps_of_its_prefix(self) -> HindsightLabel:
        if self.needed_steps != tuple(sorted(set(self.needed_steps))) or not self.needed_steps[0] >= 0:
            raise ValueError("needed_steps must be different step indices in order")
        if self.needed_steps[-1] >= self.steps:
            raise ValueError("needed_steps must lie within the first `steps` steps")
        return self


def labels_path(directory: Path, labeler: str) -> Path:
    return directory / LABELS / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', labeler).strip('-.') or 'labels'}.jsonl"


def write_labels(directory: Path, labeler: str, labels: Iterable[HindsightLabel]) -> Path:
    """All labels of one labeler, atomically; labels that it gave before are replaced."""
    path = labels_path(directory, labeler)
    data = "".join(label.model_dump_json() + "\n" for label in labels).encode("utf-8")
    with files.disk_errors(str(path)):
        path.parent.mkdir(exist_ok=True)
        files.replace_file(path, data)
    return path


def read_labels(directory: Path, labeler: str) -> list[HindsightLabel]:
    """The labels of one labeler; none if there is no file. Raises UsageError for a file that holds something else."""
    path = labels_path(directory, labeler)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", fix="remove it and label the run again") from None
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(HindsightLabel.model_validate_json(line))
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            raise UsageError(
                f"{path}, line {number} is not a label: {problem['msg']}", fix="remove the file and label the run again"
            ) from None
    return found
