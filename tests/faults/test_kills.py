"""Processes that are killed in mid-run: no finished episode is lost or played twice, and the numbers are those of a whole run."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil
import pytest

from tests.faults.command import Command, play, report_numbers, rows, run_arguments
from tests.faults.conftest import Served
from tests.support.fault_tasks import ROWS

pytestmark = pytest.mark.browser

HELD = f"/row/{ROWS // 2}"
FINISHED_BEFORE = [f"row.{number}" for number in range(ROWS // 2)]
"""With one worker, what is finished and stored once the page HELD is asked for."""


def start_and_hold(served: Served, arguments: list[str]) -> Command:
    """The run, once its worker waits for the page HELD."""
    served.site.hold(HELD)
    command = Command(*arguments, site=served.url)
    assert served.site.arrived.wait(60)
    return command


def test_a_killed_worker_is_replaced_and_its_episode_played_again(served: Served, tmp_path: Path) -> None:
    command = start_and_hold(served, run_arguments(tmp_path, "row.*", "--workers", "1"))
    (worker,) = command.workers()
    below = worker.children(recursive=True)
    assert any("chrom" in process.name() for process in below)
    worker.kill()
    served.site.release()
    _, alive = psutil.wait_procs(below, timeout=10)
    assert alive == [], "the browser of a killed worker ends"
    ended = command.end()
    assert ended.code == 0, ended.out + ended.err
    assert command.survivors() == []
    found = rows(tmp_path / "run")
    assert [(row.task_id, row.attempt) for row in found] == [
        *((task_id, 0) for task_id in FINISHED_BEFORE),
        *((f"row.{number}", int(number == ROWS // 2) + again) for number, again in ((3, -1), (3, 0), (4, 0), (5, 0))),
    ]
    crashed = found[ROWS // 2]
    assert (crashed.status, crashed.error_boundary, crashed.error_kind) == ("error", "env", "worker_crash")
    assert crashed.error_message.startswith("the worker died in its reset: signal SIGKILL")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_goes_on_with_the_same_command(served: Served, tmp_path: Path, how: signal.Signals) -> None:
    arguments = run_arguments(tmp_path, "row.*", "--workers", "1")
    command = start_and_hold(served, arguments)
    assert len(command.descendants()) > 5, "a worker, a driver and a browser of several processes"
    command.send(how)
    if how == signal.SIGINT:
        served.site.release()  # what is in hand may finish
    ended = command.end()
    assert command.survivors() == [], "workers and browsers end by themselves"
    if how != signal.SIGKILL:
        assert ended.code == 130, ended.out + ended.err
        assert "the same command goes on" in ended.out
        assert ended.err == ""
    kept = [row.task_id for row in rows(tmp_path / "run")]
    assert kept == FINISHED_BEFORE + ([f"row.{ROWS // 2}"] if how == signal.SIGINT else [])

    served.site.release()
    again = play(served.url, *arguments)
    assert again.code == 0, again.out + again.err
    found = rows(tmp_path / "run")
    assert [(row.task_id, row.attempt) for row in found] == [(f"row.{number}", 0) for number in range(ROWS)]
    assert [row.finish_index for row in found] == list(range(ROWS))
    once = {path: times for path, times in served.site.asked.items() if path.startswith("/row") and path != HELD}
    assert set(once.values()) == {1}, "no finished episode is played again"

    if how == signal.SIGKILL:
        whole = run_arguments(tmp_path, "row.*", "--workers", "2", name="whole")
        assert play(served.url, *whole).code == 0
        assert report_numbers(tmp_path / "run") == report_numbers(tmp_path / "whole")
