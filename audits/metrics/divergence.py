"""M3: how many pages of a dream hold? Survival until the first page that disagrees with reality.

    page t        1      2      3     …        time = τ, or the last compared page (right-censored)
    at risk Y_t   n_1 ─▶ n_2 ─▶ n_3            event = diverged at t
    hazard d/Y,  S(t) = Π (1 − d_s/Y_s)  (Kaplan and Meier 1958),  by cause: Σ S(s−1)·d_k/Y  (Aalen and Johansen 1978)

Pages are discrete and tied; at a page, divergences come before censorings. Replays that compared no page are counted, not used.
The interval of S(t) and of a cause's incidence is Wilson's on an effective n (Rothman 1978) with a variance that is robust to
clustering (infinitesimal jackknife, Efron 1982). Log-log intervals from Greenwood's formula (Kalbfleisch and Prentice 1980;
lifelines, imported when asked for) are shown beside it: they take dreams as independent, and where nothing diverged they are
[1, 1] whatever n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from audits.metrics.numbers import (
    T_METHOD,
    Estimate,
    Floats,
    cluster_codes,
    cluster_variance,
    floats,
    proportion,
    share_from_influences,
)
from audits.records import AuditRow, DivergenceCause
from harness.types import Record
from results.intervals import CONFIDENCE, RESAMPLES, SEED, Interval, student

MIN_SURVIVAL = 0.8
"""A recommended dream still agrees with reality with at least this probability (lower limit of its interval)."""

MIN_BAND_CLUSTERS = 100

CAUSES: tuple[DivergenceCause, ...] = get_args(DivergenceCause)


class Page(Record):
    """Survival at page t: the probability that pages 1 … t all agree with reality."""

    page: int
    at_risk: int
    events: int
    survival: Estimate
    log_log: Interval | None
    """Greenwood, log-log, rows independent; None where S is 0 or 1."""
    bootstrap: Interval | None
    """Pointwise cluster-bootstrap band; None for fewer than `MIN_BAND_CLUSTERS`, where it covers too little."""
    hazard: Estimate
    """P(diverges at t | agreed up to t−1)."""
    incidence: dict[DivergenceCause, Estimate]
    """P(diverged at or before t, by this cause first). Sums to 1 − S(t)."""


class Survival(Record):
    """M3 for one set of rows."""

    pages: tuple[Page, ...]
    n: int
    clusters: int
    diverged: int
    not_compared: int
    """Replays that compared no page: in no number here."""
    median: int | None
    """First page with S(t) ≤ ½; None if it is not reached."""
    h_max: int
    """Recommended dream length: the largest t with the lower limit of S(1 … t) at least `threshold`; 0 if there is none."""
    open_ended: bool
    """`h_max` is the last page observed: longer dreams were not tried."""
    threshold: float


class Difference(Record):
    """Two sets of dreams compared up to page `horizon`: mean number of agreeing pages among the first `horizon`, A − B."""

    horizon: int
    first: float
    second: float
    difference: Estimate
    """Student's t over clusters; clusters in both sets count once, with their dependence."""
    log_rank_p: float
    """Two-sided (Mantel 1966); takes dreams as independent."""


class _Times:
    """Rows as arrays: event time or censoring time, cause index (−1 = censored), cluster, weight."""

    def __init__(self, rows: Sequence[AuditRow]) -> None:
        used = sorted((r for r in rows if r.compared >= 1), key=lambda r: (r.dream, r.arm))
        self.not_compared = len(rows) - len(used)
        self.time = np.array([r.divergence or r.compared for r in used], dtype=np.intp)
        self.cause = np.array([CAUSES.index(r.divergence_cause) if r.divergence_cause else -1 for r in used], dtype=np.intp)
        self.cluster = [r.cluster for r in used]
        self.weight = floats([r.weight for r in used])
        self.last = int(self.time.max()) if len(used) else 0


def survival(rows: Sequence[AuditRow], *, threshold: float = MIN_SURVIVAL, seed: int = SEED) -> Survival:
    """The curve of `rows` (one arm, one kind of world model), the incidence by cause, and the recommended dream length."""
    data = _Times(rows)
    n, clusters = len(data.time), cluster_codes(data.cluster)[0] if data.cluster else 0
    if not n:
        return Survival(
            pages=(), n=0, clusters=0, diverged=0, not_compared=data.not_compared, median=None, h_max=0, open_ended=False,
            threshold=threshold,
        )  # fmt: skip
    curve, influence = product_limit(data.time, data.cause >= 0, data.weight, data.last)
    causes = {
        name: cumulative_incidence(data.time, data.cause == i, curve, influence, data.cause >= 0, data.weight)
        for i, name in enumerate(CAUSES)
    }
    bands = bootstrap_bands(data.time, data.cause >= 0, data.cluster, data.weight, seed=seed)
    log_log = _log_log(data)
    pages = []
    for t in range(1, data.last + 1):
        risk = data.time >= t
        events = (data.time == t) & (data.cause >= 0)
        at_risk_weight = data.weight * risk
        pages.append(
            Page(
                page=t,
                at_risk=int(risk.sum()),
                events=int(events.sum()),
                survival=_share(curve[t - 1], influence[:, t - 1], data.cluster, at_risk_weight),
                log_log=log_log[t - 1],
                bootstrap=bands[t - 1] if bands else None,
                hazard=proportion(events[risk], _pick(data.cluster, risk), data.weight[risk]),
                incidence={
                    name: _share(value[t - 1], ifs[:, t - 1], data.cluster, at_risk_weight)
                    for name, (value, ifs) in causes.items()
                },
            )
        )
    below = [p.page for p in pages if p.survival.value is not None and p.survival.value <= 0.5]
    h_max = recommended_length(pages, threshold)
    return Survival(
        pages=tuple(pages),
        n=n,
        clusters=clusters,
        diverged=int((data.cause >= 0).sum()),
        not_compared=data.not_compared,
        median=below[0] if below else None,
        h_max=h_max,
        open_ended=h_max == data.last,
        threshold=threshold,
    )


def recommended_length(pages: Sequence[Page], threshold: float = MIN_SURVIVAL) -> int:
    """h_max: pages before the first whose lower limit of S falls below `threshold`."""
    for p in pages:
        if p.survival.interval is None or p.survival.interval.low < threshold:
            return p.page - 1
    return pages[-1].page if pages else 0


def product_limit(time: np.ndarray, event: np.ndarray, weight: Floats, last: int) -> tuple[Floats, Floats]:
    """Weighted Kaplan–Meier. time, event, weight: [n] → S [last] for pages 1 … last, influences of S [n, last].

    ∂ log S(t)/∂w_i · w_i = −w_i Σ_{s≤t} (1{i diverges at s} − 1{i at risk at s}·d_s/Y_s) / (Y_s − d_s).
    """
    pages = np.arange(1, last + 1)
    risk, events = time[:, None] >= pages, (time[:, None] == pages) & event[:, None]
    y, d = weight @ risk, weight @ events
    hazard = np.divide(d, y, out=np.zeros(last), where=y > 0)
    curve = np.cumprod(1 - hazard)
    left = y - d
    step = np.divide(events - risk * hazard, left, out=np.zeros(risk.shape), where=left > 1e-12)
    return floats(curve), floats(-weight[:, None] * np.cumsum(step, axis=1) * curve)


def cumulative_incidence(
    time: np.ndarray, this: np.ndarray, curve: Floats, influence: Floats, event: np.ndarray, weight: Floats
) -> tuple[Floats, Floats]:
    """Aalen–Johansen for the cause flagged by `this` [n] → incidence [last], its influences [n, last].

    lifelines has the estimator for times without ties (it moves tied times at random); pages are always tied.
    """
    last = len(curve)
    pages = np.arange(1, last + 1)
    risk, events = time[:, None] >= pages, (time[:, None] == pages) & (event & this)[:, None]
    y = weight @ risk
    hazard = np.divide(weight @ events, y, out=np.zeros(last), where=y > 0)
    before = np.concatenate([[1.0], curve[:-1]])
    influence_before = np.concatenate([np.zeros((len(time), 1)), influence[:, :-1]], axis=1)
    own = weight[:, None] * (events - risk * hazard) / np.where(y > 0, y, 1)
    return np.cumsum(before * hazard), np.cumsum(influence_before * hazard + before * own, axis=1)


def bootstrap_bands(
    time: np.ndarray, event: np.ndarray, cluster: Sequence[str], weight: Floats, *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Interval] | None:
    """Pointwise percentile bands of S(t), whole clusters drawn with replacement; None for few clusters.

    With 40 to 60 clusters it covers 91 to 93 % for a nominal 95 %, with 100 it covers 95 %: `Page.survival` is the interval to
    read, which covers 95 to 97 % from 15 clusters on.

    At pages that few dreams reach, a draw may hold no row at risk: its curve then stays level, as the estimate itself would.
    """
    count, codes = cluster_codes(cluster)
    if count < MIN_BAND_CLUSTERS:
        return None
    pages = np.arange(1, int(time.max()) + 1)
    y, d = np.zeros((count, len(pages))), np.zeros((count, len(pages)))
    np.add.at(y, codes, weight[:, None] * (time[:, None] >= pages))
    np.add.at(d, codes, weight[:, None] * ((time[:, None] == pages) & event[:, None]))
    times_drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples)
    at_risk, diverged = times_drawn @ y, times_drawn @ d
    curves = np.cumprod(1 - np.divide(diverged, at_risk, out=np.zeros(at_risk.shape), where=at_risk > 0), axis=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(curves, [tail, 1 - tail], axis=0)
    return [Interval(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def compare(first: Sequence[AuditRow], second: Sequence[AuditRow], *, horizon: int | None = None) -> Difference | None:
    """Restricted mean of agreeing pages, A − B, Σ_{t ≤ horizon} S(t) (Irwin 1949; Royston and Parmar 2013), and log-rank.

    `horizon` defaults to the last page that both sets observed. None where a set has no compared page.
    lifelines' restricted mean up to horizon + 1 is this one + 1: it counts the time before page 1.
    """
    sides = [_Times(rows) for rows in (first, second)]
    if not all(len(s.time) for s in sides):
        return None
    limit = min(horizon or min(s.last for s in sides), *(s.last for s in sides))
    means, influences = [], []
    for side in sides:
        curve, influence = product_limit(side.time, side.cause >= 0, side.weight, side.last)
        means.append(float(curve[:limit].sum()))
        influences.append(influence[:, :limit].sum(axis=1))
    cluster = [*sides[0].cluster, *sides[1].cluster]
    joint = np.concatenate([influences[0], -influences[1]])
    clusters = cluster_codes(cluster)[0]
    value, variance = means[0] - means[1], float(cluster_variance(joint, cluster))
    interval = None
    if variance > 0:
        # the smaller side limits how well the variance is known
        half = student(CONFIDENCE, min(len(set(s.cluster)) for s in sides)) * variance**0.5
        interval = Interval(max(-float(limit), value - half), min(float(limit), value + half))
    a, b = sides
    from lifelines.statistics import logrank_test  # type: ignore[import-untyped]

    p = logrank_test(a.time, b.time, a.cause >= 0, b.cause >= 0, weights_A=a.weight, weights_B=b.weight).p_value
    return Difference(
        horizon=limit,
        first=means[0],
        second=means[1],
        difference=Estimate(
            value=value,
            interval=interval,
            n=len(joint),
            clusters=clusters,
            method=T_METHOD if interval else "",
        ),
        log_rank_p=float(p),
    )


def log_rank(groups: dict[str, Sequence[AuditRow]]) -> float | None:
    """p-value that all groups share one curve; dreams taken as independent. None for fewer than two groups with pages."""
    sides = {name: _Times(rows) for name, rows in groups.items()}
    sides = {name: s for name, s in sides.items() if len(s.time)}
    if len(sides) < 2:
        return None
    time = np.concatenate([s.time for s in sides.values()])
    names = np.concatenate([[name] * len(s.time) for name, s in sides.items()])
    event = np.concatenate([s.cause >= 0 for s in sides.values()])
    from lifelines.statistics import multivariate_logrank_test

    return float(multivariate_logrank_test(time, names, event).p_value)


def _share(value: float, influence: Floats, cluster: Sequence[str], weight: Floats) -> Estimate:
    made = share_from_influences(float(np.clip(value, 0, 1)), influence, cluster, weight)
    return made.model_copy(update={"n": int((weight > 0).sum())})


def _pick(cluster: Sequence[str], mask: np.ndarray) -> list[str]:
    return [c for c, keep in zip(cluster, mask, strict=True) if keep]


def _log_log(data: _Times) -> list[Interval | None]:
    """lifelines' interval per page; None where the transform has none."""
    if np.ptp(data.weight):
        return [None] * data.last
    from lifelines import KaplanMeierFitter  # type: ignore[import-untyped]

    fitter = KaplanMeierFitter(alpha=1 - CONFIDENCE).fit(data.time, data.cause >= 0)
    limits = fitter.confidence_interval_survival_function_.reindex(range(1, data.last + 1), method="ffill")
    curve = fitter.survival_function_at_times(range(1, data.last + 1)).to_numpy()
    return [
        Interval(float(low), float(high)) if 0 < s < 1 else None for s, (low, high) in zip(curve, limits.to_numpy(), strict=True)
    ]
