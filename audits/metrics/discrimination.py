"""M6: does p̂ order real successes above real failures?

    auroc   P(score of a success > score of a failure) + ½ P(equal)       DeLong, DeLong and Clarke-Pearson 1988
    auprc   average precision: its floor is the base rate, not ½          Boyd, Eng and Page 2013

Both undefined without a success or without a failure. scikit-learn comes with the [audit] extra and is imported when asked
for: stored summaries are read without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from audits.metrics.numbers import Estimate, Floats, cluster_sums, floats, undefined
from results.intervals import CONFIDENCE, Interval, student, wilson


def auroc(score: ArrayLike, real: ArrayLike, cluster: Sequence[str]) -> Estimate:
    """Area under the ROC curve. score, real (0 or 1), cluster: [n].

    DeLong's variance from placement values, summed by cluster (Obuchowski 1997), on the logit scale with Student's t of
    the rarer class: on the plain scale it covers too little near 1. At 0 or 1 the variance is 0; then Wilson on that class.
    """
    s, y = floats(score), floats(real)
    positive = y == 1
    m, n = int(positive.sum()), int((~positive).sum())
    if not m or not n:
        return undefined(len(y), len(set(cluster)))
    value = float(_sklearn().roc_auc_score(y, s))
    if not 0 < value < 1:
        return Estimate(
            value=value, interval=wilson(value * min(m, n), min(m, n)), n=len(y), clusters=len(set(cluster)),
            method="Wilson on the smaller class",
        )  # fmt: skip
    influence = _placement_influence(s, positive, value)
    variance, clusters = _obuchowski(influence, positive, cluster)
    made = _logit(value, variance, len(y), clusters, "DeLong by cluster, logit")
    return made.model_copy(update={"clusters": len(set(cluster))})


def auprc(score: ArrayLike, real: ArrayLike, cluster: Sequence[str]) -> Estimate:
    """Average precision (sklearn) with the logit interval of Boyd, Eng and Page (2013), n = successes, shrunk for clustering.

    The interval is conservative: its variance is that of a share of successes (simulated coverage .95 to .98 at a nominal .95).
    """
    s, y = floats(score), floats(real)
    clusters = len(set(cluster))
    if not 0 < y.sum() < len(y):
        return undefined(len(y), clusters)
    value = float(_sklearn().average_precision_score(y, s))
    per_cluster = cluster_sums(y, cluster)
    successes = float(per_cluster.sum() ** 2 / (per_cluster**2).sum())
    if value >= 1:
        return Estimate(
            value=value, interval=wilson(successes, successes), n=len(y), clusters=clusters, method="Wilson on successes"
        )
    return _logit(value, value * (1 - value) / successes, len(y), clusters, "logit")


def _placement_influence(s: Floats, positive: np.ndarray, value: float) -> Floats:
    """Placement value of each row in the other class, centred."""
    ranks = stats.rankdata(s)
    within = np.empty_like(s)
    within[positive], within[~positive] = stats.rankdata(s[positive]), stats.rankdata(s[~positive])
    m, n = positive.sum(), (~positive).sum()
    placed = np.where(positive, (ranks - within) / n, 1 - (ranks - within) / m)
    return floats(placed - value)


def _obuchowski(centred: Floats, positive: np.ndarray, cluster: Sequence[str]) -> tuple[float, int]:
    """Variance of the AUC for clustered data (DeLong's where each row is its own cluster), and clusters of the rarer class."""
    m, n = positive.sum(), (~positive).sum()
    columns = np.stack([centred * positive, centred * ~positive, positive, ~positive], axis=1)
    sums = cluster_sums(columns, cluster)
    with_1, with_0, clusters = int((sums[:, 2] > 0).sum()), int((sums[:, 3] > 0).sum()), len(sums)
    if min(with_1, with_0) < 2:
        return float("nan"), min(with_1, with_0)
    s10 = with_1 / ((with_1 - 1) * m) * (sums[:, 0] ** 2).sum()
    s01 = with_0 / ((with_0 - 1) * n) * (sums[:, 1] ** 2).sum()
    s11 = clusters / (clusters - 1) * (sums[:, 0] * sums[:, 1]).sum()
    return float(s10 / m + s01 / n + 2 * s11 / (m * n)), min(with_1, with_0)


def _logit(value: float, variance: float, n: int, clusters: int, method: str) -> Estimate:
    if not variance > 0 or clusters < 2:
        return undefined(n, clusters).model_copy(update={"value": value})
    half = student(CONFIDENCE, clusters) * variance**0.5 / (value * (1 - value))
    centre = np.log(value / (1 - value))
    low, high = (float(1 / (1 + np.exp(-(centre + sign * half)))) for sign in (-1, 1))
    return Estimate(value=value, interval=Interval(low, high), n=n, clusters=clusters, method=method)


def _sklearn() -> Any:
    from sklearn import metrics  # type: ignore[import-untyped]

    return metrics
