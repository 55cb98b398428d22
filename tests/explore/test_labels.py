"""The label record refuses what makes no sense, and its file comes back as it was or is refused with a line number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.errors import UsageError
from results.labels import HindsightLabel, labels_path, read_labels, write_labels


def label(**fields: Any) -> HindsightLabel:
    values: dict[str, Any] = {
        "run_id": "r", "episode_id": "e", "labeler": "rules-1", "goal": "Open 'x'", "kind": "open", "steps": 3,
        "needed_steps": (0, 2), "confidence": 0.5,
    }  # fmt: skip
    return HindsightLabel(**{**values, **fields})


@pytest.mark.parametrize(
    "wrong",
    [
        {"needed_steps": ()},
        {"needed_steps": (2, 0)},
        {"needed_steps": (0, 0)},
        {"needed_steps": (-1,)},
        {"needed_steps": (3,)},
        {"steps": 0},
        {"confidence": 1.1},
        {"goal": ""},
        {"goal": "x" * 301},
        {"kind": "dance"},
        {"more": 1},
    ],
)
def test_impossible_labels_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        label(**wrong)


def test_the_file_comes_back_and_is_replaced(tmp_path: Path) -> None:
    first, second = [label(), label(goal="Search for 'ü'")], [label(steps=5)]
    path = write_labels(tmp_path, "rules-1", first)
    assert path == labels_path(tmp_path, "rules-1") and path.parent.parent == tmp_path
    assert read_labels(tmp_path, "rules-1") == first
    write_labels(tmp_path, "rules-1", second)
    assert read_labels(tmp_path, "rules-1") == second
    assert read_labels(tmp_path, "llm:other") == []


@pytest.mark.parametrize("name", ["llm:../../etc/passwd", "a/b", "..", ""])
def test_a_labelers_name_is_no_path(tmp_path: Path, name: str) -> None:
    assert labels_path(tmp_path, name).parent == tmp_path / "labels"


def test_a_damaged_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = write_labels(tmp_path, "rules-1", [label()])
    with path.open("a", encoding="utf-8") as file:
        file.write('{"goal": "cut off\n')
    with pytest.raises(UsageError, match="line 2"):
        read_labels(tmp_path, "rules-1")
