"""Nothing finished is lost: whatever is killed, cut off or full, the episodes on disk give the same rows and numbers."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import NotReadyError
from harness.types import Status
from results import files
from results.aggregate import count, rate_of_planned, rate_of_scored
from results.outcomes import outcomes_of
from results.reader import EPISODES, INDEX, RunReader
from results.store import RunStore
from tests.results.factory import PNG, episode, manifest, plan, step, task
from tests.support import disk

STATUSES: tuple[Status, ...] = ("success", "failure", "error", "blocked", "inconclusive")

events = st.lists(
    st.one_of(
        st.tuples(st.just("record"), st.integers(0, 4), st.sampled_from(STATUSES)),
        st.tuples(st.sampled_from(["reopen", "leftover", "cut index", "lose index", "garbage index", "stale row"])),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(events)
def test_any_interleaving_of_records_and_crashes_gives_the_same_index(history: list[tuple[object, ...]]) -> None:
    specs = plan([task(name, template=name[0]) for name in ("a1", "a2", "b1", "b2", "c1")])
    expected: dict[str, tuple[str, int]] = {}
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "run"
        store = RunStore.create(directory, manifest(specs), specs)
        finished = 0
        for event in history:
            if event[0] == "record":
                spec = store.next_attempt(specs[event[1]])  # type: ignore[call-overload]
                store.record(episode(spec, event[2], finish_index=finished), {"step-000.png": PNG})  # type: ignore[arg-type]
                expected[spec.episode_id] = (str(event[2]), finished)
                finished += 1
            else:
                store.close()
                _crash(str(event[0]), directory)
                store = RunStore.resume(directory, manifest(specs))
        seen = {row.episode_id: (row.status, row.finish_index) for row in store.rows()}
        assert seen == expected
        store.close()
        kept = RunReader.open(directory)
        from_index, numbers = kept.rows(), _numbers(kept)
        (directory / INDEX).unlink(missing_ok=True)
        rebuilt = RunReader.open(directory)
        assert rebuilt.rows() == from_index
        assert _numbers(rebuilt) == numbers
        assert not list((directory / EPISODES).glob(".tmp-*"))


def _crash(what: str, directory: Path) -> None:
    index = directory / INDEX
    data = index.read_bytes() if index.exists() else b""
    if what == "leftover":
        (directory / EPISODES / ".tmp-a1__A__r0__a0.99").mkdir(exist_ok=True)
        (directory / EPISODES / ".tmp-a1__A__r0__a0.99" / "episode.json.gz").write_bytes(b"half")
    elif what == "cut index" and data:
        index.write_bytes(data[:-15])
    elif what == "lose index":
        index.unlink(missing_ok=True)
    elif what == "garbage index":
        index.write_bytes(b'\xff{"episode_id": 3}\n\n' + data)
    elif what == "stale row" and data:
        line = data.splitlines(keepends=True)[-1]
        index.write_bytes(data + line.replace(b'"bytes":', b'"bytes":9').replace(b'"success"', b'"failure"'))


def _numbers(run: RunReader) -> tuple[object, ...]:
    found = outcomes_of(run)
    return count(found), rate_of_planned(found), rate_of_scored(found)


def test_rebuild_index_writes_what_the_episodes_say(tmp_path: Path) -> None:
    specs = plan([task("a"), task("b")])
    with RunStore.create(tmp_path / "run", manifest(specs), specs) as store:
        for spec in specs:
            store.record(episode(spec), {})
        good = (tmp_path / "run" / INDEX).read_bytes()
        (tmp_path / "run" / INDEX).write_bytes(b"nonsense")
        store.rebuild_index()
    assert (tmp_path / "run" / INDEX).read_bytes() == good
    (tmp_path / "run" / INDEX).write_bytes(good[:-30])
    RunStore.resume(tmp_path / "run", manifest(specs)).close()
    assert (tmp_path / "run" / INDEX).read_bytes() == good, "a resume repairs it"


WRITER = """
import sys
from pathlib import Path
from results.store import RunStore
from tests.results.factory import PNG, episode, manifest, plan, step, task
specs = plan([task(f"t{i}") for i in range(400)])
store = RunStore.start(Path(sys.argv[1]), manifest(specs), specs)
done = store.finished()
for spec in specs:
    if spec.key not in done:
        store.record(episode(spec, "success", steps=[step(i) for i in range(3)]), {"step-000.png": PNG * 2000})
        print(spec.key, flush=True)
"""


def test_sigkill_loses_nothing_that_was_reported(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    reported: list[str] = []
    for kill_after in (1, 23, 61):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(directory)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
        ) as writer:
            assert writer.stdout is not None
            for _ in range(kill_after):
                reported.append(writer.stdout.readline().strip())
            os.kill(writer.pid, signal.SIGKILL)
            reported += [line.strip() for line in writer.stdout]
    run = RunReader.open(directory)
    stored = [row.key for row in run.rows()]
    assert len(reported) == len(set(reported)), "no episode was played twice"
    assert set(reported) <= set(stored)
    assert run.unreadable() == {}
    assert len(stored) - len(reported) <= 3, "at most one per kill was stored but not yet reported"


def test_a_file_size_limit_stops_with_one_line_and_keeps_the_rest(tmp_path: Path) -> None:
    specs = plan([task("a"), task("b")])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with RunStore.create(tmp_path / "run", manifest(specs), specs) as store:
            store.record(episode(specs[0]), {})
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
            with pytest.raises(NotReadyError, match="cannot write episode b__A__r0__a0: the file size limit") as refused:
                store.record(episode(specs[1]), {"step-000.png": PNG * 10_000})
            assert "finished episodes are kept" in refused.value.fix
            _nothing_half_written(store)
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            store.record(episode(specs[1]), {"step-000.png": PNG * 10_000})
            assert len(store.rows()) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


def _nothing_half_written(store: RunStore) -> None:
    assert sorted(p.name for p in (store.directory / EPISODES).iterdir()) == ["a__A__r0__a0"]
    assert [row.key for row in RunReader.open(store.directory).rows()] == ["webarena/a/A/0"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with disk.small_disk(tmp_path, "256k") as mount:
        yield mount


def test_a_full_disk_stops_with_one_line_and_keeps_the_rest(small_disk: Path) -> None:
    specs = plan([task("a"), task("b")])
    with RunStore.create(small_disk / "run", manifest(specs), specs) as store:
        store.record(episode(specs[0]), {})
        with pytest.raises(NotReadyError, match="cannot write episode b__A__r0__a0: the disk is full") as refused:
            store.record(episode(specs[1]), {"step-000.png": os.urandom(400_000)})
        assert refused.value.fix.startswith("free some space, then give the same command again")
        _nothing_half_written(store)
        store.record(episode(specs[1]), {})
    assert len(RunReader.open(small_disk / "run").rows()) == 2


def test_a_full_disk_at_the_index_keeps_the_episode(small_disk: Path) -> None:
    specs = plan([task(f"t{i}") for i in range(3)])
    with RunStore.create(small_disk / "run", manifest(specs), specs) as store:
        store.record(episode(specs[0]), {})
        filler = small_disk / "filler"
        with pytest.raises(OSError, match="No space"), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        with pytest.raises(NotReadyError, match="the disk is full"):
            store.record(episode(specs[1]), {})
        filler.unlink()
        store.record(episode(specs[2]), {})
        kept = store.rows()
    assert RunReader.open(small_disk / "run").rows() == kept


@pytest.mark.parametrize("broken", ["write_synced", "fsync_directory"])
def test_a_failing_disk_at_any_point_leaves_no_half_episode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    specs = plan([task("a"), task("b")])
    with RunStore.create(tmp_path / "run", manifest(specs), specs) as store:
        store.record(episode(specs[0]), {})

        def fail(*_: object) -> None:
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(files, broken, fail)
            with pytest.raises(NotReadyError, match="the disk reports an I/O error"):
                store.record(episode(specs[1], steps=[step(0)]), {"step-000.png": PNG})
        _nothing_half_written(store)
        store.record(episode(specs[1]), {})
        assert len(store.rows()) == 2


def test_an_unwritable_place_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    specs = plan([task("a")])
    with pytest.raises(NotReadyError, match="cannot write"):
        RunStore.create(tmp_path / "file" / "run", manifest(specs), specs)
