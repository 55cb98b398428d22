"""Replays → rows: what the numbers are computed from, and the judge's word on real pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from audits.replay.assess import assess
from audits.replay.calibration import Calibration
from audits.replay.evidence import Replay
from audits.replay.script import script_of
from audits.report.rows import read_judged, row_of
from harness.errors import UsageError
from harness.types import Verdict
from tests.audits.replay.dreams import TASK, episode
from tests.audits.replay.test_assess import FAILURE, ONE, TWO, dream, replayed

CLAIM = Verdict(status="success", reward=1.0, raw_reward=0.8, scorer="self", scorer_version="1", evidence={"dream": {"group": 3}})


def replay(made_of: str = TWO, verdict: Verdict = FAILURE, claim: Verdict = CLAIM) -> Replay:
    made = replayed(ONE, made_of, ONE)
    step = dream().steps[0].model_copy(update={"metadata": {"disagreement": 0.4, "confidence": 0.7}})
    dreamt = dream().model_copy(update={"steps": (step, dream().steps[1])})
    found = assess(script_of(dreamt, TASK), made, verdict, Calibration(), "stop")
    return Replay(episode(made, verdict), dreamt, found, None, claim)


def test_a_row_says_what_was_dreamed_and_what_was_real() -> None:
    row = row_of(replay(TWO.replace("41", "42")), "night", {True: 2.5}, "episodes/x")
    assert (row.dreamed, row.score, row.outcome, row.cause) == (True, 0.8, "failure", "any")
    assert (row.length, row.compared, row.divergence, row.divergence_cause) == (2, 3, 2, "any")
    assert (row.world_model, row.group, row.weight) == ("hand", "night/3", 2.5)
    assert row.uncertainty == {"disagreement": 0.4, "unconfidence": -0.7}
    assert row.grounding == ("exact", "exact") and len(row.delta_f1) == 2
    assert row.unintended_changes is None, "no database was compared"


def test_changes_that_nobody_asked_for_are_counted() -> None:
    state = FAILURE.model_copy(update={"evidence": {"state": {"unintended": ["shop: basket: 1 added"]}}})
    assert row_of(replay(verdict=state), "night", {}, "").unintended_changes == 1


@pytest.mark.parametrize(
    ("world_model", "anchor"),
    [("copy 1", "copy"), ("oracle 1", "oracle"), ("program 1", "oracle"), ("random 1 9 pages", "random"), ("nano edits 1", "")],
)
def test_anchors_are_known_by_their_world_models_name(world_model: str, anchor: str) -> None:
    found = replay()
    assert found.dream is not None
    dreamt = found.dream.model_copy(update={"producers": {"world_model": world_model}})
    assert row_of(found._replace(dream=dreamt), "night", {}, "").anchor == anchor


def test_what_a_dream_does_not_say_is_unknown() -> None:
    silent = row_of(replay(claim=CLAIM.model_copy(update={"status": "failure", "raw_reward": -1.0, "evidence": {}})), "n", {}, "")
    assert (silent.dreamed, silent.score, silent.group, silent.weight) == (False, None, "", 1.0)


def test_the_judges_word_on_real_pages(tmp_path: Path) -> None:
    file = tmp_path / "judged.jsonl"
    assert read_judged(file) == {}
    file.write_text('{"episode_id": "a", "success": true}\n\n{"episode_id": "b", "success": false, "judge": "j 1"}\n')
    assert read_judged(file) == {"a": True, "b": False}
    file.write_text("<script>")
    with pytest.raises(UsageError, match="cannot read"):
        read_judged(file)
