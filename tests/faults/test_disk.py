"""A disk that fills up in mid-run: one line, nothing finished is lost, and the same command goes on once there is space."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.command import Command, play, rows, run_arguments
from tests.faults.conftest import Served
from tests.support import disk
from tests.support.fault_tasks import ROWS

pytestmark = pytest.mark.browser


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with disk.small_disk(tmp_path, "2m") as mount:
        yield mount


def test_a_disk_that_fills_up(served: Served, small_disk: Path) -> None:
    arguments = run_arguments(small_disk, "row.*", "--workers", "1")
    served.site.hold("/row/2")
    command = Command(*arguments, site=served.url)
    assert served.site.arrived.wait(60)
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space"), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    served.site.release()
    ended = command.end()
    assert command.survivors() == []
    assert ended.code == 3, ended.out + ended.err
    assert ended.one_line_with_a_fix, ended.err
    assert "cannot write episode row.2__A__r0__a0: the disk is full" in ended.err
    assert "then give the same command again: finished episodes are kept" in ended.err
    assert [row.task_id for row in rows(small_disk / "run")] == ["row.0", "row.1"]

    filler.unlink()
    again = play(served.url, *arguments)
    assert again.code == 0, again.out + again.err
    assert [(row.task_id, row.attempt) for row in rows(small_disk / "run")] == [(f"row.{n}", 0) for n in range(ROWS)]
