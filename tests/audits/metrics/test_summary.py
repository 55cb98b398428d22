"""The whole summary: refuses what must be refused, survives JSON, needs no order, and is read without the [audit] extra."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from audits.metrics.summarise import summarise
from audits.metrics.summary import AuditSummary
from audits.records import SamplingPlan, Stratum

from .factory import audit, policies, row, table


@pytest.fixture(scope="module")
def whole() -> tuple[list[object], AuditSummary]:
    rows = [*audit(0), *[r.model_copy(update={"anchor": "copy", "dream": f"copy/{r.dream}"}) for r in audit(1, n=40)]]
    rows += [row(900 + i, True, True, dream=f"run/{i:05d}", arm="handover") for i in range(40)]
    plan = SamplingPlan(source="run", rule="all", seed=0, strata=(Stratum(name="all", available=500, drawn=130),))
    return rows, summarise(rows, negative=table(90, 0), policies=policies(0), plan=plan)


def test_it_survives_json_bit_for_bit(whole: tuple[list[object], AuditSummary]) -> None:
    text = whole[1].model_dump_json()
    assert AuditSummary.model_validate_json(text) == whole[1]
    assert AuditSummary.model_validate_json(text).model_dump_json() == text
    assert "NaN" not in text and "Infinity" not in text


def test_it_does_not_depend_on_order(whole: tuple[list[object], AuditSummary]) -> None:
    rows, found = whole
    shuffled = random.Random(3).sample(rows, len(rows))
    again = summarise(shuffled, negative=table(90, 0)[::-1], policies=policies(0)[::-1], plan=found.plan)  # type: ignore[arg-type]
    assert again == found


def test_everything_that_has_rows_is_there(whole: tuple[list[object], AuditSummary]) -> None:
    found = whole[1]
    assert found.status == "VALID" and found.plan_digest and found.excess is not None
    assert (found.counts.planned, found.counts.replayed, found.counts.missing) == (130, 120, 10)
    assert found.counts.success + found.counts.failure + found.counts.inconclusive == 120
    assert [a.name for a in found.anchors] == ["copy"] and found.against_copy is not None
    assert [a.name for a in found.by_world_model] == ["micro", "nano"] and found.world_models_log_rank is not None
    assert {c.cut for c in found.cuts} == {"site", "task_type", "length", "divergence", "world_model", "policy"}
    assert {s.score for s in found.selective} == {"token_nll", "self_assessment"}
    assert found.recovery[0].arm == "handover" and found.recovery[0].difference.value is not None
    assert found.recovery[0].difference.value > 0
    assert found.ranks is not None and found.exploitation is not None and found.updates is not None and found.worth is not None


def test_no_headline_without_controls() -> None:
    found = summarise(table(30, 10))
    assert found.status == "INVALID" and found.headline is None
    assert "no negative control" in found.headline_withheld[0]
    assert found.rates.ssrf.value == pytest.approx(0.25), "computed all the same, for --show-invalid"


def test_no_headline_while_too_much_is_unknown() -> None:
    few = summarise(table(30, 8, unknown=2), negative=table(80, 0))
    assert few.headline is not None and few.headline.value == pytest.approx(8 / 38)
    many = summarise(table(30, 7, unknown=3), negative=table(80, 0))
    assert many.status == "VALID" and many.headline is None
    assert "17.5% and 25.0%" in many.headline_withheld[0]


def test_no_rows_is_an_answer() -> None:
    found = summarise([], negative=table(80, 0))
    assert found.headline is None and found.survival.pages == () and found.worth is None
    assert AuditSummary.model_validate_json(found.model_dump_json()) == found


def test_a_stored_summary_is_read_without_the_audit_extra() -> None:
    """No module imports scikit-learn or lifelines at its top level."""
    for path in (Path(__file__).parents[3] / "audits" / "metrics").glob("*.py"):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [a.name for a in statement.names] if isinstance(statement, ast.Import) else []
            names += [statement.module or ""] if isinstance(statement, ast.ImportFrom) else []
            assert not [n for n in names if n.split(".")[0] in ("sklearn", "lifelines")], path.name
