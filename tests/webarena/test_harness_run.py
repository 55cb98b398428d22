"""`harness run --bench webarena…` end to end: spawned worker, real Chromium, real login, real evaluators, stored results."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from results.reader import RunReader
from tests.webarena.sites import SiteSet

pytestmark = [pytest.mark.browser, pytest.mark.webarena]

ROOT = Path(__file__).parents[2]
WRONG, RIGHT = 0, 1
"""Repeats: the seed of the first is even."""


def run(folder: Path, sites: SiteSet, bench: str, tasks: Sequence[str], **options: bool) -> dict[tuple[str, int], str]:
    """(task_id, repeat) → stored status, after one run of each task with wrong and one with right hands."""
    lines = ["[webarena]", "evaluator_settle_seconds = 0.0", "[[webarena.instances]]"]
    lines += [f'{name} = "{url}"' for name, url in sites.instance.model_dump().items()]
    lines += ["[policy]", 'name = "tests.webarena.hands:Hands"', "[policy.options]"]
    lines += [f"{name} = {str(value).lower()}" for name, value in options.items()]
    config = folder / "run.toml"
    config.write_text("\n".join(lines))
    selected = [word for task in tasks for word in ("--tasks", task)]
    command = ["run", "--bench", bench, *selected, "--seeds", "2", "--config", str(config), "--run-dir", str(folder / "run")]
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli.main", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = RunReader.open(folder / "run").latest()
    return {(row.task_id, row.repeat): row.status for row in rows.values()}


def test_official_evaluators(tmp_path: Path, sites: SiteSet) -> None:
    statuses = run(tmp_path, sites, "webarena", ("0", "11", "22", "44", "335", "389"))
    for task_id in ("0", "11", "44", "389"):
        assert (statuses[task_id, WRONG], statuses[task_id, RIGHT]) == ("failure", "success"), task_id
    # without a judge: N/A is certain, another reason for it and a fuzzy date are not scorable
    assert (statuses["22", WRONG], statuses["22", RIGHT]) == ("inconclusive", "success")
    assert (statuses["335", WRONG], statuses["335", RIGHT]) == ("inconclusive", "inconclusive")


@pytest.mark.slow
def test_verified(tmp_path: Path, sites: SiteSet) -> None:
    tasks = ("0", "44", "389")
    statuses = run(tmp_path, sites, "webarena-verified", tasks, json_answers=True)
    for task_id in tasks:
        assert (statuses[task_id, WRONG], statuses[task_id, RIGHT]) == ("failure", "success"), task_id
