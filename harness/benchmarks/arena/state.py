"""The state evaluator: what a task did to a site's database, compared with what it should have done.

    live database ──┬── checks    SELECTs that must give exactly the expected rows
    golden snapshot ┴── diff      every table, row by row: added, removed, changed → allowed by the task, or unintended
                                  settings that an application keeps in a file, line by line, likewise

Both databases are opened read-only, the golden one attached to the live one, so that SQLite finds the differences itself. What
any visit writes (sessions, counters) is left out by `state.toml`, which also names the files.
"""

from __future__ import annotations

import re
import sqlite3
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import EvaluatorError, first_line
from harness.types import JsonDict, json_value

BUSY_SECONDS = 5.0
MAX_ROWS = 200
"""Rows of an answer that are read: an expected answer is short, a wrong one may be anything."""
SHOWN_ROWS = 5
"""Rows of each kind of change that evidence keeps."""
_ALLOWED = re.compile(r"(?P<table>[\w*?\[\]./]+)(?P<counts>(?: [+~-]\d+)*)")
_COUNT = re.compile(r"([+~-])(\d+)")


class Database(NamedTuple):
    """The two files that are compared, and the application whose `state.toml` section applies."""

    app: str
    live: Path
    golden: Path
    folders: tuple[Path, Path] | None = None
    """All files of the application, live and golden: for settings that are not in the database. None: there are none."""


class TableDiff(NamedTuple):
    """Rows of one table that differ, as column → value; `changed` as (before, after)."""

    added: tuple[JsonDict, ...]
    removed: tuple[JsonDict, ...]
    changed: tuple[tuple[JsonDict, JsonDict], ...]

    @property
    def counts(self) -> dict[str, int]:
        return {"+": len(self.added), "-": len(self.removed), "~": len(self.changed)}

    def shown(self) -> JsonDict:
        """Counts and the first rows; of a changed row only the columns that differ."""
        found: JsonDict = {"added": len(self.added), "removed": len(self.removed), "changed": len(self.changed)}
        if self.added:
            found["added_rows"] = json_value(self.added[:SHOWN_ROWS])
        if self.removed:
            found["removed_rows"] = json_value(self.removed[:SHOWN_ROWS])
        if self.changed:
            pairs = [{k: [a[k], b[k]] for k in b if a[k] != b[k]} for a, b in self.changed[:SHOWN_ROWS]]
            found["changed_columns"] = json_value(pairs)
        return found


class StateResult(NamedTuple):
    """What the evaluator found. `missed` and `unintended` are sentences; both empty means the state is as it should be."""

    missed: tuple[str, ...]
    unintended: tuple[str, ...]
    evidence: JsonDict


def evaluate_state(state: JsonDict, databases: Mapping[str, Database], site_apps: Mapping[str, str]) -> StateResult:
    """Compare. `state`: the `state` entry of a task's `eval` (may be empty: then every change is unintended).

    `databases`: application → files, of every application the task touches; `site_apps`: site → application.
    Raises EvaluatorError if a file cannot be read or a query is not valid.
    """
    missed, answers = [], []
    for check in _list(state, "checks"):
        got = query(databases[site_apps[str(check["site"])]].live, str(check["sql"]), _sequence(check["parameters"]))
        answers.append({"sql": check["sql"], "expected": check["rows"], "got": json_value(got)})
        if got != check["rows"]:
            missed.append(f"{check['sql']} gives {_short(got)}, not {_short(check['rows'])}")
    allowed: dict[str, list[str]] = {}
    changes = state.get("changes") or {}
    assert isinstance(changes, dict)
    for site, rules in changes.items():
        allowed.setdefault(site_apps[site], []).extend(str(rule) for rule in _sequence(rules))
    unintended, changed = [], {}
    for app, files in databases.items():
        found = diff(files)
        changed[app] = {table: table_diff.shown() for table, table_diff in found.items()}
        unintended += [f"{app}: {line}" for line in unexpected(found, allowed.get(app, ()))]
    evidence: JsonDict = {
        "checks": json_value(answers),
        "changes": json_value(changed),
        "unintended": json_value(unintended),
    }
    return StateResult(tuple(missed), tuple(unintended), evidence)


def unexpected(found: Mapping[str, TableDiff], allowed: Sequence[str]) -> Iterator[str]:
    """What was changed without leave, and what was to change and did not, one line each."""
    rules = [parse_rule(text) for text in allowed]
    for table, counts in ((name, table_diff.counts) for name, table_diff in found.items()):
        rule = next((wanted for glob, wanted in rules if fnmatchcase(table, glob)), {"+": 0, "-": 0, "~": 0})
        if rule is not None and rule != counts:
            yield f"{table}: {_counted(counts)}, {f'not {_counted(rule)}' if any(rule.values()) else 'which nobody asked for'}"
    for glob, wanted in rules:
        if wanted is not None and any(wanted.values()) and not any(fnmatchcase(table, glob) for table in found):
            yield f"{glob}: nothing, not {_counted(wanted)}"


def parse_rule(text: str) -> tuple[str, dict[str, int] | None]:
    """`ticket +1 ~2` → (glob, exact counts); a name alone → (glob, None): any change. Raises ValueError."""
    match = _ALLOWED.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not like `table`, `table_*` or `table +1 -1 ~1`")
    if not match["counts"]:
        return match["table"], None
    return match["table"], {"+": 0, "-": 0, "~": 0} | {sign: int(number) for sign, number in _COUNT.findall(match["counts"])}


def query(path: Path, sql: str, parameters: Sequence[Any] = ()) -> list[list[Any]]:
    """Rows of a SELECT. Raises EvaluatorError; a statement that would write cannot: the file is opened read-only."""
    with _reading(path) as connection:
        return [list(row) for row in connection.execute(sql, list(parameters)).fetchmany(MAX_ROWS)]


def diff(files: Database) -> dict[str, TableDiff]:
    """Table → what differs, for the tables that differ; ignored tables and columns left out. A file stands as `files/NAME`."""
    ignored = ignore_list(files.app)
    found = {}
    for name in ignored.files if files.folders else ():
        lines = [_lines_of(folder / name) for folder in files.folders or ()]
        if lines[0] != lines[1]:
            found[f"files/{name}"] = _line_diff(*lines)
    with _reading(files.live) as connection:
        connection.execute("ATTACH DATABASE ? AS golden", [_uri(files.golden)])
        for table in _tables(connection):
            if any(fnmatchcase(table, glob) for glob in ignored.tables):
                continue
            if any(rows := _table_diff(connection, table, ignored.columns)):
                found[table] = rows
    return found


class Ignored(NamedTuple):
    tables: tuple[str, ...]
    columns: frozenset[str]
    """As `table.column`."""
    files: tuple[str, ...] = ()
    """Not left out but looked at besides the database: paths below the application's folder."""


@cache
def ignore_list(app: str) -> Ignored:
    """The section of `state.toml`."""
    text = resources.files("harness.benchmarks.arena").joinpath("state.toml").read_text(encoding="utf-8")
    section = tomllib.loads(text).get(app, {})
    return Ignored(tuple(section.get("tables", ())), frozenset(section.get("columns", ())), tuple(section.get("files", ())))


# ---------------------------------------------------------------------------------------------- files


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise EvaluatorError(f"the file {path.name} cannot be read: {first_line(error)}", kind="state_query") from error


def _line_diff(after: list[str], before: list[str]) -> TableDiff:
    gained, lost = Counter(after) - Counter(before), Counter(before) - Counter(after)
    moved = not gained and not lost  # the same lines in another order
    return TableDiff(
        added=tuple({"line": line} for line in (after if moved else gained.elements())),
        removed=tuple({"line": line} for line in (before if moved else lost.elements())),
        changed=(),
    )


# ---------------------------------------------------------------------------------------------- SQLite


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(_uri(path), uri=True, timeout=BUSY_SECONDS)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise EvaluatorError(f"the database {path.name} cannot be asked: {first_line(error)}", kind="state_query") from error


def _uri(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro"


def _tables(connection: sqlite3.Connection) -> list[str]:
    """Ordinary tables of either file. Search indexes (virtual tables and their shadows) repeat what other tables hold."""
    listed = [connection.execute(f"PRAGMA {schema}.table_list").fetchall() for schema in ("main", "golden")]
    names = {row[1] for rows in listed for row in rows if row[0] in ("main", "golden") and row[2] == "table"}
    return sorted(name for name in names if not name.startswith("sqlite_"))


def _table_diff(connection: sqlite3.Connection, table: str, ignored: frozenset[str]) -> TableDiff:
    columns = {schema: _columns(connection, schema, table) for schema in ("main", "golden")}
    if columns["main"] != columns["golden"]:
        raise EvaluatorError(f"the table {table} is not built like the golden snapshot's", kind="state_schema")
    key, kept = [], []
    for name, place in columns["main"].items():
        if place:
            key.append(_quoted(name))
        if f"{table}.{name}" not in ignored:
            kept.append(name)
    key = key or ["_rowid_"]
    fields = ", ".join([*key, *(_quoted(name) for name in kept)])

    def only_in(one: str, other: str) -> dict[tuple[Any, ...], JsonDict]:
        sql = f"SELECT {fields} FROM {one}.{_quoted(table)} EXCEPT SELECT {fields} FROM {other}.{_quoted(table)}"
        rows = connection.execute(sql).fetchall()
        return {row[: len(key)]: {k: json_value(v) for k, v in zip(kept, row[len(key) :], strict=True)} for row in rows}

    after, before = only_in("main", "golden"), only_in("golden", "main")
    both = [place for place in after if place in before]
    return TableDiff(
        added=tuple(row for place, row in after.items() if place not in before),
        removed=tuple(row for place, row in before.items() if place not in after),
        changed=tuple((before[place], after[place]) for place in both),
    )


def _columns(connection: sqlite3.Connection, schema: str, table: str) -> dict[str, int]:
    """Column → its place in the primary key, from 1; 0 if it is not part of it."""
    return {row[1]: row[5] for row in connection.execute(f"PRAGMA {schema}.table_info({_quoted(table)})")}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ---------------------------------------------------------------------------------------------- words


def _list(state: JsonDict, key: str) -> list[JsonDict]:
    entries = state.get(key) or []
    assert isinstance(entries, list)
    return [entry for entry in entries if isinstance(entry, dict)]


def _sequence(value: Any) -> list[Any]:
    assert isinstance(value, list)
    return value


def _counted(counts: Mapping[str, int]) -> str:
    words = {"+": "added", "-": "removed", "~": "changed"}
    return ", ".join(f"{number} {words[sign]}" for sign, number in counts.items() if number) or "nothing"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:160]} …"
