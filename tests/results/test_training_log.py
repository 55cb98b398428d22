"""Logs of trainings: numbers become columns, everything else is left out, and a line being written is not read yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from results.training_log import TrainingLog, read_training_log


def log(directory: Path, text: str) -> TrainingLog:
    path = directory / "train_log.jsonl"
    path.write_text(text, encoding="utf-8")
    return read_training_log(path)


def test_numbers_and_groups_of_numbers_become_curves(tmp_path: Path) -> None:
    found = log(tmp_path, '{"step": 0, "loss": 2.5, "dev": {"loss": 2.0}, "note": "x", "ok": true}\n{"step": 10, "loss": 1}\n')
    assert found.measures == ["loss", "dev.loss"]
    assert found.frame["step"].tolist() == [0, 10]
    assert found.frame["dev.loss"].isna().tolist() == [False, True]


def test_lines_without_a_step_are_numbered(tmp_path: Path) -> None:
    assert log(tmp_path, '{"loss": 3}\n{"loss": 2}\n').frame["step"].tolist() == [0, 1]


def test_a_line_that_is_being_written_is_not_read_and_nonsense_is_counted(tmp_path: Path) -> None:
    found = log(tmp_path, '{"loss": 1}\nnonsense\n[1]\n{"text": "only"}\n\n{"loss": 2}\n{"loss": 3')
    assert found.frame["loss"].tolist() == [1, 2]
    assert found.skipped_lines == 3


def test_what_is_no_finite_number_is_missing(tmp_path: Path) -> None:
    found = log(tmp_path, f'{{"loss": NaN, "a": Infinity, "b": 1{"0" * 400}, "c": 1}}\n')
    assert found.measures == ["c"]


def test_an_empty_log_has_no_curve(tmp_path: Path) -> None:
    assert log(tmp_path, "").measures == []


def test_no_log_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_training_log(tmp_path / "nowhere.jsonl")
