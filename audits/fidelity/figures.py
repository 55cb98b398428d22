"""Numbers over pages, each with n and an interval whose resampling unit is the template.

mean      of one value per page; pages without one are left out and not counted
ratio     Σ numerator / Σ denominator over pages: micro figures, skill, κ
share     of pages for which something holds: results.intervals.rate, good with few templates too
bootstrap any statistic of a set of pages (AUROC, calibration errors)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from audits.fidelity.records import Figure
from results.intervals import CONFIDENCE, SEED, cluster_bootstrap, paired_bootstrap, rate

BOOTSTRAP = "cluster bootstrap"
RESAMPLES = 1000
"""For statistics that have to be computed anew on each draw."""

Indices = NDArray[np.intp]


def mean(values: Sequence[float | None], clusters: Sequence[str]) -> Figure:
    """Mean of the values that exist."""
    return ratio([None if v is None else (v, 1.0) for v in values], clusters)


def ratio(pairs: Sequence[tuple[float, float] | None], clusters: Sequence[str]) -> Figure:
    """Σ first / Σ second over the pairs that exist; no value where Σ second is 0."""
    kept = [(pair, cluster) for pair, cluster in zip(pairs, clusters, strict=True) if pair is not None]
    names = [cluster for _, cluster in kept]
    top, bottom = [pair[0] for pair, _ in kept], [pair[1] for pair, _ in kept]
    n, distinct, below = len(kept), len(set(names)), sum(bottom)
    if not below:
        return Figure(value=None, n=n, clusters=distinct)
    interval = cluster_bootstrap(top, bottom, names) if distinct > 1 else None
    return _figure(sum(top) / below, interval, n, distinct)


def share(flags: Sequence[bool | None], clusters: Sequence[str]) -> Figure:
    """Share of true ones among those that exist."""
    kept = [(float(flag), cluster) for flag, cluster in zip(flags, clusters, strict=True) if flag is not None]
    found = rate([flag for flag, _ in kept], [cluster for _, cluster in kept])
    if found.interval is None:
        return Figure(value=found.value, n=found.n, clusters=found.clusters)
    return Figure(
        value=found.value, low=found.interval.low, high=found.interval.high,
        n=found.n, clusters=found.clusters, method=found.method or "",
    )  # fmt: skip


def difference(first: Sequence[float | None], second: Sequence[float | None], clusters: Sequence[str]) -> Figure:
    """mean(first − second) over pages where both exist: paired, so what makes a page hard for both cancels."""
    kept = [(a, b, c) for a, b, c in zip(first, second, clusters, strict=True) if a is not None and b is not None]
    if not kept:
        return Figure(value=None)
    ones, others, names = zip(*kept, strict=True)
    distinct = len(set(names))
    interval = paired_bootstrap(others, ones, names) if distinct > 1 else None
    return _figure(sum(a - b for a, b, _ in kept) / len(kept), interval, len(kept), distinct)


def bootstrap(statistic: Callable[[Indices], float | None], clusters: Sequence[str]) -> Figure:
    """`statistic` of all pages, and its percentiles over draws of whole clusters.

    `statistic` gets indices of pages, repeated as drawn; draws on which it is None (AUROC of one class) are left out.
    """
    n = len(clusters)
    if not n:
        return Figure(value=None)
    names, index = np.unique(np.asarray(clusters, dtype=np.str_), return_inverse=True)
    value = statistic(np.arange(n))
    if value is None or len(names) < 2:
        return Figure(value=value, n=n, clusters=len(names))
    members = [np.flatnonzero(index == k) for k in range(len(names))]
    generator = np.random.default_rng(SEED)
    draws = (generator.integers(0, len(names), len(names)) for _ in range(RESAMPLES))
    found = [x for draw in draws if (x := statistic(np.concatenate([members[k] for k in draw]))) is not None]
    if not found:
        return Figure(value=value, n=n, clusters=len(names))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(found, [tail, 1 - tail])
    return _figure(value, (float(low), float(high)), n, len(names))


def _figure(value: float, interval: tuple[float, float] | None, n: int, clusters: int) -> Figure:
    if interval is None:
        return Figure(value=value, n=n, clusters=clusters)
    return Figure(value=value, low=interval[0], high=interval[1], n=n, clusters=clusters, method=BOOTSTRAP)
