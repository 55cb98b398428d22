"""M9: real success at lower cost. What a simulated result is worth in real rollouts, and the estimate that uses both.

    f, y    simulated and real outcome of the n rows that were replayed         F   simulated outcome of N more that were not
    θ̂ = λ·mean(F) + mean(y − λ·f)         unbiased for mean(y) whatever the simulator's bias
    λ  minimises the variance             PPI: Angelopoulos et al. 2023a; PPI++: Angelopoulos, Duchi and Zrnic 2023b
    ρ²/(1 + n/N) of the real rollouts are saved; as N grows, ρ²: the *simulator's worth*

ppi-python has the estimator for independent rows only and installs a compiler; dreams of one template depend on each other. So:
the same formulas on cluster sums. Tested against the oracle's and by coverage.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from audits.metrics.numbers import Estimate, Floats, cluster_sums, correlation, floats, smooth, undefined
from audits.records import AuditRow
from harness.types import Record
from results.intervals import CONFIDENCE, Interval, student, wilson

MIN_ROWS = 2


class Worth(Record):
    """M9."""

    real_only: Estimate
    """mean(y): the same question answered without the simulator."""
    ppi: Estimate
    """θ̂ with Student's t over clusters. n = rows with a real outcome."""
    simulated_only: float | None
    """mean of all simulated outcomes: biased by whatever the simulator gets wrong."""
    lam: float | None
    """λ in [0, 1]; 0 means that the simulator says nothing about reality here."""
    rho: Estimate
    """Pearson's correlation of simulated and real outcomes over the n rows, interval on Fisher's z."""
    rho2: Interval | None
    """Interval of the worth ρ²."""
    saved: float | None
    """Estimated share of real rollouts saved with this N: ρ²/(1 + n/N)."""
    unlabelled: int
    """N."""


def worth(audited: Sequence[AuditRow], simulated_only: Sequence[AuditRow] = (), *, use_score: bool = True) -> Worth:
    """M9 for policy success E[O] on the dreams' tasks. Rows of `audited` without a real outcome leave their outcome unused.

    `use_score`: f = p̂ where every row has one (it carries more), else R̂. Sampling weights are not used: replay a simple random
    sample of the dreams for this number.
    """
    rows = sorted(audited, key=lambda r: (r.dream, r.arm))
    known = [r for r in rows if r.real is not None]
    more = sorted([*[r for r in rows if r.real is None], *simulated_only], key=lambda r: (r.dream, r.arm))
    scored = use_score and all(r.score is not None for r in [*known, *more])

    def f(row: AuditRow) -> float:
        return float(row.score or 0.0) if scored else float(row.dreamed)

    return ppi_mean(
        [float(bool(r.real)) for r in known], [f(r) for r in known], [r.cluster for r in known], [f(r) for r in more],
        [r.cluster for r in more],
    )  # fmt: skip


def ppi_mean(
    real: ArrayLike, simulated: ArrayLike, cluster: Sequence[str], more: ArrayLike, more_cluster: Sequence[str]
) -> Worth:
    """real, simulated, cluster: [n]; more, more_cluster: [N]. Clusters may occur on both sides."""
    y, f, unlabelled = floats(real), floats(simulated), floats(more)
    n, big = len(y), len(unlabelled)
    if n < MIN_ROWS:
        none = undefined(n)
        return Worth(real_only=none, ppi=none, simulated_only=None, lam=None, rho=none, rho2=None, saved=None, unlabelled=big)
    real_only = smooth(float(y.mean()), (y - y.mean()) / n, cluster, low=0, high=1)
    every = np.concatenate([f, unlabelled])
    lam = _lambda(y, f, unlabelled, cluster, more_cluster) if big else 0.0
    value = float(y.mean() - lam * (f.mean() - unlabelled.mean())) if big else float(y.mean())
    rho = correlation(f, y, cluster)
    return Worth(
        real_only=real_only,
        ppi=_ppi_interval(value, lam, y, f, unlabelled, cluster, more_cluster),
        simulated_only=float(every.mean()),
        lam=lam,
        rho=rho,
        rho2=_square(rho.interval),
        saved=None if rho.value is None or not big else rho.value**2 / (1 + n / big),
        unlabelled=big,
    )


def _influences(
    lam: float, y: Floats, f: Floats, more: Floats, cluster: Sequence[str], more_cluster: Sequence[str]
) -> tuple[Floats, list[str]]:
    labelled = (y - lam * f - (y - lam * f).mean()) / len(y)
    unlabelled = lam * (more - more.mean()) / len(more) if len(more) else more
    return np.concatenate([labelled, unlabelled]), [*cluster, *more_cluster]


def _lambda(y: Floats, f: Floats, more: Floats, cluster: Sequence[str], more_cluster: Sequence[str]) -> float:
    """Minimiser of the estimate's cluster-robust variance, quadratic in λ, cut to [0, 1]. One row per cluster: PPI++'s λ̂."""
    base, names = _influences(0.0, y, f, more, cluster, more_cluster)
    whole, _ = _influences(1.0, y, f, more, cluster, more_cluster)
    a, b = cluster_sums(base, names), cluster_sums(whole - base, names)
    spread = float(b @ b)
    return float(np.clip(-float(a @ b) / spread, 0, 1)) if spread > 0 else 0.0


def _ppi_interval(
    value: float, lam: float, y: Floats, f: Floats, more: Floats, cluster: Sequence[str], more_cluster: Sequence[str]
) -> Estimate:
    """Degrees of freedom from the labelled clusters: they are the fewer, and carry most of the variance."""
    influence, names = _influences(lam, y, f, more, cluster, more_cluster)
    labelled = len(set(cluster))
    if labelled < 3:
        return undefined(len(y), labelled).model_copy(update={"value": value})
    sums = cluster_sums(influence, names)
    variance = labelled / (labelled - 2) * float((sums**2).sum())
    if variance <= 0:
        return undefined(len(y), labelled).model_copy(update={"value": value})
    p = min(max(value, 0.5 / labelled), 1 - 0.5 / labelled)
    freedom = (float(stats.norm.ppf(1 - (1 - CONFIDENCE) / 2)) / student(CONFIDENCE, labelled - 1)) ** 2
    n_effective = p * (1 - p) / variance * freedom
    interval = wilson(p * n_effective, n_effective)
    return Estimate(value=value, interval=interval, n=len(y), clusters=labelled, method="PPI++, Wilson on effective n")


def _square(interval: Interval | None) -> Interval | None:
    """Image of an interval under squaring."""
    if interval is None:
        return None
    ends = sorted(abs(x) for x in interval)
    return Interval(0.0 if interval.low < 0 < interval.high else ends[0] ** 2, ends[1] ** 2)
