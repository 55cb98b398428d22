"""The state evaluator on real SQLite files: what it sees, what it leaves out, what it refuses."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.benchmarks.arena import state as module
from harness.benchmarks.arena.state import Database, diff, evaluate_state, ignore_list, parse_rule, query
from harness.errors import EvaluatorError

SCHEMA = """
CREATE TABLE ticket (id INTEGER PRIMARY KEY, summary TEXT, owner TEXT);
CREATE TABLE ticket_change (ticket INTEGER, field TEXT, value TEXT, UNIQUE (ticket, field));
CREATE TABLE permission (username TEXT, action TEXT, PRIMARY KEY (username, action)) WITHOUT ROWID;
CREATE TABLE "odd ""name" (id INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE auth_cookie (cookie TEXT, name TEXT);
CREATE VIRTUAL TABLE words USING fts5(word);
INSERT INTO ticket VALUES (1, 'Broken lamp', 'ann'), (2, 'Loud fan', 'bob'), (3, 'Wet floor', NULL);
INSERT INTO ticket_change VALUES (1, 'owner', 'ann');
INSERT INTO permission VALUES ('ann', 'TICKET_VIEW');
INSERT INTO "odd ""name" VALUES (1, x'00ff');
"""
SITES = {"tracker": "tracker", "wiki": "tracker"}


@pytest.fixture
def files(tmp_path: Path) -> Database:
    golden, live = tmp_path / "first state", tmp_path / "live?#.db"
    with closing(sqlite3.connect(golden)) as connection:
        connection.executescript(SCHEMA)
    shutil.copyfile(golden, live)
    return Database("tracker", live, golden)


def write(files: Database, script: str) -> None:
    with closing(sqlite3.connect(files.live)) as connection:
        connection.executescript(script)


def evaluate(files: Database, checks: list[tuple[str, list[Any], list[list[Any]]]], **changes: list[str]) -> Any:
    listed = [{"site": "tracker", "sql": sql, "parameters": given, "rows": rows} for sql, given, rows in checks]
    return evaluate_state({"checks": listed, "changes": changes}, {"tracker": files}, SITES)  # type: ignore[dict-item]


def test_nothing_done_is_no_difference(files: Database) -> None:
    assert diff(files) == {}


def test_every_kind_of_change_is_seen_with_its_rows(files: Database) -> None:
    write(
        files,
        """UPDATE ticket SET owner = 'eve' WHERE id = 2; DELETE FROM ticket WHERE id = 3;
        INSERT INTO ticket VALUES (4, 'New', 'x');
        INSERT INTO permission VALUES ('eve', 'ADMIN');
        UPDATE "odd ""name" SET data = x'01';
        UPDATE ticket_change SET value = 'bob';""",
    )
    found = diff(files)
    assert {table: table_diff.counts for table, table_diff in found.items()} == {
        "ticket": {"+": 1, "-": 1, "~": 1},
        "permission": {"+": 1, "-": 0, "~": 0},
        'odd "name': {"+": 0, "-": 0, "~": 1},
        "ticket_change": {"+": 0, "-": 0, "~": 1},
    }
    assert found["ticket"].shown()["changed_columns"] == [{"owner": ["bob", "eve"]}]
    assert found["ticket"].shown()["added_rows"] == [{"id": 4, "summary": "New", "owner": "x"}]


def test_what_any_visit_writes_is_left_out(files: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    write(files, "INSERT INTO auth_cookie VALUES ('c', 'ann'); INSERT INTO words VALUES ('lamp');")
    assert diff(files) == {}
    monkeypatch.setattr(module, "ignore_list", lambda _: module.Ignored((), frozenset({"ticket.owner"})))
    write(files, "UPDATE ticket SET owner = 'eve';")
    assert list(diff(files)) == ["auth_cookie"]


def test_a_task_done_as_asked(files: Database) -> None:
    write(files, "UPDATE ticket SET owner = 'eve' WHERE id = 2; INSERT INTO ticket_change VALUES (2, 'owner', 'eve');")
    result = evaluate(
        files,
        [("SELECT owner FROM ticket WHERE id = ?", [2], [["eve"]])],
        tracker=["ticket ~1", "ticket_change +1"],
    )
    assert (result.missed, result.unintended) == ((), ())
    assert result.evidence["changes"]["tracker"]["ticket"]["changed"] == 1


def test_a_wrong_row_is_missed_and_another_change_is_unintended(files: Database) -> None:
    write(files, "UPDATE ticket SET owner = 'eve'; DELETE FROM permission;")
    result = evaluate(files, [("SELECT owner FROM ticket WHERE id = ?", [2], [["mallory"]])], tracker=["ticket ~1"])
    assert result.missed == ("SELECT owner FROM ticket WHERE id = ? gives [['eve']], not [['mallory']]",)
    assert result.unintended == (
        "tracker: permission: 1 removed, which nobody asked for",
        "tracker: ticket: 3 changed, not 1 changed",
    )


def test_a_change_that_was_to_come_and_did_not_is_told(files: Database) -> None:
    assert evaluate(files, [], tracker=["ticket +1"]).unintended == ("tracker: ticket: nothing, not 1 added",)
    assert evaluate(files, [], wiki=["ticket", "perm*"]).unintended == ()  # a bare name allows, it does not ask
    write(files, "DELETE FROM permission")
    assert evaluate(files, [], wiki=["ticket", "perm*"]).unintended == ()


@pytest.mark.parametrize("text", ["", "ticket +", "ticket 1", "ticket +1 -", "a b", "ticket; drop", "ticket +1  ~1"])
def test_a_rule_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not like"):
        parse_rule(text)


def test_rules() -> None:
    assert parse_rule("basket_*") == ("basket_*", None)
    assert parse_rule("ticket +2 ~1") == ("ticket", {"+": 2, "-": 0, "~": 1})


@pytest.mark.parametrize(
    "sql", ["SELECT nonsense FROM ticket", "INSERT INTO ticket VALUES (9, '', '')", "DROP TABLE ticket", "SELECT ?"]
)
def test_a_query_that_cannot_run_is_an_error_of_the_evaluator_and_writes_nothing(files: Database, sql: str) -> None:
    with pytest.raises(EvaluatorError, match="cannot be asked"):
        query(files.live, sql)
    assert diff(files) == {}


def test_a_file_that_is_not_there_or_no_database_or_of_another_schema(files: Database, tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError):
        diff(files._replace(golden=tmp_path / "nothing"))
    (tmp_path / "text").write_text("no database\n" * 100)
    with pytest.raises(EvaluatorError):
        diff(files._replace(live=tmp_path / "text"))
    write(files, "ALTER TABLE ticket ADD COLUMN cc TEXT")
    with pytest.raises(EvaluatorError, match="ticket is not built like"):
        diff(files)


def test_the_database_may_be_in_use(files: Database) -> None:
    with closing(sqlite3.connect(files.live, isolation_level=None)) as server:
        server.execute("BEGIN IMMEDIATE")
        server.execute("DELETE FROM ticket")
        assert diff(files) == {}, "what is not committed has not happened"
        server.execute("COMMIT")
    assert diff(files)["ticket"].counts["-"] == 3


def test_the_ignore_lists_are_readable() -> None:
    assert "auth_cookie" in ignore_list("tracker").tables
    assert all("." in column for app in ("shop", "forum", "tracker") for column in ignore_list(app).columns)
    assert ignore_list("no such application") == ((), frozenset(), ())


def test_settings_kept_in_a_file_are_state_too(files: Database, tmp_path: Path) -> None:
    (name,) = ignore_list("tracker").files
    folders = (tmp_path / "live files", tmp_path / "golden files")
    for folder in folders:
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("[ticket]\ndefault_component = search\ndefault_type = defect\n")
    files = files._replace(folders=folders)
    assert evaluate(files, []).unintended == ()
    live = folders[0] / name
    live.write_text("[ticket]\ndefault_component = api\ndefault_type = defect\n")
    found = evaluate(files, [])
    assert found.unintended == (f"tracker: files/{name}: 1 added, 1 removed, which nobody asked for",)
    shown = found.evidence["changes"]["tracker"][f"files/{name}"]
    assert shown["added_rows"] == [{"line": "default_component = api"}]
    assert shown["removed_rows"] == [{"line": "default_component = search"}]
    assert evaluate(files, [], tracker=["files/*"]).unintended == ()
    live.write_text("[ticket]\ndefault_type = defect\ndefault_component = search\n")
    assert evaluate(files, []).unintended != ()
    live.unlink()
    assert "3 removed" in evaluate(files, []).unintended[0]


Rows = st.dictionaries(st.integers(1, 12), st.one_of(st.none(), st.integers(0, 3), st.text("ab", max_size=2)), max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=Rows, after=Rows)
def test_the_difference_is_the_difference(tmp_path: Path, before: dict[int, Any], after: dict[int, Any]) -> None:
    files = Database("tracker", tmp_path / "live", tmp_path / "golden")
    for path, rows in ((files.golden, before), (files.live, after)):
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", rows.items())
    counts = diff(files)["t"].counts if before != after else {"+": 0, "-": 0, "~": 0}
    assert counts == {
        "+": len(after.keys() - before.keys()),
        "-": len(before.keys() - after.keys()),
        "~": sum(before[key] != after[key] for key in before.keys() & after.keys()),
    }
    assert (diff(files) == {}) == (before == after)
