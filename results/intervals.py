"""Intervals for rates. Pure functions; everything random is seeded and independent of the order of its input.

    wilson             one trial per unit: for display
    clopper_pearson    never below its nominal coverage: for guarantees
    cluster_bootstrap  trials that share a template or a task are not independent: resample whole clusters
    rate               picks among them, and says which
    paired_interval    a difference over the same episodes

`k` successes of `n` trials; `cluster` names the unit that each trial belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

CONFIDENCE = 0.95
RESAMPLES = 4000
SEED = 0

MIN_CLUSTERS = 30
"""Below this many clusters the percentile bootstrap covers clearly less than it says (tests/results/test_coverage.py)."""

ROUNDING = 1e-12
"""Ends of an interval that differ by less are one number."""

_CHUNK = 2**22

Floats = NDArray[np.float64]
Method = Literal["wilson", "cluster bootstrap", "wilson on effective n"]


class Interval(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True)
class Rate:
    """`k / n` with an interval. `value` and the interval are None where n = 0: no number is better than a false one."""

    k: float
    n: int
    clusters: int
    value: float | None
    interval: Interval | None
    method: Method | None
    design_effect: float | None
    """Variance under clustering over that of n independent trials; None where it cannot be estimated."""


def wilson(k: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval (1927). (0, 1) for n = 0."""
    return _proportion(k, n, "wilson", confidence)


def clopper_pearson(k: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """The exact interval of Clopper and Pearson (1934). (0, 1) for n = 0."""
    return _proportion(k, n, "beta", confidence)


def cluster_bootstrap(
    numerator: ArrayLike,
    denominator: ArrayLike,
    cluster: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Percentile interval of Σ numerator / Σ denominator over clusters drawn with replacement; None without trials."""
    sums = _cluster_sums(cluster, numerator, denominator)
    drawn = _resample(sums, resamples, seed)
    num, den = drawn[:, 0], drawn[:, 1]
    return _quantiles(num[den > 0] / den[den > 0], confidence)


def paired_interval(
    first: ArrayLike,
    second: ArrayLike,
    cluster: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Of mean(second) − mean(first) over pairs of numbers in [0, 1].

    From `MIN_CLUSTERS` clusters on: the percentile bootstrap, clusters drawn with replacement. Fewer: the difference ± t · SE,
    Student's t with C − 1 degrees of freedom and SE² = C/(C−1) · Σ_c (Σ_{i∈c} (d_i − d̄))² / n², cut to [−1, 1]. Both cover too
    little where a handful of pairs differ, all in one direction (docs/results-format.md).

    None without pairs, and where all clusters agree (or there is one): what does not vary here says nothing of how it might.
    """
    difference = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    ones = np.ones_like(difference)
    if len(set(cluster)) >= MIN_CLUSTERS:
        found = cluster_bootstrap(difference, ones, cluster, resamples=resamples, seed=seed, confidence=confidence)
    else:
        found = _student_interval(difference, cluster, confidence)
    return None if found is None or found.high - found.low < ROUNDING else found


def _student_interval(difference: Floats, cluster: Sequence[str], confidence: float) -> Interval | None:
    sums = _cluster_sums(cluster, difference, np.ones_like(difference))
    if len(sums) < 2:
        return None
    value, variance = _ratio(sums)
    half = student(confidence, len(sums)) * variance**0.5
    return Interval(max(-1.0, value - half), min(1.0, value + half))


def student(confidence: float, clusters: int) -> float:
    """Two-sided quantile of Student's t with C−1 degrees of freedom."""
    return float(stats.t.ppf(1 - (1 - confidence) / 2, clusters - 1))


def design_effect(success: ArrayLike, cluster: Sequence[str]) -> float | None:
    """Kish's design effect by linearisation of the ratio; None for one cluster, or where all outcomes are equal.

    For C clusters of m equal outcomes each it is m·C/(C−1); for independent trials it is near 1.
    """
    values = np.asarray(success, dtype=np.float64)
    sums = _cluster_sums(cluster, values, np.ones_like(values))
    if len(sums) < 2:
        return None
    p, variance = _ratio(sums)
    return variance / (p * (1 - p) / float(sums[:, 1].sum())) if 0 < p < 1 else None


def rate(success: ArrayLike, cluster: Sequence[str]) -> Rate:
    """The share of successes among trials, with the interval that its clustering allows.

    One trial per cluster: Wilson. Many clusters: the cluster bootstrap. Few clusters, or outcomes all equal: Wilson on
    an effective n, which is n / design effect corrected for the few degrees of freedom (Korn and Graubard 1998), and
    at least Kish's (Σm)²/Σm², which is right where trials of one cluster always agree.
    """
    values = np.asarray(success, dtype=np.float64)
    n, k = len(values), float(values.sum())
    if n == 0:
        return Rate(0, 0, 0, None, None, None, None)
    sizes = np.unique(np.asarray(cluster), return_counts=True)[1]
    clusters = len(sizes)
    deff = design_effect(values, cluster) if clusters < n else None
    if clusters == n:
        return Rate(k, n, clusters, k / n, wilson(k, n), "wilson", deff)
    if clusters >= MIN_CLUSTERS and 0 < k < n:
        interval = cluster_bootstrap(values, np.ones(n), cluster)
        return Rate(k, n, clusters, k / n, interval, "cluster bootstrap", deff)
    effective = _effective_n(n, sizes.astype(np.float64), deff)
    return Rate(k, n, clusters, k / n, wilson(k / n * effective, effective), "wilson on effective n", deff)


def _effective_n(n: int, sizes: Floats, deff: float | None) -> float:
    kish = n**2 / float((sizes**2).sum())
    if deff is None:
        return kish
    freedom = (float(stats.norm.ppf(1 - (1 - CONFIDENCE) / 2)) / student(CONFIDENCE, len(sizes))) ** 2
    return min(float(n), max(kish, n / max(deff, 1.0) * freedom))


def _proportion(k: float, n: float, method: str, confidence: float) -> Interval:
    if n == 0:
        return Interval(0.0, 1.0)
    low, high = proportion_confint(k, n, alpha=1 - confidence, method=method)
    return Interval(max(0.0, float(low)), min(1.0, float(high)))


def _cluster_sums(cluster: Sequence[str], *columns: ArrayLike) -> Floats:
    """[clusters, columns]: sums by cluster, clusters sorted by name so that the input's order does not matter."""
    names, index = np.unique(np.asarray(cluster, dtype=np.str_), return_inverse=True)
    arrays = [np.bincount(index, np.asarray(c, dtype=np.float64), minlength=len(names)) for c in columns]
    return np.stack(arrays, axis=1)


def _ratio(sums: Floats) -> tuple[float, float]:
    """Σ num / Σ den over two or more clusters, and its variance C/(C−1) · Σ_c (num_c − ratio · den_c)² / (Σ den)²."""
    clusters, n = len(sums), float(sums[:, 1].sum())
    value = float(sums[:, 0].sum()) / n
    residual = sums[:, 0] - value * sums[:, 1]
    return value, clusters / (clusters - 1) * float((residual**2).sum()) / n**2


def _resample(sums: Floats, resamples: int, seed: int) -> Floats:
    """[resamples, columns]: column sums over as many clusters as there are, drawn with replacement."""
    clusters = len(sums)
    if clusters == 0:
        return np.zeros((resamples, sums.shape[1]))
    generator = np.random.default_rng(seed)
    rows = max(1, _CHUNK // clusters)
    parts = [
        sums[generator.integers(0, clusters, (min(rows, resamples - start), clusters))].sum(axis=1)
        for start in range(0, resamples, rows)
    ]
    return np.concatenate(parts)


def _quantiles(values: Floats, confidence: float) -> Interval | None:
    if not len(values):
        return None
    low, high = np.quantile(values, [(1 - confidence) / 2, 1 - (1 - confidence) / 2])
    return Interval(float(low), float(high))
