"""Simulated coverage of every interval: within two points of its nominal 95 %, or above where it is meant to be conservative.

Worlds are small on purpose (15 to 200 clusters, up to 5 dreams each, ICC .2): that is what an audit has. Each case draws an audit
whose truth is known, asks for the interval, and counts. Monte-Carlo error is allowed for by three standard errors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score
from statsmodels.stats.proportion import multinomial_proportions_confint

from audits.metrics.blame import corrected_rate
from audits.metrics.calibration import calibration_error
from audits.metrics.controls import excess
from audits.metrics.discrimination import auprc, auroc
from audits.metrics.divergence import bootstrap_bands, compare, cumulative_incidence, product_limit
from audits.metrics.exploitation import slope
from audits.metrics.numbers import correlation, mean, proportion, share_from_influences
from audits.metrics.ranks import ranks
from audits.metrics.selective import aurc, learn_threshold, risk_coverage
from audits.metrics.strata import partial_pooling
from audits.metrics.updates import poisoned_share
from audits.metrics.worth import ppi_mean
from audits.records import AuditRow, PolicyRow
from results.intervals import clopper_pearson, wilson

pytestmark = pytest.mark.slow

Draw = Callable[[np.random.Generator], tuple[tuple[float, float] | None, float]]


def coverage(draw: Draw, runs: int) -> float:
    """Share of runs whose interval holds the truth; runs without an interval count as misses."""
    generator = np.random.default_rng(20)
    hits = 0
    for _ in range(runs):
        interval, truth = draw(generator)
        hits += interval is not None and interval[0] - 1e-12 <= truth <= interval[1] + 1e-12
    return hits / runs


def assert_covers(draw: Draw, runs: int, *, conservative: bool = False) -> None:
    found = coverage(draw, runs)
    error = 3 * (0.95 * 0.05 / runs) ** 0.5
    assert found >= 0.93 - error, found
    assert conservative or found <= 0.97 + error, found


def names(clusters: int, size: int = 1, prefix: str = "c") -> list[str]:
    return [f"{prefix}{c:04d}" for c in range(clusters) for _ in range(size)]


def outcomes(g: np.random.Generator, clusters: int, size: int, p: float, icc: float = 0.2) -> np.ndarray:
    """[clusters · size] of 0 and 1: beta-binomial clusters."""
    rates = g.beta(p * (1 / icc - 1), (1 - p) * (1 / icc - 1), clusters)
    return (g.random((clusters, size)) < rates[:, None]).astype(float).ravel()


def test_textbook_intervals_exactly() -> None:
    """No simulation: sums over the binomial. Clopper–Pearson never below 95 %; Wilson 95 % on average (Brown et al. 2001)."""
    for n in (12, 40, 183):
        grid = np.linspace(0.02, 0.98, 49)
        weight = stats.binom.pmf(np.arange(n + 1)[:, None], n, grid)
        for function, low, high in ((clopper_pearson, 0.95, 1.0), (wilson, 0.94, 0.96)):
            limits = np.array([function(k, n) for k in range(n + 1)])
            holds = (limits[:, :1] <= grid) & (grid <= limits[:, 1:])
            found = (weight * holds).sum(axis=0)
            assert (found.min() if function is clopper_pearson else low) >= low and found.mean() <= high
            assert found.mean() >= low


@pytest.mark.parametrize(("clusters", "size", "p"), [(15, 4, 0.3), (40, 4, 0.3), (60, 5, 0.02), (60, 5, 0.1), (200, 1, 0.1)])
def test_rate(clusters: int, size: int, p: float) -> None:
    cluster = names(clusters, size)
    assert_covers(lambda g: (proportion(outcomes(g, clusters, size, p), cluster).interval, p), 600)


@pytest.mark.parametrize("clusters", [20, 40, 100])
def test_weighted_rate(clusters: int) -> None:
    cluster, weight = names(clusters, 3), np.tile([1.0, 1.0, 5.0], clusters)
    assert_covers(lambda g: (proportion(outcomes(g, clusters, 3, 0.3), cluster, g.permutation(weight)).interval, 0.3), 500)


@pytest.mark.parametrize(("clusters", "size"), [(20, 3), (60, 1), (60, 4)])
def test_optimism_bias(clusters: int, size: int) -> None:
    cluster = names(clusters, size)

    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        return mean(outcomes(g, clusters, size, 0.5) - outcomes(g, clusters, size, 0.3), cluster, low=-1, high=1).interval, 0.2

    assert_covers(draw, 1500)


def test_brier() -> None:
    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        p = g.beta(2, 2, 80)
        return mean((p - (g.random(80) < p)) ** 2, names(80)).interval, 0.2

    assert_covers(draw, 1500)


@pytest.mark.parametrize(("n", "hit", "false"), [(40, 0.8, 0.3), (80, 0.7, 0.3), (200, 0.9, 0.1)])
def test_correlation(n: int, hit: float, false: float) -> None:
    x_rate = 0.4 * hit + 0.6 * false
    truth = (0.4 * hit - x_rate * 0.4) / (x_rate * (1 - x_rate) * 0.24) ** 0.5

    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        y = g.random(n) < 0.4
        return correlation(np.where(y, g.random(n) < hit, g.random(n) < false), y, names(n)).interval, truth

    assert_covers(draw, 1500)


@pytest.mark.parametrize(("positive", "negative", "shift"), [(15, 30, 1.0), (50, 50, 1.0), (20, 40, 2.0), (20, 80, 2.5)])
def test_auroc(positive: int, negative: int, shift: float) -> None:
    real = np.r_[np.ones(positive), np.zeros(negative)]

    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        found = auroc(g.normal(shift * real, 1), real, names(len(real)))
        return found.interval, float(stats.norm.cdf(shift / 2**0.5))

    assert_covers(draw, 700)


def test_auroc_of_clusters() -> None:
    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        real = g.random((40, 4)) < 0.4
        score = real + g.normal(0, 0.7, (40, 1)) + g.normal(0, 0.51**0.5, (40, 4))
        return auroc(score.ravel(), real.ravel(), names(40, 4)).interval, float(stats.norm.cdf(1 / 2**0.5))

    assert_covers(draw, 700)


def test_auprc_is_conservative() -> None:
    def sample(g: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        real = g.random(n) < 0.4
        return g.normal(real, 1), real

    score, real = sample(np.random.default_rng(0), 400_000)
    truth = float(average_precision_score(real, score))
    assert_covers(lambda g: (auprc(*sample(g, 100), names(100)).interval, truth), 500, conservative=True)


def test_aurc() -> None:
    def sample(g: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        u = g.random(n)
        return u, (g.random(n) < 0.1 + 0.5 * u).astype(float)

    truth = aurc(*sample(np.random.default_rng(0), 400_000))
    assert_covers(lambda g: (risk_coverage("u", *sample(g, 60), names(60), names(60)).aurc.interval, truth), 200)


def test_threshold_keeps_its_promise() -> None:
    """P(true risk of what is accepted > 10 %) ≤ 5 %. Sharpest where every threshold is just too risky: then none may be found."""
    generator, runs = np.random.default_rng(0), 1500
    found = sum(
        learn_threshold(generator.random(150), generator.random(150) < 0.1001, names(150), names(150)).threshold is not None
        for _ in range(runs)
    )
    assert found / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_threshold_is_found_where_there_is_one() -> None:
    """Risk .02 below u = ½ and .60 above: accepted risk reaches 10 % near u = .58."""
    generator = np.random.default_rng(0)
    found = broken = 0
    for _ in range(200):
        u = generator.random(400)
        q = learn_threshold(u, generator.random(400) < np.where(u < 0.5, 0.02, 0.6), names(400), names(400)).threshold
        found += q is not None
        broken += q is not None and (0.02 * min(q, 0.5) + 0.6 * max(0.0, q - 0.5)) / q > 0.10
    assert found >= 180 and broken <= 20


@pytest.mark.parametrize(("n", "clusters", "shift"), [(100, 100, 0.0), (100, 25, 0.2), (300, 300, 0.1), (300, 75, 0.1)])
def test_root_mean_square_calibration_error(n: int, clusters: int, shift: float) -> None:
    grid = np.linspace(0.1, 0.9, 100_001)
    gap = grid - np.clip(grid - shift, 0, 1)
    truth = float(np.mean([part.mean() ** 2 for part in np.array_split(gap, 10)]) ** 0.5)
    cluster = [names(clusters)[i % clusters] for i in range(n)]

    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        p = g.random(n) * 0.8 + 0.1
        real = g.random(n) < np.clip(p - shift, 0, 1)
        return calibration_error(p, real, cluster, simulations=1).rms.interval, truth

    assert_covers(draw, 600, conservative=True)


@pytest.mark.parametrize(
    ("n", "labelled", "se", "sp", "truth"), [(100, 50, 0.8, 0.85, 0.4), (200, 100, 0.9, 0.95, 0.2), (300, 100, 0.98, 0.99, 0.3)]
)
def test_rogan_gladen(n: int, labelled: int, se: float, sp: float, truth: float) -> None:
    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        judged = g.binomial(n, truth * se + (1 - truth) * (1 - sp))
        return corrected_rate(
            (judged, n), (g.binomial(labelled, se), labelled), (g.binomial(labelled, sp), labelled)
        ).interval, truth

    assert_covers(draw, 4000)


def test_goodman_holds_jointly() -> None:
    truth = np.array([0.25, 0.1, 0.05, 0.6])
    generator, hits = np.random.default_rng(0), 0
    for _ in range(2000):
        limits = multinomial_proportions_confint(generator.multinomial(120, truth), method="goodman")
        hits += bool(((limits[:, 0] <= truth) & (truth <= limits[:, 1])).all())
    assert hits / 2000 >= 0.93


@pytest.mark.parametrize(("clusters", "size", "more"), [(20, 1, 500), (60, 1, 1000), (30, 4, 200)])
def test_ppi(clusters: int, size: int, more: int) -> None:
    def simulate(g: np.random.Generator, real: np.ndarray) -> np.ndarray:
        return np.where(g.random(len(real)) < 0.6, real, g.random(len(real)) < 0.55).astype(float)

    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        real, unseen = outcomes(g, clusters, size, 0.3), outcomes(g, more, size, 0.3)
        cluster, others = names(clusters, size), names(more, size, "d")
        return ppi_mean(real, simulate(g, real), cluster, simulate(g, unseen), others).ppi.interval, 0.3

    assert_covers(draw, 700)


def frail(g: np.random.Generator, clusters: int, size: int, hazard: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and events; each cluster has a hazard of its own, gamma with mean `hazard`; censored at 3 to 9."""
    rates = np.repeat(np.clip(g.gamma(4, hazard / 4, clusters), 1e-6, 1), size)
    event, censored = g.geometric(rates), g.integers(3, 10, clusters * size)
    return np.minimum(event, censored), event <= censored


def surviving(hazard: float, page: int) -> float:
    return float(np.mean((1 - np.clip(np.random.default_rng(1).gamma(4, hazard / 4, 400_000), 1e-6, 1)) ** page))


@pytest.mark.parametrize(("clusters", "size", "hazard"), [(15, 3, 0.1), (40, 4, 0.1), (60, 1, 0.05), (100, 2, 0.2)])
@pytest.mark.parametrize("page", [2, 7])
def test_survival_and_incidence(clusters: int, size: int, hazard: float, page: int) -> None:
    cluster, ones = names(clusters, size), np.ones(clusters * size)
    truth = surviving(hazard, page)

    def survival(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        time, event = frail(g, clusters, size, hazard)
        curve, influence = product_limit(time, event, ones, 9)
        return share_from_influences(curve[page - 1], influence[:, page - 1], cluster, ones * (time >= page)).interval, truth

    def incidence(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        """Half of the divergences are of the cause, at random: its incidence is half of 1 − S."""
        time, event = frail(g, clusters, size, hazard)
        curve, influence = product_limit(time, event, ones, 9)
        value, own = cumulative_incidence(time, g.random(len(time)) < 0.5, curve, influence, event, ones)
        made = share_from_influences(value[page - 1], own[:, page - 1], cluster, ones * (time >= page))
        return made.interval, (1 - truth) / 2

    assert_covers(survival, 600)
    assert_covers(incidence, 600, conservative=True)


def test_bootstrap_bands_where_they_are_shown() -> None:
    truth = surviving(0.2, 4)

    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        bands = bootstrap_bands(*frail(g, 100, 2, 0.2), names(100, 2), np.ones(200), resamples=500)
        return (bands[3] if bands else None), truth

    assert_covers(draw, 300)


def dream(i: int, cluster: str, real: bool, time: int = 1, event: bool = False) -> AuditRow:
    return AuditRow(
        dream=f"d{i:05d}", task_id=cluster, length=20, dreamed=True, outcome="success" if real else "failure", compared=time,
        divergence=time if event else None, divergence_cause="exec" if event else None,
    )  # fmt: skip


def test_difference_of_restricted_means() -> None:
    """Two world models on the same templates: 20 clusters of three."""
    truth = sum(surviving(0.05, t) - surviving(0.15, t) for t in range(1, 7))

    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        sides = [
            [dream(i, names(20, 3)[i], True, int(t), bool(e)) for i, (t, e) in enumerate(zip(*frail(g, 20, 3, h), strict=True))]
            for h in (0.05, 0.15)
        ]
        found = compare(*sides, horizon=6)
        return (found.difference.interval if found else None), truth

    assert_covers(draw, 200)


@pytest.mark.parametrize(("p", "alpha", "controls"), [(0.4, 0.1, 60), (0.3, 0.01, 183), (0.3, 0.2, 120)])
def test_excess(p: float, alpha: float, controls: int) -> None:
    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        dreams = [dream(i, c, not f) for i, (c, f) in enumerate(zip(names(40, 4), outcomes(g, 40, 4, p), strict=True))]
        alarms = [dream(i, f"n{i}", bool(g.random() >= alpha)) for i in range(controls)]
        return excess(dreams, alarms, resamples=800).interval, (p - alpha) / (1 - alpha)

    assert_covers(draw, 250)


def test_partial_pooling_on_average_over_strata() -> None:
    generator, hits, total = np.random.default_rng(0), 0, 0
    for strata, n in ((5, 12), (8, 8), (6, 40)):
        for _ in range(60):
            rates = generator.beta(2.4, 3.6, strata)
            found = partial_pooling(list(generator.binomial(n, rates)), [n] * strata)
            hits += sum(
                e.interval is not None and e.interval.low <= r <= e.interval.high for e, r in zip(found, rates, strict=True)
            )
            total += strata
    assert hits / total == pytest.approx(0.95, abs=0.02 + 3 * (0.0475 / total) ** 0.5)


def test_poisoned_share() -> None:
    """Advantages weigh failures: larger where reality fails more often."""
    push = np.tile([0.5, 1.0, 2.0], 40)
    chance = np.tile([0.2, 0.3, 0.5], 40)
    truth = float((push * chance).sum() / push.sum())

    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        failed = g.random(120) < np.clip(chance * np.repeat(g.uniform(0.5, 1.5, 40), 3), 0, 1)
        rows = [dream(i, c, not f) for i, (c, f) in enumerate(zip(names(40, 3), failed, strict=True))]
        return poisoned_share(list(zip(push, rows, strict=True))).interval, truth

    assert_covers(draw, 300)


def test_exploitation_slope() -> None:
    x = np.array([0.0, 0.5, 1.0, 2.0])

    def draw(g: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        gap = np.stack([outcomes(g, 30, 2, 0.3 + 0.2 * v) - outcomes(g, 30, 2, 0.3) for v in x])
        found = slope(x, gap - gap[0], names(30, 2))
        return (found.interval if found else None), 0.2

    assert_covers(draw, 1500)


def test_regret_and_pairs_are_never_too_sure() -> None:
    """Five policies in 30 clusters of two: the joint statements hold in at least 95 % of audits."""
    real, simulated = np.array([0.1, 0.2, 0.3, 0.4, 0.35]), np.array([0.2, 0.2, 0.5, 0.4, 0.6])
    tau = stats.kendalltau(real, simulated).statistic
    generator, runs = np.random.default_rng(0), 120
    within = below = 0
    for _ in range(runs):
        s, r = (np.stack([outcomes(generator, 30, 2, p, 0.1) for p in rates]) for rates in (simulated, real))
        rows = [
            PolicyRow(policy=f"c{c}", updates=c, task_id=f"t{j}", template=names(30, 2)[j], simulated=s[c, j], real=r[c, j])
            for c in range(5)
            for j in range(60)
        ]
        found = ranks(rows, resamples=400)
        assert found.pairs is not None and found.regret_upper is not None
        within += found.pairs.tau_bounds.low - 0.1 <= tau <= found.pairs.tau_bounds.high + 0.1
        below += real.max() - real[int(np.argmax(found.simulated))] <= found.regret_upper
    assert within / runs >= 0.93 and below / runs >= 0.93
