"""A site that is down is left alone; a resume plays what is left, `--retry errors` what was spoiled, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.command import play, rows, run_arguments
from tests.faults.conftest import Served
from tests.support.fault_tasks import DOWN

pytestmark = pytest.mark.browser


def test_down_then_resumed_then_retried(served: Served, tmp_path: Path) -> None:
    arguments = run_arguments(tmp_path, "down.*", "--workers", "1", limits="auto_retries = 0\nsite_failures = 2")
    directory = tmp_path / "run"

    served.site.down = True
    first = play(served.url, *arguments)
    assert first.code == 4, first.out + first.err
    assert f"{DOWN - 2} episodes not run: down is down; the same command tries again" in first.out
    assert first.err == ""
    assert [(r.task_id, r.status, r.error_boundary) for r in rows(directory)] == [
        ("down.0", "error", "site"),
        ("down.1", "error", "site"),
    ]

    served.site.down = False
    resumed = play(served.url, *arguments)
    assert resumed.code == 4, "two errors are left in the result, and it says so"
    assert [row.task_id for row in rows(directory)[2:]] == [f"down.{number}" for number in range(2, DOWN)]

    played = dict(served.site.asked)
    retried = play(served.url, *arguments, "--retry", "errors")
    assert retried.code == 0, retried.out + retried.err
    assert {path for path, times in served.site.asked.items() if times != played[path]} == {"/down/0", "/down/1"}
    after = rows(directory)
    assert [(r.attempt, r.status) for r in after if r.task_id == "down.0"] == [(0, "error"), (1, "success")], "both are kept"

    assert play(served.url, *arguments, "--retry", "errors").code == 0
    assert rows(directory) == after, "nothing is left to retry"
