"""`harness dream` from a run of an expert to a run of dreams, with real models of a few thousand random weights."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import UsageError
from results.reader import RunReader
from tests.training.dream.places import agent, expert_run
from tests.training.model.support import checkpoint

runner = CliRunner()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds `wm`, `agent` and `expert`: a world model, an agent, and a run with one success and one failure."""
    folder = tmp_path_factory.mktemp("dreams")
    checkpoint(folder / "wm")
    agent(folder / "agent")
    expert_run(folder / "expert", {"good": (3, "success"), "bad": (2, "failure")})
    return folder


def dream(place: Path, run_dir: Path, *more: str) -> str:
    command = ["dream", str(place / "wm"), "--policy", f"checkpoint:{place / 'agent'}", "--experts", str(place / "expert")]
    sizes = ["--starts", "3", "--group-size", "2", "--dream-length", "2", "--split", "all", "--run-dir", str(run_dir)]
    found = runner.invoke(app, [*command, *sizes, *more])
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code in (0, 4), found.output
    return found.output


def told(run_dir: Path) -> list[tuple[object, ...]]:
    episodes = sorted(RunReader.open(run_dir).episodes(), key=lambda episode: episode.finish_index)
    return [
        (e.spec.episode_id, e.spec.seed, [s.output.text for s in e.trajectory.steps], e.verdict.status, e.verdict.raw_reward)
        for e in episodes
    ]


def test_dreams_are_a_run_that_names_everyone(place: Path, tmp_path: Path) -> None:
    output = dream(place, tmp_path / "dreams")
    reader = RunReader.open(tmp_path / "dreams")
    episodes = list(reader.episodes())
    assert len(episodes) == reader.manifest.planned == 6
    assert {e.trajectory.source for e in episodes} == {"dream"}
    assert {e.trajectory.task.task_id for e in episodes} == {"good"}, "only successes show where to begin"
    assert {e.trajectory.producers["expert"] for e in episodes} == {"expert/good__A__r0__a0"}
    judged = [e for e in episodes if e.verdict.status in ("success", "failure")]
    assert judged, "an agent of random weights fails, it does not break"
    assert all(e.verdict.raw_reward is not None and 0 <= e.verdict.raw_reward <= 1 for e in judged)
    assert "claimed success" in output


def test_equal_seeds_dream_equal_dreams_in_batches_of_any_size(place: Path, tmp_path: Path) -> None:
    dream(place, tmp_path / "a", "--batch", "64")
    dream(place, tmp_path / "b", "--batch", "1")
    dream(place, tmp_path / "c", "--seed", "1")
    assert [row[:4] for row in told(tmp_path / "a")] == [row[:4] for row in told(tmp_path / "b")]
    assert told(tmp_path / "a") != told(tmp_path / "c")


def test_the_same_command_goes_on(place: Path, tmp_path: Path) -> None:
    dream(place, tmp_path / "dreams")
    before = told(tmp_path / "dreams")
    assert "claimed success" in dream(place, tmp_path / "dreams")
    assert told(tmp_path / "dreams") == before
    with pytest.raises(UsageError):
        dream(place, tmp_path / "dreams", "--dream-length", "3")


@pytest.mark.parametrize(
    ("more", "why"),
    [(("--split", "test"), "no success of split 'test'"), (("--policy", "heuristic"), "no agent 'heuristic'")],
)
def test_what_cannot_be_dreamt_is_said(place: Path, tmp_path: Path, more: tuple[str, ...], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        dream(place, tmp_path / "dreams", *more)
