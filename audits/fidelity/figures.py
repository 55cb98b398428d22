"""Numbers over pages, each with n and a 95 % interval whose unit is the template: pages of one template are not independent.

    mean        of one value per page; pages without one are left out and not counted
    ratio       Σ numerator / Σ denominator over pages: micro figures, skill, κ
    share       of pages for which something holds                        results.intervals.rate
    difference  mean of paired differences

From 30 templates on: percentile bootstrap over templates. Below: Student's t over templates (audits.metrics.numbers.smooth),
since few resampled clusters cover clearly less than they say. No interval below two templates, or where nothing varies.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from audits.fidelity.records import Figure
from audits.metrics.numbers import Estimate, floats, smooth
from results.intervals import MIN_CLUSTERS, cluster_bootstrap, rate

BOOTSTRAP = "cluster bootstrap"


def mean(values: Sequence[float | None], clusters: Sequence[str], *, low: float = 0.0, high: float = inf) -> Figure:
    """Mean of the values that exist, which lie in [low, high]."""
    return ratio([None if v is None else (v, 1.0) for v in values], clusters, low=low, high=high)


def ratio(pairs: Sequence[tuple[float, float] | None], clusters: Sequence[str], *, low: float = 0.0, high: float = inf) -> Figure:
    """Σ first / Σ second over the pairs that exist, in [low, high]; no value where Σ second is 0."""
    kept = [(pair, cluster) for pair, cluster in zip(pairs, clusters, strict=True) if pair is not None]
    by = [cluster for _, cluster in kept]
    top, bottom = floats([pair[0] for pair, _ in kept]), floats([pair[1] for pair, _ in kept])
    distinct, total = len(set(by)), float(bottom.sum())
    if not total:
        return Figure(value=None, n=len(kept), clusters=distinct)
    value = float(top.sum()) / total
    influence = (top - value * bottom) / total
    if distinct >= MIN_CLUSTERS and np.any(influence):
        found = cluster_bootstrap(top, bottom, by)
        lower, upper = found or (None, None)
        return Figure(value=value, low=lower, high=upper, n=len(kept), clusters=distinct, method=BOOTSTRAP)
    return from_estimate(smooth(value, influence, by, low=low, high=high))


def share(flags: Sequence[bool | None], clusters: Sequence[str]) -> Figure:
    """Share of true ones among those that exist."""
    kept = [(float(flag), cluster) for flag, cluster in zip(flags, clusters, strict=True) if flag is not None]
    found = rate([flag for flag, _ in kept], [cluster for _, cluster in kept])
    low, high = found.interval or (None, None)
    return Figure(value=found.value, low=low, high=high, n=found.n, clusters=found.clusters, method=found.method or "")


def difference(first: Sequence[float | None], second: Sequence[float | None], clusters: Sequence[str]) -> Figure:
    """mean(first − second) over pages where both exist: paired, so what makes a page hard for both cancels."""
    gaps = [None if a is None or b is None else a - b for a, b in zip(first, second, strict=True)]
    return mean(gaps, clusters, low=-inf)


def from_estimate(found: Estimate) -> Figure:
    """An `audits.metrics` estimate as a figure."""
    low, high = found.interval or (None, None)
    return Figure(value=found.value, low=low, high=high, n=found.n, clusters=found.clusters, method=found.method)
