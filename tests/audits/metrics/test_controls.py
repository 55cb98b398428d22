"""M2: the stop rule at its edges, planted faults by hand, Abbott's excess."""

from __future__ import annotations

import pytest

from audits.metrics.controls import abbott, controls, excess, fault_scores, negative_control
from audits.records import AuditRow, DeterminismRow, PlantedFault

from .factory import row, table


def replays(n: int, failures: int = 0, unknown: int = 0) -> list[AuditRow]:
    return table(n11=n - failures, n10=failures, unknown=unknown)


@pytest.mark.parametrize(
    ("n", "failures", "status"),
    [(71, 0, "INVALID"), (72, 0, "VALID"), (183, 0, "VALID"), (36, 0, "INVALID"), (110, 1, "VALID"), (72, 1, "INVALID")],
)
def test_the_stop_rule(n: int, failures: int, status: str) -> None:
    assert controls(replays(n, failures)).validity.status == status


def test_limits_of_the_design_hold() -> None:
    for n, limit in ((36, 0.10), (72, 0.05), (183, 0.02)):
        assert negative_control(replays(n)).exact.high <= limit < negative_control(replays(n - 1)).exact.high


def test_without_controls_nothing_is_valid() -> None:
    found = controls()
    assert found.validity.status == "INVALID"
    assert "no negative control" in found.validity.reasons[0]
    assert controls(replays(0, unknown=80)).validity.status == "INVALID", "only inconclusive"


def test_reasons_say_how_many() -> None:
    assert "2 of 50" in controls(replays(50, 2)).validity.reasons[0]
    warned = controls(replays(100, unknown=20)).validity
    assert warned.status == "VALID" and any("inconclusive" in w for w in warned.warnings)


def fault(
    index: int, kind: str, planted: int, found: int | None, *, cause: str = "crit", outcome: str = "failure"
) -> PlantedFault:
    return PlantedFault.model_validate(
        {
            "dream": f"d{index}", "task_id": f"t{index}", "fault": kind, "planted_at": planted, "expected_cause": "crit",
            "outcome": outcome, "found_at": found, "found_cause": cause if found else None,
        }
    )  # fmt: skip


def test_planted_faults_by_hand() -> None:
    rows = [
        fault(0, "deleted_node", 2, 2),
        fault(1, "deleted_node", 2, 4, cause="exec"),
        fault(2, "wrong_count", 3, 3),
        fault(3, "wrong_count", 3, None, outcome="success"),
        fault(4, "wrong_count", 3, None, outcome="inconclusive"),
    ]
    every, deleted, count = fault_scores(rows[::-1])
    assert (every.fault, deleted.fault, count.fault) == ("all", "deleted_node", "wrong_count")
    assert every.recall.value == pytest.approx(3 / 4) and every.inconclusive == 1
    assert every.localisation_median == 0 and deleted.localisation_median == 1
    assert every.localised.value == pytest.approx(2 / 3)
    assert every.cause_accuracy.value == pytest.approx(2 / 3) and every.cause_accuracy.n == 3
    assert count.recall.value == pytest.approx(1 / 2)
    assert any("75.0%" in w for w in controls(replays(100), rows).validity.warnings)


def test_determinism_counts_pages() -> None:
    rows = [
        DeterminismRow(task_id="a", pages=5, equal=5), DeterminismRow(task_id="b", pages=5, equal=4),
        DeterminismRow(task_id="c", pages=0, equal=0, cause="infrastructure"),
    ]  # fmt: skip
    found = controls(replays(80), determinism=rows).determinism
    assert found is not None and found.equal.value == pytest.approx(0.9)
    assert (found.equal.n, found.runs, found.not_compared) == (10, 3, 1)


def test_abbott_by_hand() -> None:
    assert abbott(0.4, 0.1) == pytest.approx(1 / 3), "oracle"
    assert abbott(0.05, 0.1) == 0
    assert abbott(0.3, 0.0) == 0.3


def test_excess_is_between_zero_and_the_rate() -> None:
    dreams = table(n11=60, n10=40)
    found = excess(dreams, replays(100, 5))
    assert found.value == pytest.approx(abbott(0.4, 0.05))
    assert found.interval is not None and found.interval.low < found.value < found.interval.high
    assert found.method.startswith("MOVER"), "five false alarms are too few for a bootstrap"
    assert excess(dreams, replays(200, 40)).method == "joint cluster bootstrap"
    assert excess(dreams, replays(20, 20)).value is None, "a replayer that always fails says nothing"


def test_uncertain_controls_widen_the_excess() -> None:
    dreams = table(n11=60, n10=40)
    widths = []
    for n in (20, 100, 2000):
        interval = excess(dreams, replays(n)).interval
        assert interval is not None
        widths.append(interval.high - interval.low)
    assert widths[0] > widths[1] > widths[2]


def test_false_alarms_by_site() -> None:
    rows = [row(i, True, i % 10 != 0, site="a" if i < 50 else "b") for i in range(100)]
    sites = dict(negative_control(rows).sites)
    assert sites["a"].n == sites["b"].n == 50 and sites["a"].value == pytest.approx(0.1)
