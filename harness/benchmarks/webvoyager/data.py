"""The task file and the reference answers as they are on disk. Nothing here is carried by this repository.

    WebVoyager_data.jsonl    one JSON object per line: {web_name, id, ques, web}
    reference_answer.json    {web_name: {"answers": [{"id": number, "type": golden|possible, "ans": text}]}}

The id of a task is "<web_name>--<number>"; the reference file numbers answers within a site. Files are untrusted: a row
that is not of this form stops the program with its line number.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from harness.errors import NotReadyError, UsageError

DATA_FILE, REFERENCE_FILE = "WebVoyager_data.jsonl", "reference_answer.json"
DATA_VARIABLE = "HARNESS_WEBVOYAGER_DATA"
DEFAULT_DIRECTORY = Path("data/webvoyager")
"""Where `harness fetch webvoyager` puts the files, relative to the working directory."""

PINNED_SHA256 = {
    DATA_FILE: "69b19fd86c23f1a500244a3724e039aa7ca6a1223d03e11eb10e308d4f11c488",
    REFERENCE_FILE: "5473818408d8a19960c4f820c1e5721d218b87b547499d7281c2a0fc4267b0c4",
}
"""The published files: MinorJerry/WebVoyager at commit 5a78967, 643 tasks."""

MAX_FILE_BYTES = 50_000_000


class Row(NamedTuple):
    """One line of the task file."""

    web_name: str
    id: str
    ques: str
    web: str


class Reference(NamedTuple):
    """An answer written by the benchmark's authors: `golden` is stable, `possible` is one of many or drifts in time."""

    type: Literal["golden", "possible"]
    answer: str


def data_directory(configured: Path | None) -> Path:
    """The directory of the files: configured, else $HARNESS_WEBVOYAGER_DATA, else ./data/webvoyager."""
    return configured or Path(os.environ.get(DATA_VARIABLE) or DEFAULT_DIRECTORY)


def task_file(configured: Path | None) -> Path:
    """The task file of a directory, or the file itself where one is configured. NotReadyError if it is not there."""
    path = data_directory(configured)
    if path.is_dir():
        path = path / DATA_FILE
    if not path.is_file():
        raise NotReadyError(
            f"WebVoyager's task file is not at {path}",
            fix=f"run `harness fetch webvoyager`, or set data in the config or ${DATA_VARIABLE}",
        )
    return path


def read_rows(path: Path) -> list[Row]:
    """All rows in file order; UsageError names the line that is not a task, or an id that occurs twice."""
    rows: list[Row] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip():
            rows.append(_row(line, f"{path}, line {number}"))
    if not rows:
        raise UsageError(f"{path} holds no task", fix="give a WebVoyager task file (JSON lines)")
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise UsageError(f"{path} holds the task id {row.id!r} twice", fix="remove one of the lines")
        seen.add(row.id)
    return rows


def read_references(path: Path) -> dict[str, Reference]:
    """task id → reference answer. An entry that is not of the published form is a UsageError."""
    content = read_json(path)
    try:
        return {
            f"{site}--{entry['id']}": Reference("golden" if entry["type"] == "golden" else "possible", str(entry["ans"]))
            for site, block in content.items()
            for entry in block["answers"]
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is not a WebVoyager reference file: {error!r}", fix="fetch it again") from error


def read_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}", fix="check the file, or fetch it again") from error


def read_text(path: Path) -> str:
    """A UTF-8 file of a sane size; every failure is a one-line UsageError."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes", fix="is it the right file?")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", fix="check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason}", fix="check the file, or fetch it again") from error


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _row(line: str, where: str) -> Row:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON: {error}", fix="each line is one {web_name, id, ques, web}") from error
    fields = record if isinstance(record, dict) else {}
    values = [value.strip() for name in Row._fields if isinstance(value := fields.get(name), str)]
    if len(values) != len(Row._fields) or not all(values):
        raise UsageError(f"{where} is not a task", fix="each line is one {web_name, id, ques, web}, all of them text")
    row = Row(*values)
    if urlsplit(row.web).scheme not in ("http", "https", "file"):
        raise UsageError(f"{where}: {row.web[:80]!r} is not a web address", fix="start URLs are http, https or file")
    return row
