"""Stated probabilities, outcomes, and what a prediction costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from audits.fidelity import Answers
from audits.fidelity.calibration import Stated, calibration, detection
from audits.fidelity.cost import H100, Device, cost_figures, flops, projected_seconds
from audits.fidelity.scoring import score
from audits.fidelity.self_assessment import assess, outcome_question
from harness.predictions import PastStep, Prediction, WorldModelQuery
from harness.types import JsonDict, Observation, Usage
from tests.audits.fidelity.factory import foreseen, on, page, row


def test_a_model_that_is_as_sure_as_it_is_right_is_calibrated() -> None:
    stated = [Stated(p, k < p * 10, f"t{k}") for p in (0.2, 0.5, 0.8) for k in range(10)]
    found, curve = calibration(stated, "self")
    assert found["self.brier"].value == pytest.approx((0.16 + 0.25 + 0.16) / 3)
    assert found["self.ece"].value == pytest.approx(0, abs=1e-9)
    assert found["self.rate"].value == 0.5
    assert [(b.n, b.stated, b.observed) for b in curve] == [(10, pytest.approx(p), pytest.approx(p)) for p in (0.2, 0.5, 0.8)]
    # pairs of one that happened and one that did not: 2·8 ties at .2, 5·5 at .5, 8·2 at .8; 5·8 + 8·8 + 8·5 are in order
    assert found["self.auroc"].value == pytest.approx((0.5 * (16 + 25 + 16) + 40 + 64 + 40) / (15 * 15))


def test_a_model_that_is_always_sure_is_not() -> None:
    found, _ = calibration([Stated(1.0, k % 2 == 0, f"t{k}") for k in range(40)], "confidence")
    assert (found["confidence.brier"].value, found["confidence.ece_plain"].value) == (0.5, 0.5)
    assert found["confidence.auroc"].value == 0.5
    assert calibration([], "confidence") == ({}, ())
    assert calibration([Stated(0.9, True, "t")], "c")[0]["c.auroc"].value is None, "one class"


def test_detection_is_a_claim_from_one_half_on() -> None:
    stated = [Stated(0.9, True, "a"), Stated(0.5, False, "b"), Stated(0.2, True, "c"), Stated(0.1, False, "d")]
    found = detection(stated, "self")
    assert [found[f"self.{name}"].value for name in ("precision", "recall", "accuracy")] == [0.5, 0.5, 0.5]
    assert [found[f"self.{name}"].n for name in ("precision", "recall", "accuracy")] == [2, 2, 4]


@dataclass(frozen=True)
class Ended:
    goal: str
    answer: str | None
    success: bool
    observation: Observation
    history: tuple[PastStep, ...] = ()
    site: str = "shop"
    provenance: JsonDict = field(default_factory=dict)


PAGE = page("[1] button 'OK'")


def test_the_last_question_of_an_episode_is_its_last_message() -> None:
    clicked = PastStep(observation=page("[1] button 'Go'"), action=on(page("[1] button 'Go'"), "click('1')"))
    spoke = PastStep(observation=PAGE, action=on(PAGE, "send_msg_to_user('42')"))
    _, spoken = outcome_question(Ended("g", "42", True, PAGE, (clicked, spoke)))
    assert (spoken.observation, spoken.action.arguments, spoken.history) == (PAGE, {"text": "42"}, (clicked,))
    _, silent = outcome_question(Ended("g", None, True, PAGE, (clicked,)))
    assert (silent.observation, silent.action.name, silent.history) == (PAGE, "noop", (clicked,))
    _, told = outcome_question(Ended("g", "42", True, PAGE, ()))
    assert told.action.arguments == {"text": "42"}


class Judges:
    name, version = "judges", "1"

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        says = {"yes": 0.9, "no": 0.1, "odd": 7.0}
        return [[foreseen(PAGE, self_assessed_reward=says.get(query.goal))] for query in queries]

    def close(self) -> None: ...


def test_self_assessments_are_compared_with_outcomes_and_silence_is_counted(tmp_path: Path) -> None:
    ended = [
        Ended(goal, None, success, PAGE, provenance={"run": "r", "episode": f"e{n}", "template": f"t{n}"})
        for n, (goal, success) in enumerate([("yes", True), ("no", False), ("yes", False), ("", True), ("odd", True)])
    ]
    stated, said_nothing = assess(ended, Answers(tmp_path, Judges()))
    assert stated == [Stated(0.9, True, "t0"), Stated(0.1, False, "t1"), Stated(0.9, False, "t2")]
    assert said_nothing == 2


def test_flops_and_projection() -> None:
    assert flops(4_000_000, 250, 50) == 2.4e9
    slow = Device(name="test", flops=1e12, bandwidth=1e9, efficiency=0.5)
    # one sequence: 2·4e6·250/5e11 s of prefill, then 50 times 8 MB at 1 GB/s
    assert projected_seconds(slow, 4_000_000, 250, 50, batch=1) == pytest.approx(0.004 + 50 * 0.008)
    # sixty-four share each reading of the weights; from 8 MB · 5e11/(8e6·1e9) = 500 sequences on arithmetic binds
    assert projected_seconds(slow, 4_000_000, 250, 50, batch=64) == pytest.approx(0.004 + 50 * 0.008 / 64)
    assert projected_seconds(slow, 4_000_000, 250, 50, batch=1000) == pytest.approx(0.004 + 50 * 1.6e-5)
    assert projected_seconds(H100, 4_000_000, 250, 50, 64) < projected_seconds(slow, 4_000_000, 250, 50, 64)


def test_flops_need_a_number_of_parameters() -> None:
    used = foreseen(PAGE, usage=Usage(prompt_tokens=7, completion_tokens=3))
    scores = [score(row(PAGE, "noop()", PAGE), [used])]
    assert cost_figures(scores, None) == {}
    assert cost_figures(scores, 100)["cost.flops"].value == 2000
