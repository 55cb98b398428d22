"""`harness run --bench webvoyager` in two windows on local sites, then `harness report`: the whole path, in real processes.

One page refuses in both windows, one shows a captcha in the first only, one redirects to another site, one task hard-codes a
past date; the judge's replies are scripted, an unreadable one among them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import EXIT_INFRA_ERRORS
from harness.scoring.judges import JUDGES
from results.reader import RunReader
from tests.support.openai_server import OpenAIServer, chat
from tests.webvoyager.sites import LocalSite

ROOT = Path(__file__).resolve().parents[2]
GOAL = "What does the blue kettle cost?"
YES, NO = chat('{"reason": "shown", "verdict": "success"}'), chat('{"reason": "not shown", "verdict": "failure"}')

pytestmark = [pytest.mark.browser]


def harness(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness.cli.main", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


class World:
    """Task file, sites, judge and config of one test."""

    def __init__(self, directory: Path, site: LocalSite, other: LocalSite, judge: OpenAIServer) -> None:
        self.directory, self.site, self.judge = directory, site, judge
        site.refuse |= {"wall": "akamai", "news": "generic"}
        site.redirect["maps"] = other.url("kettle")
        starts = {
            "Shop--0": (GOAL, ""),
            "Shop--1": (GOAL + " Say it in euros.", "kettle"),
            "News--0": (GOAL, "news"),
            "Walls--0": (GOAL, "wall"),
            "Maps--0": (GOAL, "maps"),
            "Hotels--0": ("Book a room with a kettle for March 3-5, 2021.", ""),
        }
        rows = [
            {"web_name": task_id.partition("--")[0], "id": task_id, "ques": goal, "web": site.url(path)}
            for task_id, (goal, path) in starts.items()
        ]
        (directory / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
        (directory / "run.toml").write_text(
            f"""
            [webvoyager]
            data = "{directory / "tasks.jsonl"}"
            rules = ["past-dates"]
            challenge_grace_seconds = 0
            [judge]
            base_url = "{judge.base_url}"
            model = "scripted"
            max_retries = 0
            prompt_usd_per_million = 1.0
            completion_usd_per_million = 1.0
            """
        )

    def run(self, window: str) -> tuple[Path, subprocess.CompletedProcess[str]]:
        directory = self.directory / f"run-{window}"
        command = ["run", "--bench", "webvoyager", "--config", str(self.directory / "run.toml"), "--window", window]
        command += ["--policy", "tests.webvoyager.answerer:Answerer", "--max-steps", "3", "--workers", "1"]
        return directory, harness(*command, "--run-dir", str(directory))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with LocalSite() as site, LocalSite() as other, OpenAIServer() as judge:
        yield World(tmp_path, site, other, judge)


def verdicts(directory: Path) -> dict[str, Any]:
    return {episode.spec.task.task_id: episode.verdict for episode in RunReader.open(directory).episodes()}


def test_two_windows(world: World) -> None:
    world.judge.add(YES, YES, YES)
    first, ran = world.run("A")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    world.site.refuse.pop("news")  # between the windows the captcha goes away
    world.site.redirect["news"] = world.site.url("kettle")
    world.judge.add(NO, YES, YES, chat("I would say it did well."))
    second, ran = world.run("B")
    assert ran.returncode == EXIT_INFRA_ERRORS, ran.stdout + ran.stderr  # one verdict of the judge could not be read

    a, b = verdicts(first), verdicts(second)
    assert {task_id: verdict.status for task_id, verdict in a.items()} == {
        "Shop--0": "success",
        "Shop--1": "success",
        "News--0": "blocked",
        "Walls--0": "blocked",
        "Maps--0": "success",
    }
    assert {task_id: verdict.status for task_id, verdict in b.items()} == {
        "Shop--0": "failure",
        "Shop--1": "success",
        "News--0": "success",
        "Walls--0": "blocked",
        "Maps--0": "error",
    }
    assert a["News--0"].reason.startswith("captcha: ")
    assert a["Walls--0"].reason == "access_denied: Akamai's Access Denied"
    assert a["Maps--0"].evidence["start_redirect"].endswith("/kettle")
    assert a["Shop--0"].scorer_version == f"1+{JUDGES['webvoyager'].prompt_hash[:12]}"
    assert a["Shop--0"].usage.cost_usd == pytest.approx(110e-6)
    assert (b["Maps--0"].error.boundary, b["Maps--0"].error.kind) == ("judge", "no_verdict")
    assert b["Maps--0"].evidence["judge"]["exchanges"][0]["reply"] == "I would say it did well."
    sent = json.dumps([request.json["messages"] for request in world.judge.requests])
    assert "It costs 42 euros." in sent
    assert "data:image/png;base64," in sent

    manifests = [RunReader.open(directory).manifest for directory in (first, second)]
    assert manifests[0].task_set_hash == manifests[1].task_set_hash
    assert [(e.task_id, e.rule) for e in manifests[0].excluded] == [("Hotels--0", "past-dates")]

    report = harness("report", str(first), str(second), "--format", "md")
    assert report.returncode == 0, report.stderr
    assert "Mean of the two windows 50.0% over 5 tasks; flip rate 50.0%." in report.stdout
    assert "Exclusion only by the rule “blocked in both windows”: 1 tasks." in report.stdout
    assert "excluded Walls--0: access\\_denied: Akamai's Access Denied" in report.stdout
    single = harness("report", str(first), "--format", "md")
    assert "asks for 'book' on 5 March 2021, which is past on" in single.stdout
