"""The whole way in a real browser: walk, label, export. On MiniWoB++ always, on the arena where its sites can be built."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from harness.cli.main import app
from harness.sites.catalog import APPS
from harness.sites.environment import Environment
from harness.sites.instances import Sites
from harness.types import Transition
from results.labels import read_labels
from results.reader import RunReader


def harness(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def exported(directory: Path) -> list[Transition]:
    done = harness("export", str(directory))
    assert done.exit_code == 0, done.output
    text = gzip.decompress((directory / "exports" / "transitions.jsonl.gz").read_bytes()).decode()
    return [Transition.model_validate_json(line) for line in text.splitlines()]


@pytest.mark.browser
def test_miniwob(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = (
        "explore", "--bench", "miniwob", "--tasks", "login-user", "--tasks", "click-checkboxes", "--walks", "4", "--steps", "6",
        "--workers", "1", "--run-dir", str(run),
    )  # fmt: skip
    done = harness(*words)
    assert done.exit_code == 0, done.output
    reader = RunReader.open(run)
    assert (reader.manifest.policy, reader.manifest.planned, reader.manifest.config["browser"]["screenshots"]) == (
        "explore", 4, "none",
    )  # type: ignore[index,call-overload]  # fmt: skip
    found = exported(run)
    said = re.search(r"speed: [\d.]+ transitions/s \((\d+) in", done.output)
    assert said is not None and int(said[1]) == len(found) >= 8
    assert any(t.provenance["changed"] for t in found)
    assert {t.provenance["task_id"] for t in found} == {"login-user", "click-checkboxes"}
    assert read_labels(run, "rules-1"), "no walk of four achieved anything"

    again = harness(*words)
    assert again.exit_code == 0 and "speed:" not in again.output
    assert [row.episode_id for row in RunReader.open(run).rows()] == [row.episode_id for row in reader.rows()]


@pytest.mark.browser
@pytest.mark.sites
def test_the_arena(tmp_path: Path) -> None:
    """Walks on the tracker, each from its first state; what fails on purpose fails and is labelled."""
    sites = Sites(tmp_path / "sites", Environment(), first_port=free_port())
    apps = (APPS["tracker"],)
    config = tmp_path / "run.toml"
    config.write_text(f'[arena]\nstate_dir = "{tmp_path / "sites"}"\n[policy]\nname = "noop"\n', encoding="utf-8")
    run = tmp_path / "run"
    sites.up(apps)
    try:
        done = harness(
            "explore", "--bench", "arena", "--sites", "tracker", "--walks", "3", "--steps", "15", "--config", str(config),
            "--run-dir", str(run),
        )  # fmt: skip
    finally:
        sites.down(apps)
        shutil.rmtree(tmp_path / "sites", ignore_errors=True)
    assert done.exit_code == 0, done.output
    found = exported(run)
    assert len(found) >= 15
    assert {t.provenance["split"] for t in found} == {"train"}
    assert {t.provenance["change"] for t in found} >= {"url", "page", "none"}
    meant = [t for t in found if str(t.provenance["why"]).startswith("on purpose wrong")]
    assert meant and all(t.provenance["action_error"] for t in meant if t.action.name != "click")
    assert any(label.confidence >= 0.8 for label in read_labels(run, "rules-1"))


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return min(int(probe.getsockname()[1]), 60_000)


def test_what_cannot_be_explored_is_said_before_a_browser_starts(tmp_path: Path) -> None:
    for words, why in (
        (("--bench", "miniwob", "--tasks", "no-such-task"), "no task matches"),
        (("--bench", "miniwob", "--labeler", "nobody.toml"), "cannot read the file"),
        (("--bench", "arena", "--tasks", "forum-*"), "for testing"),
    ):
        result = CliRunner().invoke(app, ["explore", *words, "--run-dir", str(tmp_path / "run")])
        assert why in str(result.exception), words
    assert not (tmp_path / "run").exists()
