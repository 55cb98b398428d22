"""The dreams' judge on the real pages: what it is shown, and whose word it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audits.replay.assess import NOTE, Note
from audits.replay.config import ReplaySettings
from audits.replay.evidence import Replay, judge
from audits.replay.seen import as_seen
from audits.report.judging import judged
from audits.report.rows import JUDGED, Judged, read_judged
from harness.cli.main import app
from harness.errors import UsageError
from harness.types import Episode, Trajectory, Verdict
from results.reader import RunReader
from tests.audits.replay.conftest import store
from tests.audits.replay.dreams import TASK, episode, trajectory
from tests.audits.replay.test_assess import FAILURE, ONE, TWO, dream
from tests.training.model.support import checkpoint
from training.world_model.model import load_judge

CLAIM = Verdict(status="success", reward=1.0, raw_reward=0.8, threshold=0.7, scorer="self", scorer_version="1")


class Counting:
    """Says how many steps it was shown, as a probability; no verdict where there is none."""

    name, version = "counting", "1"

    def __init__(self) -> None:
        self.shown: list[Trajectory] = []

    def judge(self, made: Trajectory) -> Verdict:
        self.shown.append(made)
        if not made.steps:
            return Verdict(status="error", scorer=self.name, scorer_version=self.version)
        sure = 0.3 * len(made.steps)
        return Verdict(status="success", reward=1.0, raw_reward=sure, scorer=self.name, scorer_version=self.version)


def replay(*moves: tuple[str, int], by: str = "counting 1", verdict: Verdict = FAILURE) -> Episode:
    """A stored replay whose steps did this; pages alternate and end with TWO."""
    pages = [ONE, TWO] * len(moves)
    made = trajectory([(pages[n], "noop()") for n in range(len(moves))], TWO, source="replay")
    notes = [Note(move=move, action=action) for move, action in moves]  # type: ignore[arg-type]
    steps = tuple(
        step.model_copy(update={"metadata": {NOTE: note.model_dump(mode="json")}})
        for step, note in zip(made.steps, notes, strict=True)
    )
    dreamt = dream().model_copy(update={"producers": {"judge": by}, "task": TASK})
    note = {"dream": dreamt.model_dump(mode="json"), "claim": CLAIM.model_dump(mode="json"), "assessment": {}}
    return episode(made.model_copy(update={"steps": steps}), verdict.model_copy(update={"evidence": {NOTE: note}}))


def read(stored: Episode) -> Replay:
    return judge(stored, ReplaySettings(dreams="x"))


def test_looks_and_waits_are_left_out() -> None:
    seen = as_seen(read(replay(("executed", 0), ("waited", 1), ("executed", 1), ("waited", 2), ("executed", 2), ("waited", 3))))
    assert seen is not None and seen.final_observation is not None
    assert [(step.index, step.observation.axtree) for step in seen.steps] == [(0, ONE), (1, ONE), (2, ONE)]
    assert seen.final_observation.axtree == TWO


def test_where_the_replay_stopped_the_page_is_the_last_and_the_action_no_step() -> None:
    seen = as_seen(read(replay(("executed", 1), ("halted", 2))))
    assert seen is not None and seen.final_observation is not None
    assert (len(seen.steps), seen.final_observation.axtree) == (1, TWO)


def test_an_action_that_failed_in_the_dream_is_kept_as_dreamed() -> None:
    seen = as_seen(read(replay(("executed", 1), ("failed_in_dream", 2))))
    assert seen is not None
    assert [step.output.action.name for step in seen.steps] == ["noop", "click"]


def test_what_a_successor_did_is_not_the_dreams() -> None:
    seen = as_seen(read(replay(("executed", 1), ("handed_over", 2), ("policy", 2), ("policy", 2))))
    assert seen is not None and len(seen.steps) == 1


def run(directory: Path, *stored: Episode) -> RunReader:
    """A run of replays that holds these."""
    named = [one.model_copy(update={"spec": one.spec.model_copy(update={"repeat": n})}) for n, one in enumerate(stored)]
    directory = store(directory, named, "test")
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["benchmark_options"] = {"replay": ReplaySettings(dreams="x").model_dump(mode="json")}
    (directory / "manifest.json").write_text(json.dumps(manifest))
    return RunReader.open(directory)


def test_the_threshold_is_the_dreams_own_and_inconclusive_replays_are_not_shown(tmp_path: Path) -> None:
    done = (("executed", 1), ("executed", 2))
    spoiled = Verdict(status="error", scorer="s", scorer_version="1")
    reader = run(
        tmp_path / "run", replay(*done), replay(*done, ("executed", 2)), replay(("halted", 1)), replay(*done, verdict=spoiled)
    )
    counting = Counting()
    found = dict(judged(reader, counting))
    assert len(found) == len(counting.shown) == 3
    words = [word.success if isinstance(word, Judged) else None for word in found.values()]
    assert words == [False, True, None], "0.6 and 0.9 against 0.7; a judge without a verdict says nothing"


def test_another_judge_is_refused(tmp_path: Path) -> None:
    reader = run(tmp_path / "run", replay(("executed", 1), by="other 2"))
    with pytest.raises(UsageError, match="judged by other 2, not by counting 1"):
        list(judged(reader, Counting()))


def test_a_learned_judge_writes_its_words_beside_the_replays(tmp_path: Path) -> None:
    """Random weights: what they say is nothing, that they say it in time for the report is tested."""
    wm = checkpoint(tmp_path / "wm")
    own = load_judge(tmp_path / "wm")
    reader = run(tmp_path / "run", *(replay(("executed", 1), by=f"{own.name} {own.version}") for _ in range(2)))
    told = CliRunner().invoke(app, ["audit", "judge", str(reader.directory), "--judge", str(tmp_path / "wm")])
    assert told.exit_code == 0, (wm, told.output, told.exception)
    assert "2 replays shown to the judge" in told.output
    assert set(read_judged(reader.directory / JUDGED)) == {row.episode_id for row in reader.rows()}
