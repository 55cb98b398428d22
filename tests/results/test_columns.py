"""The fast way of reading a run gives what the exact one gives, and neither a cut line nor a lost file makes it lie."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from harness.errors import UsageError
from harness.types import Status
from results import columns
from results.columns import COLUMNS, RunColumns, fingerprint, read_columns
from results.reader import RunReader
from results.report import sites, templates
from results.store import RunStore
from tests.results.factory import episode, make_run, manifest, plan, step, task

STATUSES: tuple[Status | None, ...] = ("success", "failure", "error", None, "blocked", "inconclusive", "success", "failure")


@pytest.fixture
def run(tmp_path: Path) -> RunReader:
    tasks = [task(f"t{n}", template=f"tpl{n // 2}", site=("shopping", "reddit")[n % 2]) for n in range(6)]
    tasks += [task("two", sites=("a", "b")), task("none", sites=(), unachievable=True)]
    make_run(tmp_path / "run", plan(tasks), STATUSES)
    return RunReader.open(tmp_path / "run")


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "EXACT_LIMIT", 0)


def both(run: RunReader, monkeypatch: pytest.MonkeyPatch) -> tuple[RunColumns, RunColumns]:
    exact = read_columns(RunReader.open(run.directory))
    monkeypatch.setattr(columns, "EXACT_LIMIT", 0)
    return exact, read_columns(RunReader.open(run.directory))


def rows(frame: pd.DataFrame) -> list[list[object]]:
    """Cells, with one value for all that is missing; an empty text counts as missing."""
    return [[None if pd.isna(cell) or cell == "" else cell for cell in line] for line in frame.itertuples(index=False)]


def test_both_ways_agree_in_every_cell_and_every_number(run: RunReader, monkeypatch: pytest.MonkeyPatch) -> None:
    exact, fast = both(run, monkeypatch)
    assert exact.exact and not fast.exact
    assert list(exact.frame.columns) == list(fast.frame.columns) == list(COLUMNS)
    assert rows(exact.frame) == rows(fast.frame)
    assert sites(exact.outcomes).rows == sites(fast.outcomes).rows
    assert templates(exact.outcomes)[0].rows == templates(fast.outcomes)[0].rows
    assert exact.attempts == fast.attempts == 1


def test_a_second_attempt_replaces_the_first_and_an_interrupted_one_is_missing(
    run: RunReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = run.plan()
    with RunStore.resume(run.directory, manifest(specs)) as store:
        store.record(episode(specs[1].model_copy(update={"attempt": 1}), "success", steps=[step(0)]), {})
        store.record(episode(specs[2].model_copy(update={"attempt": 1}), "error", stop_reason="interrupted"), {})
    exact, fast = both(run, monkeypatch)
    assert rows(exact.frame) == rows(fast.frame)
    assert fast.frame["state"].tolist()[:4] == ["success", "success", "missing", "missing"]
    assert exact.attempts == fast.attempts == 2


@pytest.mark.usefixtures("fast")
def test_a_line_that_is_being_written_is_not_read_yet(run: RunReader) -> None:
    index = run.directory / "index.jsonl"
    index.write_bytes(index.read_bytes()[:-30])
    found = read_columns(run)
    assert found.skipped_lines == 0
    assert found.unindexed == 1
    assert (found.frame["state"] == "missing").sum() == 2


@pytest.mark.usefixtures("fast")
def test_damaged_lines_are_left_out_and_counted(run: RunReader) -> None:
    index = run.directory / "index.jsonl"
    lines = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(
        lines[0] + b"{nonsense\n" + lines[2].replace(b'"failure"', b'"<b>"').replace(b'"error"', b'"<b>"') + lines[3]
    )
    found = read_columns(run)
    assert found.skipped_lines == 2
    assert set(found.frame["state"]) <= {"success", "failure", "error", "blocked", "inconclusive", "missing"}


@pytest.mark.usefixtures("fast")
def test_an_index_of_the_wrong_types_is_read_line_by_line(run: RunReader) -> None:
    index = run.directory / "index.jsonl"
    lines = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(b"".join([lines[0].replace(b'"steps":1', b'"steps":"many"'), *lines[1:]]))
    found = read_columns(run)
    assert found.skipped_lines == 1
    assert (found.frame["state"] != "missing").sum() == 6


@pytest.mark.usefixtures("fast")
def test_without_an_index_all_episodes_are_missing_and_said_to_be_unindexed(run: RunReader) -> None:
    (run.directory / "index.jsonl").unlink()
    found = read_columns(run)
    assert set(found.frame["state"]) == {"missing"}
    assert found.unindexed == 7


@pytest.mark.usefixtures("fast")
def test_an_index_row_without_its_episode_counts_for_nothing(run: RunReader) -> None:
    episodes = sorted((run.directory / "episodes").iterdir())
    for path in episodes[0].iterdir():
        path.unlink()
    episodes[0].rmdir()
    assert (read_columns(run).frame["state"] != "missing").sum() == 6


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08 cut", b"no gzip"])
def test_a_damaged_plan_is_one_line_that_says_what_to_do(run: RunReader, content: bytes) -> None:
    (run.directory / "plan.jsonl.gz").write_bytes(content)
    if content:
        with pytest.raises(UsageError, match="cannot read"):
            read_columns(run)
    else:
        assert read_columns(run).frame.empty


def test_the_fingerprint_changes_with_every_stored_episode(run: RunReader) -> None:
    before = fingerprint(run.directory)
    assert fingerprint(run.directory) == before
    spec = run.plan()[3]
    with RunStore.resume(run.directory, manifest(run.plan())) as store:
        between = fingerprint(run.directory)
        store.record(episode(spec), {})
    assert len({before, between, fingerprint(run.directory)}) >= 2
    assert fingerprint(run.directory) != between
