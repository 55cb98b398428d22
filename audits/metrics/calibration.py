"""M6: is the dream's own probability of success p̂ worth anything? Rows with a score and a real outcome.

    brier                 mean (p̂ − O)²                                 Brier 1950
    murphy                reliability − resolution + uncertainty          Murphy 1973; within-bin terms Stephenson et al. 2008
    calibration_error     ECE on equal-mass bins, debiased                Naeini et al. 2015; Kumar, Liang and Ma 2019
    reliability           one point per bin, with an interval
    (auroc, auprc: audits.metrics.discrimination; accepting by disagreement: audits.metrics.selective)

Bins hold equal numbers of rows; rows of one score are never split, so that nothing depends on the order of rows. The plain ECE
is above 0 even for a perfect forecaster (it sums absolute noise): read the debiased one beside the perfect forecaster's band.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from audits.metrics.numbers import Estimate, Floats, cluster_sums, floats, mean, proportion, undefined
from harness.types import Record
from results.intervals import CONFIDENCE, SEED, Interval

BINS = 10


class Bin(Record):
    """One point of a reliability diagram."""

    low: float
    high: float
    """Smallest and largest score in the bin."""
    mean_score: float
    observed: Estimate
    """Share of real successes, with its interval."""


class Murphy(Record):
    """Brier = reliability − resolution + uncertainty + within_bin, exactly."""

    reliability: float
    resolution: float
    uncertainty: float
    within_bin: float
    """Variance of scores within bins − 2 · covariance with outcomes: 0 where each bin holds one score."""


class CalibrationError(Record):
    """Expected calibration error on equal-mass bins, weighted by their rows."""

    ece: float
    """Σ (n_b/n) |p̄_b − ō_b|: biased upwards."""
    ece_debiased: float
    """2·ECE − E[ECE of the bin gaps with their noise once more], at least 0."""
    rms: Estimate
    """Root of Σ (n_b/n)(p̄_b − ō_b)², debiased by subtracting the gaps' sampling variance, with an interval."""
    perfect_mean: float
    perfect_q95: float
    """Mean and 95 % quantile of `ece` were every p̂ the true probability (Bröcker and Smith 2007), rows independent."""
    p_value: float
    """Share of such perfect forecasters with at least this ECE."""
    bins: int


class Calibration(Record):
    """M6 without selection."""

    n: int
    brier: Estimate
    brier_reference: float | None
    """Brier score of always saying the base rate; the skill is 1 − brier / this."""
    murphy: Murphy | None
    error: CalibrationError | None
    reliability: tuple[Bin, ...]


def calibration(score: ArrayLike, real: ArrayLike, cluster: Sequence[str], *, bins: int = BINS, seed: int = SEED) -> Calibration:
    """All of it. score: [n] in [0, 1]; real: [n] of 0 and 1; cluster: [n]."""
    p, y = floats(score), floats(real)
    if not len(p):
        return Calibration(n=0, brier=undefined(), brier_reference=None, murphy=None, error=None, reliability=())
    return Calibration(
        n=len(p),
        brier=mean((p - y) ** 2, cluster, low=0, high=1),
        brier_reference=float(y.mean() * (1 - y.mean())),
        murphy=murphy(p, y, bins=bins),
        error=calibration_error(p, y, cluster, bins=bins, seed=seed),
        reliability=reliability(p, y, cluster, bins=bins),
    )


def bin_codes(score: ArrayLike, bins: int = BINS) -> np.ndarray:
    """[n] → bin 0 … bins−1 of each row. Equal numbers of rows per bin, except that equal scores stay together."""
    p = floats(score)
    sizes = np.array([len(part) for part in np.array_split(np.arange(len(p)), bins)])
    slots = np.repeat(np.arange(bins), sizes)
    ordered = np.sort(p)
    middle = (np.searchsorted(ordered, p, "left") + np.searchsorted(ordered, p, "right") - 1) // 2
    return np.asarray(slots[middle], dtype=np.intp)


def murphy(score: ArrayLike, real: ArrayLike, *, bins: int = BINS) -> Murphy:
    """Murphy's (1973) decomposition over bins, with the two within-bin terms of Stephenson, Coelho and Jolliffe (2008)."""
    p, y = floats(score), floats(real)
    w, p_bar, o_bar = _bin_means(p, y, bins)
    base = float(y.mean())
    reliability_term = float((w * (p_bar - o_bar) ** 2).sum())
    resolution = float((w * (o_bar - base) ** 2).sum())
    uncertainty = base * (1 - base)
    brier = float(((p - y) ** 2).mean())
    return Murphy(
        reliability=reliability_term,
        resolution=resolution,
        uncertainty=uncertainty,
        within_bin=brier - (reliability_term - resolution + uncertainty),
    )


def reliability(score: ArrayLike, real: ArrayLike, cluster: Sequence[str], *, bins: int = BINS) -> tuple[Bin, ...]:
    """Points of the reliability diagram, by rising score; empty bins are left out."""
    p, y = floats(score), floats(real)
    codes = bin_codes(p, bins)
    points = []
    for b in np.unique(codes):
        inside = codes == b
        members = [c for c, keep in zip(cluster, inside, strict=True) if keep]
        points.append(
            Bin(
                low=float(p[inside].min()),
                high=float(p[inside].max()),
                mean_score=float(p[inside].mean()),
                observed=proportion(y[inside], members),
            )
        )
    return tuple(points)


def calibration_error(
    score: ArrayLike, real: ArrayLike, cluster: Sequence[str], *, bins: int = BINS, seed: int = SEED, simulations: int = 1000
) -> CalibrationError:
    """ECE three ways: plain, debiased, and debiased root mean square with an interval.

    The absolute ECE gets no interval: no known one covers near 0. The squared one does: a quadratic form of the bin gaps d with
    covariance Σ from clusters has E[dᵀWd] = δᵀWδ + tr(WΣ) and variance 4δᵀWΣWδ + 2tr(WΣWΣ) (cf. Sun et al. 2024); its first
    term is taken as 4·x·tr(WΣWΣ)/tr(WΣ) at the value x that is tried, since at the estimate it is too small where it errs low.
    """
    p, y = floats(score), floats(real)
    w, p_bar, o_bar = _bin_means(p, y, bins)
    gap = p_bar - o_bar
    ece = float((w * np.abs(gap)).sum())
    codes = np.searchsorted(np.unique(bin_codes(p, bins)), bin_codes(p, bins))
    covariance, clusters = _gap_covariance(p - y, codes, len(w), cluster)
    deviation = np.sqrt(np.diag(covariance))
    # mean of |N(d, σ)|: what the bin's absolute gap becomes when noise is added once more
    ratio = np.divide(gap, deviation, out=np.zeros_like(gap), where=deviation > 0)
    folded = deviation * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + gap * (1 - 2 * stats.norm.cdf(-ratio))
    noisy = float((w * np.where(deviation > 0, folded, np.abs(gap))).sum())
    perfect = _perfect(p, codes, w, simulations, seed)
    return CalibrationError(
        ece=ece,
        ece_debiased=max(0.0, 2 * ece - noisy),
        rms=_rms(gap, w, covariance, len(p), clusters),
        perfect_mean=float(perfect.mean()),
        perfect_q95=float(np.quantile(perfect, 0.95)),
        p_value=float((1 + (perfect >= ece - 1e-12).sum()) / (1 + simulations)),
        bins=len(w),
    )


def _bin_means(p: Floats, y: Floats, bins: int) -> tuple[Floats, Floats, Floats]:
    """Share of rows, mean score and mean outcome of each filled bin."""
    codes = bin_codes(p, bins)
    counts = np.bincount(codes, minlength=bins)
    filled = counts > 0
    size = counts[filled]
    return size / len(p), np.bincount(codes, p, bins)[filled] / size, np.bincount(codes, y, bins)[filled] / size


def _gap_covariance(residual: Floats, codes: np.ndarray, bins: int, cluster: Sequence[str]) -> tuple[Floats, int]:
    """[bins, bins]: covariance of the bins' mean residuals, robust to clustering."""
    one_hot = codes[:, None] == np.arange(bins)
    size = one_hot.sum(axis=0)
    means = residual @ one_hot / size
    # n_b/(n_b − 1): the mean of a bin takes one degree of freedom from it
    correct = np.sqrt(size / np.maximum(size - 1, 1))
    sums = cluster_sums(one_hot * (residual[:, None] - means) * correct / size, cluster)
    return floats(sums.T @ sums), len(sums)


def _rms(gap: Floats, w: Floats, covariance: Floats, n: int, clusters: int) -> Estimate:
    weighted = w[:, None] * covariance
    square = float((w * gap**2).sum() - np.trace(weighted))
    if clusters < 2:
        return undefined(n, clusters)
    noise = float(np.trace(weighted @ weighted))
    scale = noise / float(np.trace(weighted)) if noise > 0 else 0.0
    z2 = float(stats.norm.ppf(1 - (1 - CONFIDENCE) / 2)) ** 2
    # all x with (square − x)² ≤ z²(4·scale·x + 2·noise): the variance at the true value, as in Wilson's interval
    centre = square + 2 * z2 * scale
    reach = max(0.0, centre**2 - square**2 + 2 * z2 * noise) ** 0.5
    low, high = (max(0.0, x) ** 0.5 for x in (centre - reach, centre + reach))
    return Estimate(
        value=max(0.0, square) ** 0.5, interval=Interval(low, high), n=n, clusters=clusters, method="score interval on the square"
    )


def _perfect(p: Floats, codes: np.ndarray, w: Floats, simulations: int, seed: int) -> Floats:
    """[simulations]: ECE of outcomes drawn from the scores themselves."""
    order = np.lexsort((p,))
    p, codes = p[order], codes[order]
    drawn = np.random.default_rng(seed).random((simulations, len(p))) < p
    one_hot = (codes[:, None] == np.arange(len(w))).astype(np.float64)
    gaps = (p - drawn) @ one_hot / one_hot.sum(axis=0)
    return floats((w * np.abs(gaps)).sum(axis=1))
