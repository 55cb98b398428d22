"""Files made equal to a first state, whatever was done to them."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sites.snapshot import Manifest, finish, restore

ROWS = [(1, "one"), (2, "two")]


def make(folder: Path) -> Manifest:
    (folder / "index" / "empty").mkdir(parents=True)
    for name in ("a.txt", "index/b.txt", "index/deep/c.txt", "media/ü π.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"first {name}")
    with closing(sqlite3.connect(folder / "index" / "data.db")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", ROWS)
        connection.commit()
    return finish(folder)


def contents(folder: Path) -> dict[str, object]:
    """Everything below a folder: text of files, rows of the database, None for a folder."""
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if name == "index/data.db":
            with closing(sqlite3.connect(path)) as connection:
                found[name] = connection.execute("SELECT * FROM t ORDER BY id").fetchall()
        else:
            found[name] = path.read_text() if path.is_file() else None
    return found


NAMES = st.sampled_from(["a.txt", "index/b.txt", "index/deep/c.txt", "media/ü π.png", "new.txt", "index/segment-2", "x/y/z"])
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, st.text(max_size=30)),
        st.tuples(st.just("delete"), NAMES),
        st.tuples(st.just("delete folder"), st.sampled_from(["index/deep", "media", "index/empty"])),
        st.tuples(st.just("insert"), st.text(max_size=20)),
        st.tuples(st.just("drop")),
        st.tuples(st.just("lose database")),
        st.tuples(st.just("grow"), st.integers(1, 300)),
        st.tuples(st.just("left over"), st.just(".a.txt.restoring")),
    ),
    max_size=8,
)


def do(folder: Path, deed: tuple[object, ...]) -> None:
    match deed:
        case ("write", str(name), str(text)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        case ("delete" | "lose database", *names):
            (folder / str(names[0] if names else "index/data.db")).unlink(missing_ok=True)
        case ("delete folder", str(name)):
            shutil.rmtree(folder / name, ignore_errors=True)
        case ("left over", str(name)):
            (folder / name).write_text("half")
        case _:
            with closing(sqlite3.connect(folder / "index" / "data.db")) as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, word TEXT)")
                if deed[0] == "drop":
                    connection.execute("DROP TABLE t")
                else:
                    words = [(deed[1],)] if deed[0] == "insert" else [("x" * 5000,)] * int(str(deed[1]))
                    connection.executemany("INSERT INTO t (word) VALUES (?)", words)
                connection.commit()


@settings(max_examples=40, deadline=None)
@given(DEEDS)
def test_whatever_was_done_is_undone(deeds: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        golden, data = Path(folder, "golden"), Path(folder, "data")
        manifest = make(golden)
        restore(golden, manifest, data)
        first = contents(golden)
        assert contents(data) == first
        for deed in deeds:
            do(data, deed)
        restore(golden, manifest, data)
        after = contents(data)
        extra = {name for name in after.keys() - first.keys() if after[name] is None}  # an empty folder hurts nobody
        assert {name: value for name, value in after.items() if name not in extra} == first
        assert contents(golden) == first


def test_a_manifest_survives_its_file_and_lists_everything_once(tmp_path: Path) -> None:
    manifest = make(tmp_path)
    assert Manifest.model_validate_json(manifest.model_dump_json()) == manifest
    assert manifest.databases == ("index/data.db",)
    assert sorted(manifest.files) == ["a.txt", "index/b.txt", "index/deep/c.txt", "media/ü π.png"]
    assert "index/empty" in manifest.folders
    assert not list(tmp_path.rglob("*-wal"))


def test_an_open_connection_sees_the_first_state(tmp_path: Path) -> None:
    """The trap of copying the file: SQLite takes its cached pages for current when the change counter says so."""
    golden, data = tmp_path / "golden", tmp_path / "data"
    manifest = make(golden)
    restore(golden, manifest, data)
    with closing(sqlite3.connect(data / "index" / "data.db")) as old:
        for number in range(5):
            old.execute("INSERT INTO t (word) VALUES ('mine')")
            old.commit()
            restore(golden, manifest, data)
            with closing(sqlite3.connect(data / "index" / "data.db")) as other:
                other.execute("INSERT INTO t (word) VALUES (?)", (f"theirs {number}",))
                other.commit()
            assert old.execute("SELECT * FROM t ORDER BY id").fetchall() == [*ROWS, (3, f"theirs {number}")]
            assert old.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_damaged_database_is_not_taken_for_a_first_state(tmp_path: Path) -> None:
    make(tmp_path)
    with (tmp_path / "index" / "data.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)
    with pytest.raises(sqlite3.DatabaseError):
        finish(tmp_path)


def test_a_folder_where_a_file_was_gives_way(tmp_path: Path) -> None:
    golden, data = tmp_path / "golden", tmp_path / "data"
    manifest = make(golden)
    restore(golden, manifest, data)
    (data / "a.txt").unlink()
    (data / "a.txt").mkdir()
    (data / "a.txt" / "inside").write_text("x")
    restore(golden, manifest, data)
    assert (data / "a.txt").read_text() == "first a.txt"
