"""M6: golden values of the oracle, exact identities, monotonicity, and what ties must not do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import brier_score_loss, roc_auc_score

from audits.metrics.calibration import bin_codes, calibration, calibration_error, murphy, reliability
from audits.metrics.discrimination import auprc, auroc
from audits.metrics.selective import aurc, best_aurc, learn_threshold, one_per_cluster, risk_coverage

P = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99]
Y = [0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1]
ONE_EACH = [f"c{i:04d}" for i in range(5000)]

scores = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60)


def test_golden_values_of_the_oracle() -> None:
    found = calibration(P, Y, ONE_EACH[:20])
    assert found.brier.value == pytest.approx(0.188755) == pytest.approx(brier_score_loss(Y, P))
    assert found.error is not None and found.error.ece == pytest.approx(0.2055)
    assert calibration_error(P, Y, ONE_EACH[:20], bins=7).ece == pytest.approx(0.1655)
    assert aurc(P, Y) == pytest.approx(0.33630540769859657)


@given(scores)
@settings(max_examples=50, deadline=None)
def test_murphys_terms_add_up_to_the_brier_score(rows: list[tuple[float, bool]]) -> None:
    p, y = [a for a, _ in rows], [float(b) for _, b in rows]
    found = murphy(p, y)
    brier = float(np.mean((np.array(p) - np.array(y)) ** 2))
    assert found.reliability - found.resolution + found.uncertainty + found.within_bin == pytest.approx(brier)
    assert found.reliability >= 0 and found.resolution >= 0 and 0 <= found.uncertainty <= 0.25


def test_within_bin_terms_are_those_of_stephenson() -> None:
    generator = np.random.default_rng(0)
    p = generator.random(200)
    y = (generator.random(200) < p).astype(float)
    codes = bin_codes(p)
    by_hand = sum(
        ((p[codes == b] - p[codes == b].mean()) ** 2).sum()
        - 2 * ((p[codes == b] - p[codes == b].mean()) * (y[codes == b] - y[codes == b].mean())).sum()
        for b in range(10)
    )
    assert murphy(p, y).within_bin == pytest.approx(by_hand / 200)
    assert murphy([0.2] * 5 + [0.8] * 5, [0, 0, 0, 0, 1, 1, 1, 1, 1, 0]).within_bin == pytest.approx(0, abs=1e-12)


@given(scores, st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_equal_scores_share_a_bin_and_order_does_not_matter(rows: list[tuple[float, bool]], shuffler: object) -> None:
    rows = [(round(p, 1), y) for p, y in rows]
    p = np.array([a for a, _ in rows])
    codes = bin_codes(p)
    assert all(len(set(codes[p == value])) == 1 for value in set(p))
    assert all(codes[i] <= codes[j] for i in range(len(p)) for j in range(len(p)) if p[i] < p[j])
    shuffled = list(rows)
    shuffler.shuffle(shuffled)  # type: ignore[attr-defined]
    names = ONE_EACH[: len(rows)]
    first = calibration_error(p, [float(y) for _, y in rows], names, simulations=5).ece
    second = calibration_error([a for a, _ in shuffled], [float(y) for _, y in shuffled], names, simulations=5).ece
    assert first == pytest.approx(second)


def test_a_perfect_forecaster_is_told_from_a_bad_one() -> None:
    generator = np.random.default_rng(1)
    p = generator.random(400)
    good = calibration_error(p, generator.random(400) < p, ONE_EACH[:400])
    bad = calibration_error(p, generator.random(400) < p**3, ONE_EACH[:400])
    assert good.ece > 0.02, "the plain one is never 0"
    assert good.ece_debiased < good.ece and good.ece < good.perfect_q95 and good.p_value > 0.05
    assert good.rms.interval is not None and good.rms.interval.low == 0
    assert bad.ece > bad.perfect_q95 and bad.p_value < 0.01
    assert bad.rms.interval is not None and bad.rms.interval.low > 0.05


def test_debiasing_removes_bias() -> None:
    generator = np.random.default_rng(2)
    plain, debiased = [], []
    for _ in range(100):
        p = generator.random(100)
        found = calibration_error(p, generator.random(100) < p, ONE_EACH[:100], simulations=2)
        plain.append(found.ece)
        debiased.append(found.ece_debiased)
    assert np.mean(debiased) < 0.7 * np.mean(plain)


def test_reliability_holds_every_row_once() -> None:
    points = reliability(P, Y, ONE_EACH[:20], bins=4)
    assert sum(b.observed.n for b in points) == 20
    assert all(b.low <= b.mean_score <= b.high for b in points)
    assert calibration([], [], []).brier.value is None


# ------------------------------------------------------------------------------------------------ order


def test_auroc_is_sklearns_with_delongs_variance() -> None:
    generator = np.random.default_rng(3)
    y = generator.random(80) < 0.4
    s = np.round(generator.normal(y, 1), 1)
    found = auroc(s, y, ONE_EACH[:80])
    assert found.value == pytest.approx(roc_auc_score(y, s))
    # DeLong's variance from its definition
    wins = (s[y][:, None] > s[~y]) + 0.5 * (s[y][:, None] == s[~y])
    m, n = wins.shape
    variance = wins.mean(axis=1).var(ddof=1) / m + wins.mean(axis=0).var(ddof=1) / n
    value = wins.mean()
    t = stats.t.ppf(0.975, min(m, n) - 1)
    assert found.interval is not None
    half = np.log(found.interval.high / (1 - found.interval.high)) - np.log(value / (1 - value))
    assert half == pytest.approx(t * variance**0.5 / (value * (1 - value)))


def test_copies_within_clusters_add_nothing() -> None:
    generator = np.random.default_rng(4)
    y = generator.random(60) < 0.5
    s = generator.normal(y, 1)
    once, twice = auroc(s, y, ONE_EACH[:60]), auroc(np.repeat(s, 2), np.repeat(y, 2), [c for c in ONE_EACH[:60] for _ in "ab"])
    assert once.value == pytest.approx(twice.value) and once.interval == pytest.approx(twice.interval)


def test_one_class_has_no_auc_and_a_perfect_one_has_an_interval() -> None:
    assert auroc([0.1, 0.9], [1, 1], ["a", "b"]).value is None and auprc([0.1, 0.9], [0, 0], ["a", "b"]).value is None
    perfect = auroc([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], ONE_EACH[:4])
    assert perfect.value == 1 and perfect.interval is not None and perfect.interval.low < 0.5, "four rows prove little"
    assert auprc([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], ONE_EACH[:4]).value == 1


# ------------------------------------------------------------------------------------------------ selection


def test_best_order_is_the_floor_and_reversal_the_ceiling() -> None:
    loss = np.array([0.0] * 15 + [1.0] * 5)
    u = np.arange(20.0)
    assert aurc(u, loss) == pytest.approx(best_aurc(20, 5))
    assert aurc(-u, loss) > 0.25 > aurc(u, loss)
    assert aurc(np.zeros(20), loss) == pytest.approx(0.25), "no information: the plain risk"


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_aurc_is_bounded_and_order_free(rows: list[tuple[int, bool]], shuffler: object) -> None:
    area = aurc([u for u, _ in rows], [float(e) for _, e in rows])
    shuffled = list(rows)
    shuffler.shuffle(shuffled)  # type: ignore[attr-defined]
    assert aurc([u for u, _ in shuffled], [float(e) for _, e in shuffled]) == pytest.approx(area)
    assert best_aurc(len(rows), sum(e for _, e in rows)) - 1e-12 <= area <= 1


def test_coverage_and_threshold() -> None:
    generator = np.random.default_rng(5)
    u = generator.random(400)
    loss = generator.random(400) < np.where(u < 0.5, 0.01, 0.6)
    found = risk_coverage("u", u, loss, ONE_EACH[:400], ONE_EACH[:400])
    assert found.points[-1].coverage == 1 and found.points[-1].risk.value == pytest.approx(loss.mean())
    assert found.e_aurc is not None and 0 < found.e_aurc < 0.1
    assert found.guarantee.threshold is not None and 0.4 < found.guarantee.threshold < 0.7
    assert found.guarantee.failures / found.guarantee.accepted < 0.1


def test_no_guarantee_without_enough_rows() -> None:
    none = learn_threshold(np.arange(20.0), np.zeros(20), ONE_EACH[:20], ONE_EACH[:20])
    assert none.threshold is None and none.coverage is None
    bad = learn_threshold(np.arange(300.0), np.ones(300), ONE_EACH[:300], ONE_EACH[:300])
    assert bad.threshold is None
    repeated = learn_threshold(np.arange(300.0), np.zeros(300), ["same"] * 300, ONE_EACH[:300])
    assert repeated.threshold is None and repeated.n == 1, "300 dreams of one template are one"


def test_one_row_per_cluster_is_the_same_in_every_order() -> None:
    cluster, keys = ["a", "b", "a", "b", "c"], ["k1", "k2", "k3", "k4", "k5"]
    chosen = {keys[i] for i in one_per_cluster(cluster, keys)}
    assert {keys[::-1][i] for i in one_per_cluster(cluster[::-1], keys[::-1])} == chosen and len(chosen) == 3
