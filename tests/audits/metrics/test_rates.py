"""M1 and cuts: analytic tables, textbook numbers, bounds, weights; nothing depends on the order of rows."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from statsmodels.stats.multitest import multipletests

from audits.metrics.numbers import correlation, mean, proportion, share_from_influences
from audits.metrics.rates import bounds, confusion, headline_rows, rates
from audits.metrics.strata import adjusted, cut, partial_pooling, stratum_of
from audits.records import AuditRow, SamplingPlan, Stratum
from results.intervals import wilson

from .factory import audit, row, table


def test_a_table_by_hand() -> None:
    found = rates(table(n11=30, n10=10, n01=5, n00=55))
    assert found.ssrf.value == pytest.approx(10 / 40)
    assert found.ssrf.interval == pytest.approx(wilson(10, 40))
    assert found.ssrf_exact == pytest.approx((0.1269, 0.4120), abs=1e-4), "Clopper–Pearson 10/40"
    assert found.sfrs.value == pytest.approx(5 / 60)
    assert found.sensitivity.value == pytest.approx(30 / 35)
    assert found.specificity.value == pytest.approx(55 / 65)
    assert found.optimism_bias.value == pytest.approx(0.40 - 0.35)
    assert found.mcc.value == pytest.approx((30 * 55 - 10 * 5) / (40 * 35 * 65 * 60) ** 0.5)
    assert found.mcnemar_p == pytest.approx(0.30176, abs=1e-4), "exact binomial, 5 of 15"
    assert (found.ssrf.n, found.ssrf.k, found.ssrf.clusters) == (40, 10, 40)


def test_inconclusive_rows_are_never_failures() -> None:
    found = rates(table(n11=30, n10=7, unknown=3))
    assert found.ssrf.value == pytest.approx(7 / 37), "not in the rate"
    assert (found.ssrf_bounds.low, found.ssrf_bounds.high) == pytest.approx((0.175, 0.25)), "oracle manski(7, 40, 3)"
    assert found.ssrf_bounds.inconclusive_share == pytest.approx(3 / 40)
    assert found.ssrf_bounds.interval is not None
    assert found.ssrf_bounds.interval.low < 0.175 < 0.25 < found.ssrf_bounds.interval.high
    assert found.confusion.total == 40


def test_nothing_is_not_zero() -> None:
    found = rates([])
    assert found.ssrf.value is None and found.ssrf.interval is None and found.mcnemar_p is None
    only_failures = rates(table(0, 0, n01=2, n00=3))
    assert only_failures.ssrf.value is None and only_failures.ssrf.n == 0 and only_failures.mcc.value is None


def test_only_the_primary_arm_of_the_audited_model_is_the_headline() -> None:
    rows = [*table(1, 1), row(8, True, False, arm="skip"), row(9, True, False, anchor="copy")]
    assert [r.dream for r in headline_rows(rows[::-1])] == ["run/00000", "run/00001"]


def test_weights_undo_oversampling() -> None:
    """A population of 900 dreams that fail rarely and 100 that fail often; the second kind is drawn nine times as much."""
    rare = [row(i, True, i >= 5, weight=9.0) for i in range(50)]
    often = [row(100 + i, True, i >= 25, weight=1.0) for i in range(50)]
    assert rates([*rare, *often]).ssrf.value == pytest.approx((5 * 9 + 25) / 500)
    assert bounds([*rare, *often]).low == pytest.approx((5 * 9 + 25) / 500)
    assert rates([*rare, *often]).ssrf.k == 30, "counts stay counts of rows"


def test_equal_weights_are_no_weights() -> None:
    rows = audit(3)
    heavy = [r.model_copy(update={"weight": 2.5}) for r in rows]
    assert rates(heavy).ssrf == rates(rows).ssrf


@given(
    cells=st.lists(st.tuples(st.booleans(), st.sampled_from([True, False, None]), st.integers(0, 4)), min_size=1, max_size=40),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_rates_are_bounded_and_independent_of_order(cells: list[tuple[bool, bool | None, int]], seed: int) -> None:
    rows = [row(i, d, o, template=f"t{c}") for i, (d, o, c) in enumerate(cells)]
    found = rates(headline_rows(rows))
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert rates(headline_rows(shuffled)) == found
    for estimate in (found.ssrf, found.sfrs, found.sensitivity, found.specificity):
        if estimate.value is not None and estimate.interval is not None:
            assert 0 <= estimate.interval.low <= estimate.value + 1e-12
            assert estimate.value - 1e-12 <= estimate.interval.high <= 1
    low, high = found.ssrf_bounds.low, found.ssrf_bounds.high
    if low is not None and high is not None and found.ssrf.value is not None:
        assert low - 1e-12 <= found.ssrf.value <= high + 1e-12
    assert confusion(rows).total == len(rows)


def test_design_effect_and_icc() -> None:
    """Clusters of four that always agree: DEFF is near 4 and ICC near 1."""
    rows = [row(4 * c + g, True, c % 2 == 0, template=f"t{c:03d}") for c, g in product(range(100), range(4))]
    found = rates(rows)
    assert found.design_effect == pytest.approx(4 * 100 / 99)
    assert found.icc == 1.0
    assert found.ssrf.method == "cluster bootstrap"
    assert found.ssrf.interval is not None and found.ssrf.interval.high - found.ssrf.interval.low > 0.17, "as for 100, not 400"


def test_mean_and_correlation_agree_with_textbooks() -> None:
    values = np.random.default_rng(0).normal(size=30)
    one_each = [str(i) for i in range(30)]
    from scipy import stats

    expected = stats.t.interval(0.95, 29, values.mean(), values.std(ddof=1) / 30**0.5)
    assert mean(values, one_each).interval == pytest.approx(expected)
    doubled = mean(np.repeat(values, 2), [c for c in one_each for _ in range(2)])
    assert doubled.interval == pytest.approx(expected), "a copy of each row in its cluster adds nothing"
    assert correlation(values, values * 2 + 1, one_each).value == pytest.approx(1)
    assert correlation(values, np.ones(30), one_each).value is None


def test_wilson_on_effective_n_is_wilson_where_rows_are_independent() -> None:
    flags = np.array([1.0] * 12 + [0.0] * 28)
    one_each = [str(i) for i in range(40)]
    made = share_from_influences(0.3, (flags - 0.3) / 40, one_each, np.ones(40))
    assert made.interval is not None
    # the price of estimating the variance: slightly wider than Wilson's
    assert made.interval == pytest.approx(wilson(12, 40), abs=0.012)
    none = share_from_influences(0.0, np.zeros(40), one_each, np.ones(40))
    assert none.interval == pytest.approx(wilson(0, 40))
    assert proportion(flags, one_each).interval == pytest.approx(wilson(12, 40))


# ------------------------------------------------------------------------------------------------ cuts


def test_a_cut_shows_every_row_once() -> None:
    rows = audit(1)
    for by in ("site", "task_type", "length", "divergence", "world_model", "policy"):
        found = cut(headline_rows(rows), by)
        dreamed = [r for r in rows if r.dreamed]
        assert sum(s.rate.n + s.inconclusive for s in found.strata) == len(dreamed)
        assert [s.stratum for s in found.strata] == list(dict.fromkeys(s.stratum for s in found.strata))


def test_lengths_are_in_order_and_divergence_is_not_tested() -> None:
    rows = [row(i, True, i % 2 == 0, length=n, compared=2) for i, n in enumerate([1, 3, 5, 9, 12, 30] * 30)]
    assert [s.stratum for s in cut(rows, "length").strata] == ["1–2", "3–4", "5–6", "7–10", "11–15", "≥ 16"]
    diverged = [row(i, True, False, divergence=1 + i % 3, divergence_cause="exec") for i in range(90)]
    assert all(s.p_value is None for s in cut(diverged, "divergence").strata)
    assert stratum_of("divergence", row(0, True, True)) == "(none)"


def test_a_bad_site_is_found_and_noise_is_not() -> None:
    def site(name: str, k: int, start: int) -> list[AuditRow]:
        return [row(start + i, True, i >= k, site=name) for i in range(60)]

    rows = [*site("a", 12, 0), *site("b", 13, 100), *site("c", 11, 200), *site("bad", 45, 300)]
    strata = {s.stratum: s for s in cut(rows, "site").strata}
    assert strata["bad"].p_holm is not None and strata["bad"].p_holm < 1e-6
    level = [*site("a", 12, 0), *site("b", 13, 100), *site("c", 11, 200), *site("d", 14, 300)]
    assert all((s.p_holm or 0) > 0.5 and (s.p_holm or 0) >= (s.p_bh or 0) >= (s.p_value or 0) for s in cut(level, "site").strata)


def test_adjusted_p_values_are_statsmodels() -> None:
    p = np.random.default_rng(0).random(12) ** 3
    holm, bh = adjusted({f"s{i}": float(x) for i, x in enumerate(p)})
    assert list(holm.values()) == pytest.approx(multipletests(p, method="holm")[1].tolist())
    assert list(bh.values()) == pytest.approx(multipletests(p, method="fdr_bh")[1].tolist())
    assert adjusted({}) == ({}, {})


def test_pooling_moves_small_strata_towards_the_others() -> None:
    pooled = partial_pooling([0, 30, 33, 27, 31], [3, 100, 100, 100, 100])
    assert pooled[0].value is not None and 0.15 < pooled[0].value < 0.3, "0 of 3 says little"
    assert pooled[1].value == pytest.approx(0.30, abs=0.02), "30 of 100 says a lot"
    for estimate in pooled:
        assert estimate.interval is not None and estimate.value is not None
        assert 0 <= estimate.interval.low < estimate.value < estimate.interval.high <= 1
    apart = partial_pooling([1, 99, 2, 97], [100, 100, 100, 100])
    assert apart[0].value is not None and apart[0].value < 0.04, "strata that differ are left alone"


# ------------------------------------------------------------------------------------------------ rows


@pytest.mark.parametrize(
    "fields",
    [
        {"divergence": 2},
        {"divergence": 6, "divergence_cause": "exec"},
        {"compared": 6},
        {"score": 1.2},
        {"score": float("nan")},
        {"weight": 0},
        {"weight": float("inf")},
        {"uncertainty": {"u": float("nan")}},
        {"outcome": "inconclusive", "cause": ""},
        {"cause": "<b>x</b>"},
        {"unknown_field": 1},
    ],
)
def test_rows_that_contradict_themselves_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        row(0, True, False, **fields)


def test_a_plan_has_a_digest_that_any_change_changes() -> None:
    plan = SamplingPlan(source="run", rule="all", seed=1, strata=(Stratum(name="a", available=100, drawn=20),))
    assert plan.strata[0].weight == 5 and plan.drawn == 20
    assert plan.digest == SamplingPlan.model_validate_json(plan.model_dump_json()).digest
    assert plan.digest != plan.model_copy(update={"seed": 2}).digest
