"""Who is to blame for a dreamed success that is none: the world model's pages or the judge? And what if O itself is judged?

The judge that rewarded the dream is shown the real pages of the replay (J_r). Among dreamed successes, exactly:

    SSRF  =  P(J_r = 0, O = 0)   +   P(J_r = 1, O = 0)   +   P(J_r unknown, O = 0)
             dynamics: the judge     judge: it says yes      unattributed: it gave
             sees the failure on     to real failure too     no verdict
             real pages

Rogan and Gladen (1978): a rate measured by an imperfect judge, corrected by its sensitivity and specificity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats
from statsmodels.stats.proportion import multinomial_proportions_confint

from audits.metrics.numbers import Estimate, proportion, undefined
from audits.records import AuditRow
from harness.types import Record
from results.intervals import CONFIDENCE, Interval


class Blame(Record):
    """The split of one SSRF. Values add up to `ssrf` exactly; n = conclusive dreamed successes for each."""

    ssrf: Estimate
    dynamics: Estimate
    judge: Estimate
    unattributed: Estimate
    simultaneous: dict[str, Interval]
    """Goodman (1965): intervals that hold jointly, for `dynamics`, `judge`, `unattributed` and `success`; empty if rows are
    clustered, which it does not allow for."""
    judge_on_success: Estimate
    """P(J_r = 1 | dreamed and real success, J_r known): a judge that says no to real successes makes blame unreliable."""


def blame(rows: Sequence[AuditRow]) -> Blame:
    """The split over `rows` (one arm). Inconclusive rows and dreamed failures are left out."""
    known = sorted((r for r in rows if r.dreamed and r.real is not None), key=lambda r: (r.dream, r.arm))
    cluster, weight = [r.cluster for r in known], [r.weight for r in known]
    failed = [r.real is False for r in known]
    kinds: dict[str, bool | None] = {"dynamics": False, "judge": True, "unattributed": None}
    flags = {name: [f and r.judge_on_real is j for r, f in zip(known, failed, strict=True)] for name, j in kinds.items()}
    shares = {name: proportion(flag, cluster, weight) for name, flag in flags.items()}
    simultaneous: dict[str, Interval] = {}
    if known and len(set(cluster)) == len(known) and np.ptp(weight) == 0:
        counts = [sum(flag) for flag in flags.values()]
        limits = multinomial_proportions_confint([*counts, len(known) - sum(counts)], alpha=1 - CONFIDENCE, method="goodman")
        simultaneous = {
            name: Interval(float(low), float(high)) for name, (low, high) in zip([*flags, "success"], limits, strict=True)
        }
    passed = [r for r in known if r.real and r.judge_on_real is not None]
    return Blame(
        ssrf=proportion(failed, cluster, weight),
        dynamics=shares["dynamics"],
        judge=shares["judge"],
        unattributed=shares["unattributed"],
        simultaneous=simultaneous,
        judge_on_success=proportion(
            [r.judge_on_real is True for r in passed], [r.cluster for r in passed], [r.weight for r in passed]
        ),
    )


def rogan_gladen(positive: float, sensitivity: float, specificity: float) -> float | None:
    """True rate behind a judged rate, (p + sp − 1) / (se + sp − 1), cut to [0, 1]; None for a judge no better than chance."""
    informedness = sensitivity + specificity - 1
    return None if informedness <= 0 else min(1.0, max(0.0, (positive + specificity - 1) / informedness))


def corrected_rate(judged: tuple[float, float], on_positive: tuple[float, float], on_negative: tuple[float, float]) -> Estimate:
    """Rogan–Gladen with the interval of Lang and Reiczigel (2014), which counts the uncertainty of se and sp too.

    Each pair is (hits, n): judged positives of n rows; judged positive of truly positive, judged negative of truly negative
    calibration rows. Clustered rows: divide both by the design effect. The bootstrap is not used: where the judge never erred
    in calibration it takes se = sp = 1 for certain.
    """
    (k, n), (k_se, n_se), (k_sp, n_sp) = judged, on_positive, on_negative
    if min(n, n_se, n_sp) <= 0:
        return undefined(int(n))
    value = rogan_gladen(k / n, k_se / n_se, k_sp / n_sp)
    if value is None:
        return undefined(int(n))
    z = float(stats.norm.ppf(1 - (1 - CONFIDENCE) / 2))
    n_, se, sp = n + z**2, (k_se + 1) / (n_se + 2), (k_sp + 1) / (n_sp + 2)
    p = (k + z**2 / 2) / n_
    informedness = se + sp - 1
    if informedness <= 0:
        return undefined(int(n)).model_copy(update={"value": value})
    prevalence = (p + sp - 1) / informedness
    spread = (
        p * (1 - p) / n_ + prevalence**2 * se * (1 - se) / (n_se + 2) + (1 - prevalence) ** 2 * sp * (1 - sp) / (n_sp + 2)
    ) ** 0.5 / informedness
    shift = 2 * z**2 * (prevalence * se * (1 - se) / (n_se + 2) - (1 - prevalence) * sp * (1 - sp) / (n_sp + 2))
    low, high = (min(1.0, max(0.0, prevalence + shift + sign * z * spread)) for sign in (-1, 1))
    return Estimate(value=value, interval=Interval(low, high), n=int(n), clusters=0, method="Lang–Reiczigel")
