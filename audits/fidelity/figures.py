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

import numpy as np

from audits.fidelity.records import Figure
from audits.metrics.numbers import Estimate, floats, smooth
from results.intervals import MIN_CLUSTERS, cluster_bootstrap, rate

BOOTSTRAP = "cluster bootstrap"


def mean(values: Sequence[float | None], clusters: Sequence[str]) -> Figure:
    """Mean of the values that exist."""
    return ratio([None if v is None else (v, 1.0) for v in values], clusters)


def ratio(pairs: Sequence[tuple[float, float] | None], clusters: Sequence[str]) -> Figure:
    """Σ first / Σ second over the pairs that exist; no value where Σ second is 0."""
    kept = [(pair, cluster) for pair, cluster in zip(pairs, clusters, strict=True) if pair is not None]
    by = [cluster for _, cluster in kept]
    top, bottom = floats([pair[0] for pair, _ in kept]), floats([pair[1] for pair, _ in kept])
    distinct, below = len(set(by)), float(bottom.sum())
    if not below:
        return Figure(value=None, n=len(kept), clusters=distinct)
    value = float(top.sum()) / below
    influence = (top - value * bottom) / below
    if distinct >= MIN_CLUSTERS and np.any(influence):
        found = cluster_bootstrap(top, bottom, by)
        low, high = (found.low, found.high) if found else (None, None)
        return Figure(value=value, low=low, high=high, n=len(kept), clusters=distinct, method=BOOTSTRAP)
    return from_estimate(smooth(value, influence, by))


def share(flags: Sequence[bool | None], clusters: Sequence[str]) -> Figure:
    """Share of true ones among those that exist."""
    kept = [(float(flag), cluster) for flag, cluster in zip(flags, clusters, strict=True) if flag is not None]
    found = rate([flag for flag, _ in kept], [cluster for _, cluster in kept])
    low, high = found.interval or (None, None)
    return Figure(value=found.value, low=low, high=high, n=found.n, clusters=found.clusters, method=found.method or "")


def difference(first: Sequence[float | None], second: Sequence[float | None], clusters: Sequence[str]) -> Figure:
    """mean(first − second) over pages where both exist: paired, so what makes a page hard for both cancels."""
    return mean([None if a is None or b is None else a - b for a, b in zip(first, second, strict=True)], clusters)


def from_estimate(found: Estimate) -> Figure:
    """An `audits.metrics` estimate as a figure."""
    low, high = found.interval or (None, None)
    return Figure(value=found.value, low=low, high=high, n=found.n, clusters=found.clusters, method=found.method)
