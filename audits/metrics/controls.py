"""M2: the auditor audited. What the controls say, and whether the audit may be believed.

    negative      recorded real successes through the dream's own path: α = P(real failure), should be near 0
    positive      planted faults: β = share detected, where, and under which cause
    determinism   the same real actions twice: share of equal pages

An audit is INVALID while the upper limit of α (Clopper and Pearson 1934, two-sided 95 %) is above 5 %, or without a negative
control: 36 replays without a failure allow ≤ 10 %, 72 ≤ 5 %, 183 ≤ 2 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Literal

import numpy as np

from audits.metrics.numbers import Estimate, cluster_codes, floats, proportion
from audits.metrics.rates import MAX_INCONCLUSIVE, Bounds, bounds
from audits.records import AuditRow, DeterminismRow, PlantedFault
from harness.types import Record
from results.intervals import CONFIDENCE, MIN_CLUSTERS, RESAMPLES, SEED, Interval, clopper_pearson

MAX_ALPHA_UPPER = 0.05

Status = Literal["VALID", "INVALID"]


class NegativeControl(Record):
    """False alarms of the replay path. Rows: recorded real successes; n counts conclusive ones."""

    alpha: Estimate
    """By the rules of all rates (clustered by template)."""
    exact: Interval
    """Clopper and Pearson on rows, two-sided 95 %: its upper limit decides validity."""
    bounds: Bounds
    sites: tuple[tuple[str, Estimate], ...]
    """α by site: `excess` assumes that false alarms strike valid and invalid dreams alike."""


class FaultScore(Record):
    """Detection of one kind of fault, or of all (`fault` = "all")."""

    fault: str
    recall: Estimate
    """Detected over planted and conclusive."""
    localisation_median: float | None
    """Median |τ̂ − k| in pages, over detected faults."""
    localised: Estimate
    """Share of detected faults found at exactly the page of the fault."""
    cause_accuracy: Estimate
    """Share of detected faults reported under the expected cause."""
    inconclusive: int


class Determinism(Record):
    """Same actions twice. `n` counts pages; runs that could not be compared are counted apart."""

    equal: Estimate
    runs: int
    not_compared: int


class Validity(Record):
    """May this audit's numbers be believed? Every reason is a sentence for a person."""

    status: Status
    reasons: tuple[str, ...]
    """Why INVALID; empty when VALID."""
    warnings: tuple[str, ...]
    """What does not invalidate, and should be read beside the numbers."""


class Controls(Record):
    negative: NegativeControl | None
    positive: tuple[FaultScore, ...]
    """"all" first, then by kind of fault; empty without positive controls."""
    determinism: Determinism | None
    validity: Validity


def controls(
    negative: Sequence[AuditRow] = (), planted: Sequence[PlantedFault] = (), determinism: Sequence[DeterminismRow] = ()
) -> Controls:
    """All of M2. `negative` rows are recorded real successes that took the dreams' path (dreamed = True)."""
    alarms = negative_control(negative) if negative else None
    scores = fault_scores(planted)
    equal = _determinism(determinism) if determinism else None
    return Controls(negative=alarms, positive=scores, determinism=equal, validity=validity(alarms, scores, equal))


def negative_control(rows: Sequence[AuditRow]) -> NegativeControl:
    """α over conclusive rows of the control."""
    rows = sorted(rows, key=lambda r: r.dream)
    known = [r for r in rows if r.real is not None]
    failures = sum(r.real is False for r in known)
    sites = sorted({r.site for r in known})
    return NegativeControl(
        alpha=_failures(known),
        exact=clopper_pearson(failures, len(known)),
        bounds=bounds(rows),
        sites=tuple((site, _failures([r for r in known if r.site == site])) for site in sites),
    )


def _failures(rows: Sequence[AuditRow]) -> Estimate:
    return proportion([r.real is False for r in rows], [r.cluster for r in rows])


def fault_scores(rows: Sequence[PlantedFault]) -> tuple[FaultScore, ...]:
    """ "all", then each kind by name."""
    if not rows:
        return ()
    rows = sorted(rows, key=lambda r: (r.fault, r.dream, r.planted_at))
    kinds = sorted({r.fault for r in rows})
    return (_fault_score("all", rows), *(_fault_score(kind, [r for r in rows if r.fault == kind]) for kind in kinds))


def _fault_score(name: str, rows: Sequence[PlantedFault]) -> FaultScore:
    known = [r for r in rows if r.outcome != "inconclusive"]
    found = [r for r in known if r.found_at is not None]
    errors = [abs(r.found_at - r.planted_at) for r in found if r.found_at is not None]
    cluster = [r.cluster for r in found]
    return FaultScore(
        fault=name,
        recall=proportion([r.found_at is not None for r in known], [r.cluster for r in known]),
        localisation_median=float(median(errors)) if errors else None,
        localised=proportion([e == 0 for e in errors], cluster),
        cause_accuracy=proportion([r.found_cause == r.expected_cause for r in found], cluster),
        inconclusive=len(rows) - len(known),
    )


def _determinism(rows: Sequence[DeterminismRow]) -> Determinism:
    compared = sorted((r for r in rows if not r.cause), key=lambda r: (r.task_id, r.pages, r.equal))
    flags = [i < r.equal for r in compared for i in range(r.pages)]
    cluster = [r.cluster for r in compared for _ in range(r.pages)]
    return Determinism(equal=proportion(flags, cluster), runs=len(rows), not_compared=len(rows) - len(compared))


def validity(
    negative: NegativeControl | None, positive: Sequence[FaultScore] = (), determinism: Determinism | None = None
) -> Validity:
    """The stop rule. Only the negative control invalidates; the others warn."""
    reasons, warnings = [], []
    if negative is None or not negative.alpha.n:
        reasons.append("no negative control: nobody knows how often the replayer itself fails")
    else:
        k, n = int(negative.alpha.k or 0), negative.alpha.n
        if negative.exact.high > MAX_ALPHA_UPPER:
            reasons.append(
                f"false alarms {k} of {n}: the upper 95 % limit of α is {negative.exact.high:.1%}, above {MAX_ALPHA_UPPER:.0%}"
                f"{' (72 replays without a failure suffice)' if k == 0 else ''}"
            )
        clustered = negative.alpha.interval
        if clustered and clustered.high > MAX_ALPHA_UPPER >= negative.exact.high:
            warnings.append(f"α's upper limit clustered by template is {clustered.high:.1%}")
        share = negative.bounds.inconclusive_share
        if share is not None and share > MAX_INCONCLUSIVE:
            warnings.append(f"{share:.1%} of {negative.bounds.n} negative controls were inconclusive")
    if not positive:
        warnings.append("no positive control: sensitivity to faults is unknown")
    elif (recall := positive[0].recall.value) is not None and recall < 0.95:
        warnings.append(f"only {recall:.1%} of {positive[0].recall.n} planted faults were detected")
    if determinism is None:
        warnings.append("no determinism control")
    elif (equal := determinism.equal.value) is not None and equal < 1:
        warnings.append(f"{1 - equal:.1%} of {determinism.equal.n} pages differed when the same actions were run twice")
    return Validity(status="INVALID" if reasons else "VALID", reasons=tuple(reasons), warnings=tuple(warnings))


def abbott(observed: float, alpha: float) -> float:
    """Failure beyond the replayer's own false alarms, (p − α) / (1 − α), at least 0 (Abbott 1925). Needs alpha < 1."""
    return max(0.0, (observed - alpha) / (1 - alpha))


MIN_FAILURES = 15
"""Failures, and successes, that either arm needs for the bootstrap: with fewer it covers less than it says."""


def excess(dreams: Sequence[AuditRow], negative: Sequence[AuditRow], *, resamples: int = RESAMPLES, seed: int = SEED) -> Estimate:
    """Abbott's excess of SSRF over α, with the uncertainty of both arms. Assumes false alarms independent of dream validity.

    Joint cluster bootstrap: clusters of both arms are drawn together, so that a template in both keeps its dependence. With
    fewer than 30 clusters or 15 failures in an arm (a good replayer has few) the bootstrap would know nothing of α's
    uncertainty; then 1 − (1−p)/(1−α) is bounded from Wilson intervals of both arms by MOVER (Zou and Donner 2008; ratios:
    Donner and Zou 2012), which takes the arms as independent.
    """
    arms = [[r for r in rows if r.dreamed and r.real is not None] for rows in (dreams, negative)]
    flags = [[r.real is False for r in arm] for arm in arms]
    clusters = [[r.cluster for r in arm] for arm in arms]
    first, second = (proportion(f, c, [r.weight for r in arm]) for f, c, arm in zip(flags, clusters, arms, strict=True))
    p, alpha = first.value, second.value
    n, total = len(arms[0]), len({*clusters[0], *clusters[1]})
    if p is None or alpha is None or alpha >= 1 or first.interval is None or second.interval is None:
        return Estimate(value=None, interval=None, n=n, clusters=total, method="")
    rich = all(e.clusters >= MIN_CLUSTERS and min(e.k or 0, e.n - (e.k or 0)) >= MIN_FAILURES for e in (first, second))
    if rich:
        interval, method = _joint_bootstrap(arms, resamples, seed), "joint cluster bootstrap"
    else:
        interval, method = _mover(p, first.interval, alpha, second.interval), "MOVER of both arms' intervals"
    return Estimate(value=abbott(p, alpha), interval=interval, n=n, clusters=total, method=method)


def _mover(p: float, p_interval: Interval, alpha: float, alpha_interval: Interval) -> Interval:
    """Interval of 1 − (1−p)/(1−α), cut at 0. Ratio of the two passing rates by MOVER with independent arms."""
    a, (a_low, a_high) = 1 - p, (1 - p_interval.high, 1 - p_interval.low)
    b, (b_low, b_high) = 1 - alpha, (1 - alpha_interval.high, 1 - alpha_interval.low)
    low = _ratio_limit(a, a_low, b, b_high, -1)
    high = _ratio_limit(a, a_high, b, b_low, +1)
    return Interval(max(0.0, 1 - high), max(0.0, 1 - low))


def _ratio_limit(a: float, a_limit: float, b: float, b_limit: float, sign: int) -> float:
    """Closed form of Donner and Zou (2012): one limit of a/b from limits of a and b."""
    square = max(0.0, (a * b) ** 2 - a_limit * b_limit * (2 * a - a_limit) * (2 * b - b_limit))
    bottom = b_limit * (2 * b - b_limit)
    return (a * b + sign * square**0.5) / bottom if bottom > 0 else (np.inf if sign > 0 else 0.0)


def _joint_bootstrap(arms: Sequence[Sequence[AuditRow]], resamples: int, seed: int) -> Interval:
    count, codes = cluster_codes([r.cluster for arm in arms for r in arm])
    weights = floats([r.weight for arm in arms for r in arm])
    failed = floats([r.real is False for arm in arms for r in arm]) * weights
    first = np.arange(len(codes)) < len(arms[0])
    columns = np.stack(
        [np.bincount(codes, x, count) for x in (failed * first, weights * first, failed * ~first, weights * ~first)], axis=1
    )
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples) @ columns
    draws = draws[(draws[:, 1] > 0) & (draws[:, 3] > draws[:, 2])]
    p, alpha = draws[:, 0] / draws[:, 1], draws[:, 2] / draws[:, 3]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.maximum(0, (p - alpha) / (1 - alpha)), [tail, 1 - tail])
    return Interval(float(low), float(high))
