"""Cuts of one rate: by site, task type, length, divergence, checkpoints. Small strata are pooled partially, and say so.

    cut(rows, "site")  →  one StratumRate per site: raw rate with n, pooled rate, p-value against all others, adjusted p-values

Cutting twenty ways finds something in pure noise: p-values are adjusted within a cut by Holm (1979; any wrong claim) and by
Benjamini and Hochberg (1995; the share of wrong claims). Strata of a cut on the divergence page are chosen by the outcome's own
cause: they describe, and are not compared with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np
from scipy import stats
from scipy.special import betainc, betaln

from audits.metrics.numbers import Estimate, floats, proportion
from audits.records import AuditRow
from harness.types import Record
from results.intervals import CONFIDENCE, Interval, clopper_pearson, design_effect

Cut = Literal["site", "task_type", "length", "divergence", "world_model", "policy"]
CUTS: tuple[Cut, ...] = get_args(Cut)

LENGTH_BINS = ((1, 2), (3, 4), (5, 6), (7, 10), (11, 15), (16, 10**6))
"""Dream lengths shown together, both ends included."""

SMALL = 10
"""Strata with fewer conclusive rows show n and intervals, and are in no test."""

NONE = "(none)"


class StratumRate(Record):
    """A failure rate among dreamed successes of one stratum."""

    stratum: str
    rate: Estimate
    exact: Interval
    """Clopper and Pearson (1934) on rows."""
    inconclusive: int
    pooled: Estimate | None
    """Posterior mean and equal-tailed interval of the beta-binomial model; None for fewer than three strata with rows."""
    p_value: float | None
    """This stratum against all others (Rao and Scott 1981); None where it is not tested."""
    p_holm: float | None
    p_bh: float | None


class CutTable(Record):
    """One cut. `fitted` says in words what `pooled` is."""

    cut: Cut
    strata: tuple[StratumRate, ...]
    fitted: str


FITTED = (
    "k_s ~ Binomial(n_s, p_s), p_s ~ Beta(m·c, (1−m)·c), m uniform on (0, 1), density of c proportional to 1/(1+c)²; m and c are "
    "integrated over a grid; k_s and n_s are divided by the table's design effect where it is above 1; weights are not used"
)


def stratum_of(cut: Cut, row: AuditRow) -> str:
    """Name of the row's stratum; `(none)` where the row does not say."""
    if cut == "length":
        return next((f"{a}–{b}" if b < 10**6 else f"≥ {a}" for a, b in LENGTH_BINS if a <= row.length <= b), "0")
    if cut == "divergence":
        return NONE if row.divergence is None else str(row.divergence)
    return str(getattr(row, cut)) or NONE


def order_of(cut: Cut) -> Callable[[str], tuple[float, str]]:
    """Sort key of stratum names: numbers by their value, names by name."""

    def key(name: str) -> tuple[float, str]:
        digits = name.removeprefix("≥ ").split("–")[0]
        return (float(digits) if cut in ("length", "divergence") and digits.isdigit() else np.inf, name)

    return key


def cut(rows: Sequence[AuditRow], by: Cut) -> CutTable:
    """SSRF by stratum: dreamed successes of `rows`, failures over conclusive rows."""
    dreamed = [r for r in rows if r.dreamed]
    names = sorted({stratum_of(by, r) for r in dreamed}, key=order_of(by))
    members = {name: [r for r in dreamed if stratum_of(by, r) == name] for name in names}
    known = {name: [r for r in members[name] if r.real is not None] for name in names}
    estimates = {name: _rate(known[name]) for name in names}
    deff = _design_effect([r for name in names for r in known[name]])
    filled = [name for name in names if known[name]]
    pooled: dict[str, Estimate] = {}
    if len(filled) >= 3:
        posterior = partial_pooling([estimates[n].k or 0 for n in filled], [estimates[n].n for n in filled], deff)
        pooled = dict(zip(filled, posterior, strict=True))
    p_values = {} if by == "divergence" else {n: p for n in names if (p := _against_others(n, known, deff)) is not None}
    holm, bh = adjusted(p_values)
    strata = tuple(
        StratumRate(
            stratum=name,
            rate=estimates[name],
            exact=clopper_pearson(int(estimates[name].k or 0), estimates[name].n),
            inconclusive=len(members[name]) - len(known[name]),
            pooled=pooled.get(name),
            p_value=p_values.get(name),
            p_holm=holm.get(name),
            p_bh=bh.get(name),
        )
        for name in names
    )
    return CutTable(cut=by, strata=strata, fitted=FITTED if pooled else "")


def _rate(rows: Sequence[AuditRow]) -> Estimate:
    return proportion([r.real is False for r in rows], [r.cluster for r in rows], [r.weight for r in rows])


def _design_effect(rows: Sequence[AuditRow]) -> float:
    """Of the whole table, at least 1: strata are too small for one of their own."""
    if not rows:
        return 1.0
    return max(1.0, design_effect(floats([r.real is False for r in rows]), [r.cluster for r in rows]) or 1.0)


def _against_others(name: str, known: dict[str, list[AuditRow]], deff: float) -> float | None:
    """Pearson's χ² of stratum × outcome divided by the design effect (first-order correction of Rao and Scott 1981)."""
    inside = [r.real is False for r in known[name]]
    outside = [r.real is False for other, rows in known.items() if other != name for r in rows]
    n, m = len(inside), len(outside)
    if min(n, m) < SMALL:
        return None
    k, j = sum(inside), sum(outside)
    p = (k + j) / (n + m)
    if not 0 < p < 1:
        return 1.0
    chi2 = (k / n - j / m) ** 2 / (p * (1 - p) * (1 / n + 1 / m)) / deff
    return float(stats.chi2.sf(chi2, 1))


def adjusted(p_values: dict[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """Holm's and Benjamini and Hochberg's adjusted p-values, by name. (statsmodels' collects garbage at every call: 0.5 s.)"""
    if not p_values:
        return {}, {}
    names, p = list(p_values), floats(list(p_values.values()))
    order = np.argsort(p, kind="stable")
    holm = np.empty_like(p)
    holm[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    bh = stats.false_discovery_control(p)
    return dict(zip(names, map(float, holm), strict=True)), dict(zip(names, map(float, bh), strict=True))


_MEANS = (np.arange(60) + 0.5) / 60
_SHRINK = (np.arange(40) + 0.5) / 40
"""Grid of 1/(1+c), uniform under the prior of c."""


def partial_pooling(k: Sequence[float], n: Sequence[int], deff: float = 1.0, *, confidence: float = CONFIDENCE) -> list[Estimate]:
    """Beta-binomial estimates of rates that share a distribution, one per stratum: see `FITTED`.

    k, n: [S] successes and trials. Intervals are Bayesian: right on average over strata drawn from the fitted distribution
    (tests/audits/metrics/test_coverage.py), not for one outlying stratum, which is pulled towards the others: read the raw one.
    """
    ks, ns = floats(k) / deff, floats(n) / deff
    concentration = 1 / _SHRINK - 1
    a = (_MEANS[:, None] * concentration).ravel()
    b = ((1 - _MEANS[:, None]) * concentration).ravel()
    log_likelihood = (betaln(a + ks[:, None], b + (ns - ks)[:, None]) - betaln(a, b)).sum(axis=0)
    posterior = np.exp(log_likelihood - log_likelihood.max())
    posterior /= posterior.sum()
    keep = posterior > 1e-4
    weight, a, b = posterior[keep] / posterior[keep].sum(), a[keep], b[keep]
    tail = (1 - confidence) / 2
    found = []
    for k_s, n_s, trials in zip(ks, ns, n, strict=True):
        low, high = (_mixture_quantile(q, a + k_s, b + n_s - k_s, weight) for q in (tail, 1 - tail))
        value = float((weight * (a + k_s) / (a + b + n_s)).sum())
        found.append(
            Estimate(
                value=value,
                interval=Interval(low, high),
                n=int(trials),
                clusters=0,
                method="beta-binomial posterior",
                k=k_s * deff,
            )
        )
    return found


def _mixture_quantile(q: float, a: np.ndarray, b: np.ndarray, weight: np.ndarray) -> float:
    """Quantile of a mixture of betas, by bisection: its CDF is monotone."""
    low, high = 0.0, 1.0
    for _ in range(26):
        middle = (low + high) / 2
        if float((weight * betainc(a, b, middle)).sum()) < q:
            low = middle
        else:
            high = middle
    return (low + high) / 2
