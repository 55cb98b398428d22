"""Large JSONL files, read episode by episode with one episode in memory, in whatever order the rows are.

    first pass    every line → locate(row) = (episode, step); kept: where the line stands, not what it says
    second pass   per episode, in the order in which episodes begin: its lines, by step

A .gz cannot be read from the middle, so its text is written to `scratch` during the first pass.
A line that is no row, is too long, or is missing because the file ends early is yielded as `Unreadable`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final, NamedTuple

from harness.errors import UsageError
from harness.types import JsonDict
from training.world_model.transitions.raw import Advance, Unreadable

MAX_LINE_BYTES: Final = 64 * 2**20
"""Longer lines are not read: a row is one page or two, and a file without line breaks must not fill the memory."""

MAX_EPISODE_BYTES: Final = 256 * 2**20
"""Episodes with more are not read, for the same reason."""

Row = dict[str, Any]
Locate = Callable[[Row], tuple[str, int]]


class BadRow(ValueError):
    """A JSON object that is not a row of the expected format; the message says why."""


class _Place(NamedTuple):
    step: int
    offset: int
    length: int
    number: int


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one episode by step; of a step that has several, the first. `numbers` are the lines' numbers."""

    episode: str
    rows: tuple[Row, ...]
    numbers: tuple[int, ...]
    repeated: tuple[int, ...]
    """Numbers of the lines that were left out because their step was there already."""


def groups(path: Path, scratch: Path, locate: Locate, advance: Advance) -> Iterator[Group | Unreadable]:
    """The episodes of a .jsonl or .jsonl.gz file. Raises UsageError where the file cannot be opened."""
    found: dict[str, list[_Place]] = {}
    with ExitStack() as stack:
        source = stack.enter_context(_opened(path))
        copy = stack.enter_context(TemporaryFile(dir=scratch)) if path.suffix == ".gz" else None
        for item in _located(path, source, copy, locate, advance):
            if isinstance(item, Unreadable):
                yield item
            else:
                found.setdefault(item[0], []).append(item[1])
        text = copy or source
        for episode, places in found.items():
            if sum(place.length for place in places) > MAX_EPISODE_BYTES:
                for place in places:
                    where: JsonDict = {"file": path.name, "line": place.number}
                    yield Unreadable("unreadable_line", f"episode {episode[:80]} exceeds {MAX_EPISODE_BYTES:,} bytes", where)
                continue
            yield _group(text, episode, places)


def peek(path: Path) -> Row:
    """The first row that can be read. Raises UsageError if there is none."""
    with _opened(path) as file:
        try:
            while line := file.readline(MAX_LINE_BYTES):
                try:
                    return parse_row(line)
                except BadRow:
                    continue
        except (EOFError, gzip.BadGzipFile, zlib.error):
            pass
    raise UsageError(f"no row of JSON in {path}", fix="give a run directory, or a .jsonl or .jsonl.gz file")


def file_facts(path: Path) -> JsonDict:
    """Size and SHA-256 of a file, for the card."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(2**20):
            digest.update(piece)
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def parse_row(line: bytes) -> Row:
    """One JSON object. Raises BadRow."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRow(f"not JSON: {str(error)[:80]}") from None
    if not isinstance(row, dict):
        raise BadRow("not a JSON object")
    return row


def text_of(row: Row, key: str) -> str:
    """A field that must be a text. Raises BadRow."""
    value = row.get(key)
    if not isinstance(value, str):
        raise BadRow(f"{key} is not a text")
    return value


def number_of(row: Row, key: str) -> int:
    """A field that must be a whole number. Raises BadRow."""
    value = row.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadRow(f"{key} is not a whole number")
    return value


def _opened(path: Path) -> IO[bytes]:
    try:
        return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}", fix="check the name") from None


def _located(
    path: Path, source: IO[bytes], copy: IO[bytes] | None, locate: Locate, advance: Advance
) -> Iterator[tuple[str, _Place] | Unreadable]:
    number = offset = 0
    where: JsonDict = {"file": path.name}
    compressed = getattr(getattr(source, "fileobj", None), "tell", None)
    seen = 0
    while True:
        number += 1
        try:
            line = source.readline(MAX_LINE_BYTES)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            yield Unreadable("truncated_file", f"after line {number - 1}: {error}", {**where, "line": number})
            return
        if not line:
            return
        if copy is not None:
            copy.write(line)
        position = compressed() if compressed is not None else offset + len(line)
        advance(position - seen)
        seen = position
        place = _Place(0, offset, len(line), number)
        offset += len(line)
        if not line.strip():
            continue
        try:
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                raise BadRow(f"longer than {MAX_LINE_BYTES:,} bytes")
            episode, step = locate(parse_row(line))
            yield episode, place._replace(step=step)
        except BadRow as error:
            yield Unreadable("unreadable_line", str(error), {**where, "line": number})


def _group(text: IO[bytes], episode: str, places: list[_Place]) -> Group:
    first: dict[int, _Place] = {}
    repeated = []
    for place in places:
        if place.step in first:
            repeated.append(place.number)
        else:
            first[place.step] = place
    ordered = [first[step] for step in sorted(first)]
    rows = []
    for place in ordered:
        text.seek(place.offset)
        rows.append(parse_row(text.read(place.length)))
    return Group(episode, tuple(rows), tuple(place.number for place in ordered), tuple(repeated))
