"""One run in which everything breaks that can: each fault is a labelled episode, the healthy ones succeed, nothing is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.reader import RunReader
from tests.faults.command import Command, rows, run_arguments
from tests.faults.conftest import Served

pytestmark = pytest.mark.browser

# task → attempts, status, boundary, kind, steps kept
EXPECTED: dict[str, tuple[int, str, str | None, str, int]] = {
    "healthy": (1, "success", None, "", 2),
    "zz-healthy": (1, "success", None, "", 2),
    "hang": (1, "error", "timeout", "step_timeout", 1),
    "http-500": (2, "error", "site", "infra_error", 0),
    "closes-itself": (1, "failure", None, "", 4),
    "alert-loop": (2, "error", "env", "alert_loop", 1),
    "popup-storm": (1, "success", None, "", 2),
    "bad-scorer": (1, "error", "evaluator", "evaluator_error", 0),
    "scorer-exits": (1, "error", "evaluator", "evaluator_error", 0),
    "no-number": (1, "error", "evaluator", "evaluator_error", 0),
    "policy-raises": (1, "error", "policy", "policy_error", 1),
    "policy-returns-none": (1, "error", "policy", "bad_output", 1),
    "policy-hangs": (1, "error", "timeout", "policy_timeout", 1),
    "policy-exits": (2, "error", "policy", "worker_crash", 1),
    "policy-kills-itself": (2, "error", "policy", "worker_crash", 1),
    "policy-kills-browser": (2, "error", "env", "browser_lost", 1),
    # Noticed by the next call (env_error), or by the watch on the driver (worker_crash) where that call would spin for ever.
    "policy-kills-driver": (2, "error", "any", "any", 1),
}
LIMITS = "policy_seconds = 4\nstep_seconds = 12\nsite_failures = 20"


def test_every_fault_is_a_labelled_episode_and_the_run_is_whole(served: Served, tmp_path: Path) -> None:
    arguments = run_arguments(tmp_path, "fault.*", "--workers", "2", limits=LIMITS)
    command = Command(*arguments, site=served.url)
    ended = command.end()
    assert command.survivors() == []
    assert ended.code == 4, ended.out + ended.err
    assert "Traceback" not in ended.err

    run = RunReader.open(tmp_path / "run")
    found: dict[str, tuple[int, str, str | None, str, int]] = {}
    for row in run.latest().values():
        assert row.final
        name = row.task_id.removeprefix("fault.")
        why: tuple[str | None, str] = (row.error_boundary, row.error_kind)
        if name == "policy-kills-driver":
            assert why in {("env", "env_error"), ("env", "browser_lost"), ("env", "worker_crash"), ("policy", "worker_crash")}
            why = ("any", "any")
        found[name] = (row.attempt + 1, row.status, *why, row.steps)
    assert found == EXPECTED
    assert run.unreadable() == {}
    assert len(rows(tmp_path / "run")) == sum(attempts for attempts, *_ in EXPECTED.values())

    messages = {row.task_id.removeprefix("fault."): row.error_message for row in run.latest().values()}
    assert messages["hang"] == "no end of step within 12 s"
    assert messages["policy-exits"].startswith("the worker died in its policy: exit code 7")
    assert messages["policy-kills-itself"].startswith("the worker died in its policy: signal SIGKILL")
    assert messages["bad-scorer"] == "LookupError: the answer key is missing"

    hang = run.episode("fault.hang__A__r0__a0")
    assert hang.trajectory.stop_reason == "timeout"
    assert hang.trajectory.goal == "Press Go."
    assert run.screenshot("fault.hang__A__r0__a0", hang.trajectory.steps[0].observation.screenshot_ref).startswith(b"\x89PNG")
