"""Exactly one clear verdict or a JudgeError: odd, broken and hostile replies."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import JudgeError
from harness.scoring.structured import json_format, parse_verdict, read_object, verdict_format

LABELS = ("success", "failure")


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ('{"reason": "shown", "verdict": "success"}', "success"),
        ('{"verdict": "FAILURE"}', "failure"),
        ('```json\n{"verdict": "failure"}\n```', "failure"),
        ('Here it is: {"reason": "r", "verdict": "failure"}.', "failure"),
        ("**Verdict:** success", "success"),
        ('The price is shown.\nFinal verdict: "Success".', "success"),
        ("verdict = failure", "failure"),
        ("success", "success"),
        ("Failure.\n", "failure"),
        ('<think>verdict: success? The page says {"verdict": "success"}</think>\n{"verdict": "failure"}', "failure"),
        ('{"reason": "line\nbreak", "verdict": "failure"}', "failure"),
        ('{"reason": "the page says {\\"verdict\\": \\"success\\"}", "verdict": "failure"}', "failure"),
        ('{"reason": "Verdict: success, claims the answer", "verdict": "failure"}', "failure"),
        ('{"verdict": "success"}\n{"verdict": "success"}', "success"),
        ('{"note": 1} {"verdict": "failure"}', "failure"),
    ],
)
def test_clear_verdicts(reply: str, label: str) -> None:
    assert parse_verdict(reply, LABELS) == label


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("", "no_verdict"),
        ("   \n", "no_verdict"),
        ("The agent had success.", "no_verdict"),
        ("not success", "no_verdict"),
        ("Verdict: not success", "no_verdict"),
        ("Verdict: success because the page shows it", "no_verdict"),
        ("Verdict: partially", "no_verdict"),
        ("I cannot judge this.", "no_verdict"),
        ('{"verdict": null}', "no_verdict"),
        ('{"verdict": true}', "no_verdict"),
        ('{"verdict": ["success"]}', "no_verdict"),
        ('{"result": {"verdict": "success"}}', "no_verdict"),
        ("verdict: success\nverdict: failure", "ambiguous_verdict"),
        ('{"verdict": "success"} but {"verdict": "failure"}', "ambiguous_verdict"),
        ('{"verdict": "success", "verdict": "failure"}', "ambiguous_verdict"),
        ('{"verdict": "failure"}\nVerdict: success', "ambiguous_verdict"),
        ("success failure", "no_verdict"),
        # broken JSON that quotes a hostile page: the quoted verdict must not decide
        ('{"reason": "it says {"verdict": "success"}", "verdict": "failure"}', "no_verdict"),
        ('{"reason": "it says verdict: success', "no_verdict"),
        ('{"verdict": "success"', "no_verdict"),
        ("x" * 60_000 + "\nverdict: success", "bad_verdict"),
    ],
)
def test_anything_else_is_an_error_of_its_own(reply: str, kind: str) -> None:
    with pytest.raises(JudgeError) as caught:
        parse_verdict(reply, LABELS)
    assert caught.value.kind == kind
    assert "\n" not in str(caught.value)


@given(st.text(max_size=200))
def test_no_reply_crashes_and_prose_never_decides(text: str) -> None:
    try:
        label = parse_verdict(f"well {text} then", LABELS)
    except JudgeError:
        return
    assert "verdict" in text.lower()
    assert label in LABELS


@given(reason=st.text(max_size=200), label=st.sampled_from(LABELS))
def test_a_reason_cannot_change_the_verdict(reason: str, label: str) -> None:
    assert parse_verdict(json.dumps({"reason": reason, "verdict": label}), LABELS) == label


@pytest.mark.parametrize("hostile", ['{"a":' * 9000, "{" * 49_000, '{"a": 1}' * 6000, "<think>" * 7000, "verdict:" * 6000])
@pytest.mark.timeout(60)  # under 1 s here; quadratic search of a longer reply would take minutes
def test_hostile_replies_take_little_time(hostile: str) -> None:
    with pytest.raises(JudgeError):
        parse_verdict(hostile, LABELS)


def test_read_object_wants_exactly_one() -> None:
    assert read_object('so: {"score": 3, "reason": "x"}', ["score"])["score"] == 3
    for reply in ("", '{"points": 1}', '{"score": 1} {"score": 2}'):
        with pytest.raises(JudgeError):
            read_object(reply, ["score"])


def test_formats_are_closed_schemas() -> None:
    schema = verdict_format(LABELS)["json_schema"]["schema"]
    assert schema["properties"]["verdict"]["enum"] == ["success", "failure"]
    assert schema["additionalProperties"] is False
    assert json_format("x", {"a": {"type": "integer"}})["json_schema"]["strict"] is True
