"""The planned episodes of a run as one table, read fast: 100,000 episodes in about a second of CPU, and no page text.

    up to EXACT_LIMIT planned   plan ⋈ RunReader.latest(): every episode's file is looked at, so what is unreadable is named
    above it                    plan ⋈ index.jsonl, both streamed into columns by Arrow; files are only counted by name

Both give the same `frame` (columns: COLUMNS, one line per planned episode, in plan order) and `outcomes`, so that every
number is computed by the same functions (`results.aggregate`, `results.report`). On the fast path outcomes carry no row:
columns that need one (raw rewards, other scorers) are in the full report only.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from harness.errors import UsageError
from harness.types import Status
from results.files import MAX_STORED_BYTES
from results.frames import outcomes_frame
from results.index import EpisodeRow, load_index
from results.outcomes import Outcome, outcomes_of
from results.reader import EPISODES, INDEX, PLAN, RunReader

EXACT_LIMIT = 5_000

PLANNED = ("key", "task_id", "site", "cluster", "window", "repeat", "order_index", "evaluator", "unachievable")
_TEXTS = ("episode_id", "goal", "stop_reason", "reason", "error_boundary", "error_kind", "error_message", "started_at")
_INTS = ("attempt", "steps", "invalid_actions", "agent_prompt_tokens", "agent_completion_tokens", "finish_index")
_FLOATS = ("reward", "seconds", "agent_cost_usd")
COLUMNS = (*PLANNED, "state", *_TEXTS, *_INTS, *_FLOATS)

_BLOCK = 2 * 2**20
_ROW_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("key", "status", *_TEXTS)]
    + [(name, pa.int64()) for name in _INTS]
    + [(name, pa.float64()) for name in _FLOATS]
)
_TASK = pa.struct(
    [(name, pa.string()) for name in ("benchmark", "task_id", "intent_template_id")]
    + [
        ("sites", pa.list_(pa.string())),
        ("evaluator", pa.struct([("kind", pa.string())])),
        ("unachievable", pa.bool_()),
    ]
)
_PLAN_SCHEMA = pa.schema([("task", _TASK), ("window", pa.string()), ("repeat", pa.int64()), ("order_index", pa.int64())])


@dataclass(frozen=True)
class RunColumns:
    """A run as it was at one moment. Treat `frame` as frozen."""

    frame: pd.DataFrame
    outcomes: list[Outcome]
    unreadable: dict[str, str]
    """Episode id → why its file cannot be read. Empty on the fast path, which opens none."""
    attempts: int
    """The most attempts that any episode took."""
    exact: bool
    """Every episode's file was looked at."""
    unindexed: int
    """Fast path: directories of episodes that the index does not know (being written, or the index was lost)."""
    skipped_lines: int
    """Fast path: lines of the index that cannot be read."""


def read_columns(run: RunReader) -> RunColumns:
    """The run's planned episodes and what became of them. Raises `UsageError` if the plan cannot be read."""
    return _exact(run) if run.manifest.planned <= EXACT_LIMIT else _fast(run)


def _exact(run: RunReader) -> RunColumns:
    outcomes = outcomes_of(run)
    frame = outcomes_frame(outcomes).reindex(columns=list(COLUMNS))
    attempts = max((row.attempt + 1 for row in run.rows()), default=0)
    return RunColumns(frame, outcomes, run.unreadable(), attempts, exact=True, unindexed=0, skipped_lines=0)


def _fast(run: RunReader) -> RunColumns:
    plan = _plan(run.directory / PLAN)
    rows, skipped = _index(run.directory / INDEX)
    stored = _names(run.directory / EPISODES)
    latest, attempts, known = _latest(rows, stored)
    lines = pa.array([latest.get(key) for key in plan["key"].to_pylist()], pa.int64())
    found = rows.take(lines)
    del rows
    columns = {name: plan[name] for name in PLANNED} | {"state": pc.fill_null(found["status"], "missing")}
    columns |= {name: found[name] for name in (*_TEXTS, *_INTS, *_FLOATS)}
    frame = pd.DataFrame(pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype))[list(COLUMNS)]
    outcomes = _outcomes(pa.table(columns))
    del found, columns
    # What Arrow has freed it keeps for itself; a server that reads a run again and again would only grow.
    pa.default_memory_pool().release_unused()
    unindexed = len(stored - known)
    return RunColumns(frame, outcomes, {}, attempts, exact=False, unindexed=unindexed, skipped_lines=skipped)


def _latest(rows: pa.Table, stored: set[str]) -> tuple[dict[str, int], int, set[str]]:
    """Key → line of its last attempt, where that one was not interrupted; the most attempts; every episode id seen.

    A later line of one episode replaces an earlier one; a line whose episode is not on disk counts for nothing.
    """
    names = rows["episode_id"].to_pylist()
    lines = {name: line for line, name in enumerate(names)}
    keys, attempts = rows["key"].to_pylist(), rows["attempt"].to_pylist()
    interrupted = pc.equal(rows["stop_reason"], "interrupted").to_pylist()
    last: dict[str, int] = {}
    most = 0
    for name, line in lines.items():
        if name in stored:
            most = max(most, attempts[line] + 1)
            if keys[line] not in last or attempts[line] > attempts[last[keys[line]]]:
                last[keys[line]] = line
    return {key: line for key, line in last.items() if not interrupted[line]}, most, set(lines)


def _outcomes(table: pa.Table) -> list[Outcome]:
    columns = (_shared(table[name]) for name in (*PLANNED, "state"))
    return [
        Outcome(key, task_id, site, cluster, window, repeat, order, evaluator, unachievable, state, row=None)
        for key, task_id, site, cluster, window, repeat, order, evaluator, unachievable, state in zip(*columns, strict=True)
    ]


def _shared(column: pa.ChunkedArray) -> list[Any]:
    """The values, equal texts being one object: a hundred thousand names of five sites are five strings."""
    if not pa.types.is_string(column.type):
        return list(column.to_pylist())
    encoded = column.combine_chunks().dictionary_encode()
    words = encoded.dictionary.to_pylist()
    return [words[code] for code in encoded.indices.to_pylist()]


def _plan(path: Path) -> pa.Table:
    try:
        with gzip.open(path) as file:
            table = _streamed(_Prefix(file, MAX_STORED_BYTES), _PLAN_SCHEMA)
    except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
        raise UsageError(f"cannot read {path}: truncated or damaged", fix="restore it, or start a new run") from error
    task = table["task"].combine_chunks()
    names = ("benchmark", "task_id", "intent_template_id", "sites")
    benchmark, task_id, template, sites = (pc.struct_field(task, name) for name in names)
    count = pc.fill_null(pc.list_value_length(sites), 0)
    # list_element fails on shorter lists: an empty list is given its benchmark first.
    single = pc.if_else(pc.equal(count, 1), sites, pa.scalar([""], pa.list_(pa.string())))
    site = pc.case_when(
        pc.make_struct(pc.equal(count, 1), pc.greater(count, 1)),
        pc.list_element(single, 0),
        pa.scalar("multi-site"),
        benchmark,
    )
    repeat = pc.cast(table["repeat"].combine_chunks(), pa.string())
    columns = {
        "key": pc.binary_join_element_wise(benchmark, task_id, table["window"].combine_chunks(), repeat, "/"),
        "task_id": task_id,
        "site": site,
        "cluster": pc.if_else(pc.not_equal(pc.fill_null(template, ""), ""), template, task_id),
        "window": table["window"],
        "repeat": table["repeat"],
        "order_index": table["order_index"],
        "evaluator": pc.struct_field(task, ["evaluator", "kind"]),
        "unachievable": pc.fill_null(pc.struct_field(task, "unachievable"), False),
    }
    return pa.table(columns)


def _index(path: Path) -> tuple[pa.Table, int]:
    """The good rows, and how many lines are not good. The last line counts as being written if it has no end."""
    try:
        with path.open("rb") as file:
            table = _streamed(_Prefix(file, _complete_lines(file)), _ROW_SCHEMA)
        skipped = 0
    except FileNotFoundError:
        table, skipped = _ROW_SCHEMA.empty_table(), 0
    except (pa.ArrowException, OSError):
        rows = load_index(path)
        table = pa.Table.from_pylist([_flat(row) for row in rows.values()], _ROW_SCHEMA)
        skipped = max(0, _line_count(path) - len(rows))
    good = pc.is_in(table["status"], pa.array(get_args(Status)))
    for name in ("attempt", "episode_id", "key"):
        good = pc.and_(good, pc.is_valid(table[name]))
    kept = table.filter(good)
    return kept, skipped + table.num_rows - kept.num_rows


def _flat(row: EpisodeRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _ROW_SCHEMA.names}


def _streamed(file: io.RawIOBase, schema: pa.Schema) -> pa.Table:
    buffered = io.BufferedReader(file, _BLOCK)
    if not buffered.peek(1):
        return schema.empty_table()
    reader = pj.open_json(
        buffered,
        read_options=pj.ReadOptions(block_size=_BLOCK),
        parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    )
    return pa.Table.from_batches(list(reader), schema)


class _Prefix(io.RawIOBase):
    """The first `size` bytes of a file."""

    def __init__(self, file: Any, size: int) -> None:
        self._file, self._left = file, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)


def _complete_lines(file: io.BufferedReader) -> int:
    """Bytes up to the last line end; the file is left at its start."""
    size = file.seek(0, os.SEEK_END)
    while size > 0:
        start = max(0, size - 65_536)
        file.seek(start)
        at = file.read(size - start).rfind(b"\n")
        if at >= 0:
            size = start + at + 1
            break
        size = start
    file.seek(0)
    return size


def _line_count(path: Path) -> int:
    return sum(1 for line in path.read_bytes().splitlines() if line.strip())


def _names(directory: Path) -> set[str]:
    try:
        with os.scandir(directory) as entries:
            return {entry.name for entry in entries if not entry.name.startswith(".")}
    except OSError:
        return set()


def fingerprint(directory: Path) -> tuple[tuple[int, int], ...]:
    """Changes when an episode is stored: (mtime in ns, size) of the files that `read_columns` depends on."""
    return tuple(_stat(directory / name) for name in _WATCHED)


_WATCHED: Sequence[str] = ("manifest.json", PLAN, INDEX, EPISODES)


def _stat(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
