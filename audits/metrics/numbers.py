"""How every metric here states a number: a value, an interval, the denominator, and how the interval was made.

    Estimate                 what is stored and shown
    proportion               a share of rows, weighted or not            → results.intervals.rate, or its weighted twin
    mean                     a mean of bounded numbers                   → Student's t over clusters
    smooth                   any smooth statistic, from its influences   → Student's t over clusters
    correlation              of two numbers per row                      → the same, on Fisher's z scale
    share_from_influences    a probability that is not a plain share     → Wilson on an effective n

An *influence* is the derivative of a statistic by a row's weight, times that weight (the infinitesimal jackknife, Jaeckel
1972; Efron 1982). Summed by cluster and squared it estimates the variance, however rows depend within a cluster. This needs
no random numbers; few clusters are paid for with Student's t (C−1 degrees of freedom).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from harness.types import Record
from results.intervals import CONFIDENCE, MIN_CLUSTERS, Interval, cluster_bootstrap, rate, student, wilson

Floats = NDArray[np.float64]

T_METHOD = "Student's t over clusters"


class Estimate(Record):
    """A number with what it rests on. `value` and `interval` are None where they are undefined, never 0."""

    value: float | None
    interval: Interval | None
    n: int
    """Rows in the denominator."""
    clusters: int
    method: str
    """How the interval was made; empty without one."""
    k: float | None = None
    """Rows in the numerator, where the number is a share of rows (unweighted)."""


def undefined(n: int = 0, clusters: int = 0) -> Estimate:
    """No number: its denominator is empty, or too small for the statistic."""
    return Estimate(value=None, interval=None, n=n, clusters=clusters, method="")


def floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)


def cluster_codes(cluster: Sequence[str]) -> tuple[int, NDArray[np.intp]]:
    """Number of clusters, and each row's cluster as 0 … C−1 in sorted order of names."""
    names, codes = np.unique(np.asarray(cluster, dtype=np.str_), return_inverse=True)
    return len(names), codes.astype(np.intp)


def cluster_sums(values: Floats, cluster: Sequence[str]) -> Floats:
    """[n] → [C], or [n, t] → [C, t]: sums over the rows of each cluster, clusters in sorted order."""
    count, codes = cluster_codes(cluster)
    sums = np.zeros((count, *values.shape[1:]))
    np.add.at(sums, codes, values)
    return sums


def cluster_variance(influence: Floats, cluster: Sequence[str]) -> Floats:
    """Variance from influences [n] or [n, t] → scalar array or [t]: C/(C−1) · Σ_c (Σ_{i∈c} IF_i)². NaN for one cluster."""
    sums = cluster_sums(influence, cluster)
    count = len(sums)
    if count < 2:
        return np.full(sums.shape[1:], np.nan)
    return floats(count / (count - 1) * (sums**2).sum(axis=0))


def smooth(
    value: float, influence: ArrayLike, cluster: Sequence[str], *, low: float = -np.inf, high: float = np.inf,
    confidence: float = CONFIDENCE,
) -> Estimate:  # fmt: skip
    """`value` ± t · SE from its influences, cut to [low, high]. No interval for fewer than two clusters or no spread."""
    values = floats(influence)
    clusters = cluster_codes(cluster)[0]
    variance = float(cluster_variance(values, cluster)) if clusters > 1 else 0.0
    interval = None
    if variance > 0:
        half = student(confidence, clusters) * variance**0.5
        interval = Interval(max(low, value - half), min(high, value + half))
    method = T_METHOD if interval else ""
    return Estimate(value=value, interval=interval, n=len(values), clusters=clusters, method=method)


def mean(
    values: ArrayLike, cluster: Sequence[str], weights: ArrayLike | None = None, *, low: float = -np.inf, high: float = np.inf
) -> Estimate:
    """Weighted mean (Hájek 1971: Σwy / Σw) with a cluster-robust t interval. `values` must be finite."""
    y = floats(values)
    if not len(y):
        return undefined()
    w = np.ones_like(y) if weights is None else floats(weights)
    value = float((w * y).sum() / w.sum())
    return smooth(value, w * (y - value) / w.sum(), cluster, low=low, high=high)


def proportion(flags: ArrayLike, cluster: Sequence[str], weights: ArrayLike | None = None) -> Estimate:
    """Share of rows with the flag. Unequal weights make it Σwy / Σw (Horvitz and Thompson 1952, Hájek 1971).

    One row per cluster, unweighted: Wilson (1927). From 30 clusters and `MIN_EACH` rows of either kind on: the task-cluster
    bootstrap of the ratio of sums. Else Wilson on an effective n. Unweighted is `results.intervals.rate`, except for rare flags.
    """
    y = floats(flags)
    n, k = len(y), float(np.sum(y))
    if not n:
        return undefined()
    w = np.ones_like(y) if weights is None else floats(weights)
    clusters = cluster_codes(cluster)[0]
    common = clusters >= MIN_CLUSTERS and min(k, n - k) >= MIN_EACH
    if np.ptp(w) == 0 and (common or clusters == n or clusters < MIN_CLUSTERS):
        found = rate(y, cluster)
        return Estimate(value=found.value, interval=found.interval, n=n, clusters=clusters, method=found.method or "", k=k)
    value = float((w * y).sum() / w.sum())
    if common:
        interval = cluster_bootstrap(w * y, w, cluster)
        return Estimate(value=value, interval=interval, n=n, clusters=clusters, method="weighted cluster bootstrap", k=k)
    return share_from_influences(value, w * (y - value) / w.sum(), cluster, w).model_copy(update={"k": k})


MIN_EACH = 15
"""Rows of either kind that the bootstrap needs: with fewer, a few rows or one heavy one decide, and it covers too little."""


def share_from_influences(
    value: float, influence: Floats, cluster: Sequence[str], weights: Floats, *, confidence: float = CONFIDENCE
) -> Estimate:
    """A probability with Wilson's interval on an effective n, as Rothman (1978) does for survival.

    n' = p(1−p) / variance, shrunk for few clusters (Korn and Graubard 1998), at least Kish's n of clusters that agree within,
    at most the number of rows. `weights` are those of the rows at risk: they give n' where p is 0 or 1 and no variance exists.
    """
    clusters = cluster_codes(cluster)[0]
    if not clusters:
        return undefined()
    n_effective = effective_n(value, influence, cluster, weights, confidence=confidence)
    interval = wilson(value * n_effective, n_effective, confidence)
    return Estimate(value=value, interval=interval, n=len(weights), clusters=clusters, method="Wilson on effective n")


def effective_n(
    value: float, influence: Floats, cluster: Sequence[str], weights: Floats, *, confidence: float = CONFIDENCE
) -> float:
    """Independent rows that would give the same variance; see `share_from_influences`."""
    sums = cluster_sums(weights, cluster)
    clusters = len(sums)
    kish = float(sums.sum() ** 2 / (sums**2).sum())
    if clusters < 2 or not 0 < value < 1:
        return kish
    variance = float(cluster_variance(influence, cluster))
    if variance <= 0:
        return kish
    freedom = (float(stats.norm.ppf(1 - (1 - confidence) / 2)) / student(confidence, clusters)) ** 2
    return min(float(len(weights)), max(kish, value * (1 - value) / variance * freedom))


def correlation(x: ArrayLike, y: ArrayLike, cluster: Sequence[str], weights: ArrayLike | None = None) -> Estimate:
    """Pearson's (weighted) correlation with a cluster-robust interval on Fisher's (1915) z scale.

    Undefined where a side is constant; without an interval at ±1, where z is infinite. For two binary variables it is
    Matthews' correlation coefficient, and near ±1 with few rows the interval is too narrow.
    """
    a, b = floats(x), floats(y)
    clusters = len(set(cluster))
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return undefined(len(a), clusters)
    w = np.ones_like(a) if weights is None else floats(weights)
    w = w / w.sum()
    za, zb = (v - (w * v).sum() for v in (a, b))
    za, zb = (v / np.sqrt((w * v**2).sum()) for v in (za, zb))
    value = float(np.clip((w * za * zb).sum(), -1, 1))
    if abs(value) > 1 - 1e-12:
        return undefined(len(a), clusters).model_copy(update={"value": value})
    influence = w * (za * zb - value * (za**2 + zb**2) / 2) / (1 - value**2)
    made = smooth(float(np.arctanh(value)), influence, cluster)
    interval = Interval(float(np.tanh(made.interval.low)), float(np.tanh(made.interval.high))) if made.interval else None
    return made.model_copy(update={"value": value, "interval": interval})
