"""Blame adds up exactly; Rogan–Gladen by hand; groundability's denominators."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.metrics.blame import blame, corrected_rate, rogan_gladen
from audits.metrics.groundability import groundability
from audits.metrics.rates import rates

from .factory import audit, row


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([True, False, None]), st.sampled_from([True, False, None]), st.integers(1, 5)),
        min_size=1,
        max_size=40,
    )
)
@settings(max_examples=30, deadline=None)
def test_the_split_is_an_identity(cells: list[tuple[bool, bool | None, bool | None, int]]) -> None:
    rows = [row(i, d, o, judge_on_real=j, weight=float(w), template=f"t{i // 3}") for i, (d, o, j, w) in enumerate(cells)]
    found = blame(rows)
    assert found.ssrf.value == rates(rows).ssrf.value
    if found.ssrf.value is not None:
        parts = (found.dynamics.value or 0) + (found.judge.value or 0) + (found.unattributed.value or 0)
        assert parts == pytest.approx(found.ssrf.value, abs=1e-12)
        assert found.dynamics.n == found.judge.n == found.unattributed.n == found.ssrf.n


def test_blame_by_hand() -> None:
    rows = [row(i, True, False, judge_on_real=False) for i in range(6)]
    rows += [row(10 + i, True, False, judge_on_real=True) for i in range(3)]
    rows += [row(20, True, False)] + [row(30 + i, True, True, judge_on_real=i < 8) for i in range(10)]
    found = blame(rows)
    values = [e.value for e in (found.ssrf, found.dynamics, found.judge, found.unattributed)]
    assert values == pytest.approx([0.5, 0.3, 0.15, 0.05])
    assert found.judge_on_success.value == pytest.approx(0.8)
    assert set(found.simultaneous) == {"dynamics", "judge", "unattributed", "success"}
    for name, estimate in (("dynamics", found.dynamics), ("judge", found.judge)):
        assert estimate.interval is not None
        assert found.simultaneous[name].high > estimate.interval.high, "jointly right is wider"
    assert blame(audit(0)).simultaneous == {}, "clustered rows"


def test_rogan_gladen_by_hand() -> None:
    assert rogan_gladen(0.5, 0.8, 0.85) == pytest.approx(0.5384615384615387), "oracle"
    assert rogan_gladen(0.3, 1, 1) == pytest.approx(0.3)
    assert rogan_gladen(0.01, 0.9, 0.9) == 0
    assert rogan_gladen(0.5, 0.5, 0.5) is None, "a judge that tosses a coin"
    found = corrected_rate((50, 100), (40, 50), (42, 50))
    assert found.value == pytest.approx(rogan_gladen(0.5, 0.8, 0.84))
    assert found.interval is not None and 0.3 < found.interval.low < 0.53 < found.interval.high < 0.75
    sure = corrected_rate((50, 100), (4000, 5000), (4200, 5000))
    assert sure.interval is not None
    assert sure.interval.high - sure.interval.low < found.interval.high - found.interval.low
    assert corrected_rate((5, 10), (0, 0), (5, 5)).value is None


def test_groundability_counts_actions_and_dreams() -> None:
    rows = [
        row(0, True, True, grounding=("exact", "no_element", "contextual")),
        row(1, True, False, grounding=("exact", "absent")),
        row(2, True, None),
    ]
    found = groundability(rows)
    assert found.groundable.value == pytest.approx(3 / 4) and found.groundable.n == 4, "scrolling needs no element"
    assert found.phantom.value == pytest.approx(1 / 4)
    assert found.actions["no_element"].value == pytest.approx(1 / 5)
    assert found.dreams.value == pytest.approx(1 / 2) and found.dreams.n == 2
    assert sum(e.value or 0 for e in found.actions.values()) == pytest.approx(1)
    assert groundability([]).groundable.value is None
