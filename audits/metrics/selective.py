"""M6: trust only dreams of low disagreement. Rows are dreamed successes; `loss` = 1 where reality failed.

    accept u ≤ q      coverage = accepted / all,  risk = failures / accepted        El-Yaniv and Wiener 2010
    AURC              mean risk over the coverages that a threshold can reach       Geifman and El-Yaniv 2017
    E-AURC            AURC − AURC of the best possible order                        Geifman, Uziel and El-Yaniv 2019
    learn_threshold   the largest q with "risk ≤ 10 % at 95 %" guaranteed           Learn then Test, Angelopoulos et al. 2021

Rows of equal u are accepted together, so AURC does not depend on the order of rows.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from audits.metrics.numbers import Estimate, Floats, cluster_codes, floats, proportion, undefined
from harness.types import Record
from results.intervals import CONFIDENCE, RESAMPLES, SEED, Interval

MAX_RISK, DELTA = 0.10, 0.05
"""The guarantee that is asked for: risk at most 10 %, wrong with probability at most 5 %."""

POINTS = 10
GRID = 20
STARTS = 3


class CoveragePoint(Record):
    threshold: float
    coverage: float
    risk: Estimate


class Guarantee(Record):
    """Accept dreams with u ≤ `threshold`: P(their risk > max_risk) ≤ delta over the draw of the calibration rows."""

    max_risk: float
    delta: float
    threshold: float | None
    """None: no threshold can be guaranteed with these rows. Accept nothing, or replay more."""
    coverage: float | None
    """Share of calibration rows accepted."""
    n: int
    """Rows that the guarantee rests on: one per cluster, drawn by a fixed rule, since it needs independence."""
    accepted: int
    failures: int


class RiskCoverage(Record):
    """Selective risk under one disagreement score."""

    score: str
    n: int
    aurc: Estimate
    aurc_best: float | None
    """AURC if every success had lower u than every failure."""
    e_aurc: float | None
    risk: float | None
    """Risk at full coverage: what AURC is under an uninformative score."""
    points: tuple[CoveragePoint, ...]
    guarantee: Guarantee


def risk_coverage(
    name: str, u: ArrayLike, loss: ArrayLike, cluster: Sequence[str], keys: Sequence[str], *,
    max_risk: float = MAX_RISK, delta: float = DELTA,
) -> RiskCoverage:  # fmt: skip
    """Risk against coverage for the score `u` [n] (larger = less trusted), `loss` [n] of 0 and 1; `keys` name the rows."""
    scores, losses = floats(u), floats(loss)
    n = len(scores)
    guarantee = learn_threshold(scores, losses, cluster, keys, max_risk=max_risk, delta=delta)
    if not n:
        return RiskCoverage(
            score=name, n=0, aurc=undefined(), aurc_best=None, e_aurc=None, risk=None, points=(), guarantee=guarantee
        )
    area, best = aurc(scores, losses), best_aurc(n, int(losses.sum()))
    return RiskCoverage(
        score=name,
        n=n,
        aurc=_with_band(area, scores, losses, cluster),
        aurc_best=best,
        e_aurc=area - best,
        risk=float(losses.mean()),
        points=_points(scores, losses, cluster),
        guarantee=guarantee,
    )


def aurc(u: ArrayLike, loss: ArrayLike) -> float:
    """Mean over rows i of the risk among rows with u ≤ u_i."""
    scores, losses = floats(u), floats(loss)
    order = np.argsort(scores, kind="stable")
    ends = np.searchsorted(scores[order], scores[order], "right")
    failures = np.cumsum(losses[order])
    return float((failures[ends - 1] / ends).mean())


def best_aurc(n: int, failures: int) -> float:
    """AURC of `n` rows of which all `failures` are ranked last: the floor of any score without ties."""
    accepted = np.arange(1, n + 1)
    return float((np.maximum(0, accepted - (n - failures)) / accepted).mean())


def _with_band(area: float, u: Floats, loss: Floats, cluster: Sequence[str]) -> Estimate:
    """Percentile cluster bootstrap of AURC (simulated coverage .945 at 60 rows, .95 at 200, for a nominal .95)."""
    count, codes = cluster_codes(cluster)
    if count < 2 or not 0 < loss.sum() < len(loss):
        return Estimate(value=area, interval=None, n=len(u), clusters=count, method="")
    order = np.lexsort((loss, u))
    u, loss, codes = u[order], loss[order], codes[order]
    ends = np.searchsorted(u, u, "right") - 1
    generator = np.random.default_rng(SEED)
    areas = []
    chunk = max(1, 2_000_000 // len(u))
    for start in range(0, RESAMPLES // 2, chunk):
        size = min(chunk, RESAMPLES // 2 - start)
        weight = generator.multinomial(count, np.full(count, 1 / count), size)[:, codes].astype(np.float64)
        accepted, failed = np.cumsum(weight, axis=1)[:, ends], np.cumsum(weight * loss, axis=1)[:, ends]
        risk = np.divide(failed, accepted, out=np.zeros_like(failed), where=accepted > 0)
        areas.append((weight * risk).sum(axis=1) / weight.sum(axis=1))
    drawn = np.concatenate(areas)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Estimate(value=area, interval=Interval(float(low), float(high)), n=len(u), clusters=count, method="cluster bootstrap")


def _points(u: Floats, loss: Floats, cluster: Sequence[str]) -> tuple[CoveragePoint, ...]:
    thresholds = np.unique(np.quantile(u, np.arange(1, POINTS + 1) / POINTS, method="higher"))
    points = []
    for q in thresholds:
        inside = u <= q
        members = [c for c, keep in zip(cluster, inside, strict=True) if keep]
        points.append(CoveragePoint(threshold=float(q), coverage=float(inside.mean()), risk=proportion(loss[inside], members)))
    return tuple(points)


def learn_threshold(
    u: ArrayLike, loss: ArrayLike, cluster: Sequence[str], keys: Sequence[str], *,
    max_risk: float = MAX_RISK, delta: float = DELTA,
) -> Guarantee:  # fmt: skip
    """Learn then Test (Angelopoulos, Bates, Candès, Jordan and Lei 2021): a threshold with a finite-sample guarantee.

    One row per cluster (the smallest hash of its key: random, and the same in every run), because the exact binomial p-values
    of H_q "risk of u ≤ q is above max_risk" need independence; the risk is then that of a random dream of a random cluster.
    H_q are tested along 20 coverages chosen from u alone, upwards from 3 starting points (fixed sequence testing, δ/3 each)
    until the first that is not rejected.
    """
    scores, losses = floats(u), floats(loss)
    chosen = one_per_cluster(cluster, keys)
    scores, losses = scores[chosen], losses[chosen]
    n = len(chosen)
    nothing = Guarantee(
        max_risk=max_risk, delta=delta, threshold=None, coverage=None, n=n, accepted=0, failures=0
    )  # fmt: skip
    # with fewer accepted rows than this not even zero failures would reject
    least = math.ceil(math.log(delta / STARTS) / math.log(1 - max_risk))
    if n < least:
        return nothing
    sizes = np.unique(np.linspace(least, n, GRID).round().astype(int))
    thresholds = np.unique(np.sort(scores)[sizes - 1])
    accepted = np.searchsorted(np.sort(scores), thresholds, "right")
    failures = np.array([int(losses[scores <= q].sum()) for q in thresholds])
    rejected = stats.binom.cdf(failures, accepted, max_risk) <= delta / STARTS
    best = -1
    for start in np.linspace(0, len(thresholds), STARTS, endpoint=False).astype(int):
        stop = start
        while stop < len(thresholds) and rejected[stop]:
            stop += 1
        if stop > start:
            best = max(best, stop - 1)
    if best < 0:
        return nothing
    return Guarantee(
        max_risk=max_risk,
        delta=delta,
        threshold=float(thresholds[best]),
        coverage=float(accepted[best] / n),
        n=n,
        accepted=int(accepted[best]),
        failures=int(failures[best]),
    )


def one_per_cluster(cluster: Sequence[str], keys: Sequence[str]) -> np.ndarray:
    """Indices of one row per cluster: the one whose key has the smallest SHA-256, in order of clusters."""
    best: dict[str, tuple[str, int]] = {}
    for i, (name, key) in enumerate(zip(cluster, keys, strict=True)):
        entry = (hashlib.sha256(key.encode()).hexdigest(), i)
        if name not in best or entry < best[name]:
            best[name] = entry
    return np.array([best[name][1] for name in sorted(best)], dtype=np.intp)
