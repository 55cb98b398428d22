"""webarena-verified as an oracle of its own task definitions: generated right answers pass; N/A, empty and junk fail."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.benchmarks.webarena.tasks import definitions, load_tasks
from harness.scoring.webarena_verified import VerifiedScorer
from harness.types import Verdict
from tests.webarena.sites import SiteSet

pytestmark = pytest.mark.webarena


@pytest.fixture(scope="module")
def scorer(running_sites: SiteSet) -> VerifiedScorer:
    return VerifiedScorer(running_sites.instance.urls)


RESPONSE_ONLY = [task.task_id for task in load_tasks("webarena-verified") if task.evaluator.kind == "response"]


def response(task_id: str, **changes: Any) -> str:
    """A right answer made from the expected one: of alternatives, the first."""
    evaluator = definitions("webarena-verified")[task_id]["eval"][0]  # type: ignore[index,call-overload]
    expected = dict(evaluator["expected"])
    retrieved = expected.get("retrieved_data")
    if retrieved is not None:
        expected["retrieved_data"] = [item[0] if isinstance(item, list) else item for item in retrieved]
    return json.dumps({**expected, **changes})


def test_right_answers_pass_on_all_but_one_response_only_task(scorer: VerifiedScorer) -> None:
    assert len(RESPONSE_ONLY) == 324
    verdicts = {task_id: scorer.score(int(task_id), response(task_id), ()) for task_id in RESPONSE_ONLY}
    wrong = {task_id: v.reason for task_id, v in verdicts.items() if v.status != "success"}
    assert sorted(wrong) == ["319"], wrong


@pytest.mark.parametrize("junk", ["N/A", "", "{}", "[]", "null", "42", '{"task_type": "RETRIEVE"}', '"SUCCESS"', "{" * 50])
def test_what_is_not_a_response_fails_everywhere_and_says_why(scorer: VerifiedScorer, junk: str) -> None:
    for task_id in RESPONSE_ONLY[::9]:
        verdict = scorer.score(int(task_id), junk, ())
        assert verdict.status == "failure", (task_id, verdict.reason)
        assert verdict.reason.startswith("malformed answer"), verdict.reason


def test_junk_data_in_a_well_formed_response_fails_everywhere(scorer: VerifiedScorer) -> None:
    passed = []
    for task_id in RESPONSE_ONLY:
        verdict = scorer.score(int(task_id), response(task_id, status="SUCCESS", retrieved_data=["§ junk §"]), ())
        if verdict.status == "success":
            passed.append(task_id)
    retrieve = [i for i in passed if load_task(i).metadata["task_type"] == "retrieve"]
    assert retrieve == []


def load_task(task_id: str) -> Any:
    return next(task for task in load_tasks("webarena-verified") if task.task_id == task_id)


@pytest.mark.parametrize(
    "answer",
    [
        '{"task_type": 1, "status": [], "retrieved_data": {}}',
        '{"task_type": "RETRIEVE", "status": 5, "retrieved_data": [[["x"]]]}',
        '{"task_type": "DESTROY", "status": "SUCCESS", "retrieved_data": null}',
        '{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ' + "[" * 2000 + "]" * 2000 + "}",
    ],
)
def test_hostile_responses_are_the_agents_failure_not_an_error(scorer: VerifiedScorer, answer: str) -> None:
    verdict: Verdict = scorer.score(0, answer, ())
    assert verdict.status == "failure" and verdict.evidence["malformed"]


def test_a_response_in_a_code_block_and_with_the_old_field_name_counts(scorer: VerifiedScorer) -> None:
    old = json.loads(response("0"))
    old["performed_operation"] = old.pop("task_type")
    assert scorer.score(0, f"Done:\n```json\n{json.dumps(old)}\n```", ()).status == "success"


def test_no_answer_is_a_failure(scorer: VerifiedScorer) -> None:
    verdict = scorer.score(0, None, ())
    assert (verdict.status, verdict.reason) == ("failure", "no answer was given")


def test_an_unknown_task_is_an_evaluator_error(scorer: VerifiedScorer) -> None:
    verdict = scorer.score(99_999, response("0"), ())
    assert verdict.status == "error" and verdict.error is not None and verdict.error.boundary == "evaluator"
