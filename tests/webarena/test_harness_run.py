"""`harness run --bench webarena…` end to end: spawned worker, real Chromium, real login, real evaluators, stored results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from results.reader import RunReader
from tests.webarena.sites import SiteSet

pytestmark = [pytest.mark.browser, pytest.mark.webarena]

ROOT = Path(__file__).parents[2]
TASKS = ("0", "11", "22", "44", "335", "389")


def run(folder: Path, sites: SiteSet, bench: str, *, wrong: bool, tasks: tuple[str, ...] = TASKS) -> dict[str, Any]:
    """task_id → stored row of the latest attempt."""
    lines = ["[webarena]", "evaluator_settle_seconds = 0.0", "[[webarena.instances]]"]
    lines += [f'{name} = "{url}"' for name, url in sites.instance.model_dump().items()]
    lines += ["[policy]", 'name = "tests.webarena.hands:Hands"', "[policy.options]", f"wrong = {str(wrong).lower()}"]
    config = folder / "run.toml"
    config.write_text("\n".join(lines))
    selected = [word for task in tasks for word in ("--tasks", task)]
    command = ["run", "--bench", bench, *selected, "--config", str(config), "--run-dir", str(folder / "run")]
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
    return {row.task_id: row for row in rows.values()}


def test_right_hands(tmp_path: Path, sites: SiteSet) -> None:
    rows = run(tmp_path, sites, "webarena", wrong=False)
    assert {task_id: row.status for task_id, row in rows.items()} == {
        "0": "success",
        "11": "success",
        "22": "success",
        "44": "success",
        "335": "inconclusive",
        "389": "success",
    }


def test_wrong_hands(tmp_path: Path, sites: SiteSet) -> None:
    rows = run(tmp_path, sites, "webarena", wrong=True)
    assert {task_id: row.status for task_id, row in rows.items()} == {
        "0": "failure",
        "11": "failure",
        "22": "inconclusive",
        "44": "failure",
        "335": "inconclusive",
        "389": "failure",
    }
