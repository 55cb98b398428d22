"""M1: dreamed against real success, as a 2×2 table and its rates.

                  real success   real failure   inconclusive
    dreamed 1         n11            n10            nI1           SSRF = n10 / (n10 + n11)   optimism
    dreamed 0         n01            n00            nI0           SFRS = n01 / (n01 + n00)   pessimism

Counts are of rows; rates use the rows' Horvitz–Thompson weights where the sampling plan gave any. Inconclusive rows are in no
rate: they are counted, and bound it (Manski 1989). Rates of one audit share one arm and no anchor; `headline_rows` selects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from statsmodels.stats.contingency_tables import mcnemar

from audits.metrics.numbers import Estimate, correlation, floats, mean, proportion
from audits.records import AuditRow
from harness.types import Record
from results.intervals import Interval, clopper_pearson, design_effect

MAX_INCONCLUSIVE = 0.05
"""A headline rate needs at most this share of inconclusive rows in its denominator."""


class Confusion(Record):
    """Counts of rows. n10: dreamed success, real failure."""

    n11: int
    n10: int
    n01: int
    n00: int
    inconclusive_1: int
    """Dreamed success, no real outcome."""
    inconclusive_0: int

    @property
    def conclusive(self) -> int:
        return self.n11 + self.n10 + self.n01 + self.n00

    @property
    def total(self) -> int:
        return self.conclusive + self.inconclusive_1 + self.inconclusive_0


class Bounds(Record):
    """What a rate lies between, whatever the inconclusive rows would have been (Manski 1989)."""

    low: float | None
    high: float | None
    interval: Interval | None
    """From the lower limit of `low`'s 95 % interval to the upper one of `high`'s: holds all of the identified set."""
    n: int
    """m: the rate's rows, inconclusive ones included."""
    inconclusive: int

    @property
    def inconclusive_share(self) -> float | None:
        return self.inconclusive / self.n if self.n else None


class Rates(Record):
    """M1 for one set of rows."""

    confusion: Confusion
    ssrf: Estimate
    """P(real failure | dreamed success) = 1 − precision."""
    ssrf_exact: Interval
    """Clopper and Pearson (1934) on rows: for guarantees where rows are independent. (0, 1) without rows."""
    ssrf_bounds: Bounds
    sfrs: Estimate
    """P(real success | dreamed failure): pessimism of the dream."""
    optimism_bias: Estimate
    """mean(R̂) − mean(O) over conclusive rows, in [−1, 1]."""
    sensitivity: Estimate
    """P(dreamed success | real success)."""
    specificity: Estimate
    """P(dreamed failure | real failure)."""
    mcc: Estimate
    """Matthews (1975), in [−1, 1]; undefined where a margin of the table is empty."""
    mcnemar_p: float | None
    """Exact two-sided test of n10 = n01 (McNemar 1947); takes rows as independent."""
    design_effect: float | None
    """Of SSRF: 1 + (G−1)·ICC for G rows per cluster (Kish 1965)."""
    icc: float | None
    """Intra-class correlation that the design effect implies; None for one row per cluster."""


def headline_rows(rows: Sequence[AuditRow]) -> list[AuditRow]:
    """The rows that the headline is about: primary arm, audited world model; ordered, so that nothing depends on input order."""
    return sorted((r for r in rows if r.arm == "stop" and not r.anchor), key=lambda r: r.dream)


def confusion(rows: Sequence[AuditRow]) -> Confusion:
    def count(dreamed: bool, real: bool | None) -> int:
        return sum(r.dreamed is dreamed and r.real is real for r in rows)

    return Confusion(
        n11=count(True, True),
        n10=count(True, False),
        n01=count(False, True),
        n00=count(False, False),
        inconclusive_1=count(True, None),
        inconclusive_0=count(False, None),
    )


def rates(rows: Sequence[AuditRow]) -> Rates:
    """All of M1 for `rows` (one arm, one kind of world model)."""
    known = [r for r in rows if r.real is not None]
    dreamed_1 = [r for r in known if r.dreamed]
    failures = [r.real is False for r in dreamed_1]
    deff = design_effect(floats(failures), [r.cluster for r in dreamed_1]) if dreamed_1 else None
    table = confusion(rows)
    return Rates(
        confusion=table,
        ssrf=_share(dreamed_1, failures),
        ssrf_exact=clopper_pearson(table.n10, table.n10 + table.n11),
        ssrf_bounds=bounds([r for r in rows if r.dreamed]),
        sfrs=_where(known, lambda r: not r.dreamed, lambda r: r.real is True),
        optimism_bias=_optimism(known),
        sensitivity=_where(known, lambda r: r.real is True, lambda r: r.dreamed),
        specificity=_where(known, lambda r: r.real is False, lambda r: not r.dreamed),
        mcc=_mcc(known),
        mcnemar_p=float(mcnemar([[table.n11, table.n10], [table.n01, table.n00]], exact=True).pvalue) if known else None,
        design_effect=deff,
        icc=_icc(deff, [r.cluster for r in dreamed_1]),
    )


def bounds(rows: Sequence[AuditRow]) -> Bounds:
    """Bounds [n10/m, (n10+nI)/m] of the failure rate of `rows`, of which nI are inconclusive; weighted like the rate."""
    worst = _share(rows, [r.real is not True for r in rows])
    best = _share(rows, [r.real is False for r in rows])
    interval = None
    if best.interval and worst.interval:
        interval = Interval(best.interval.low, worst.interval.high)
    inconclusive = sum(r.real is None for r in rows)
    return Bounds(low=best.value, high=worst.value, interval=interval, n=len(rows), inconclusive=inconclusive)


def _share(rows: Sequence[AuditRow], flags: Sequence[bool]) -> Estimate:
    return proportion(flags, [r.cluster for r in rows], [r.weight for r in rows])


def _where(rows: Sequence[AuditRow], given: Callable[[AuditRow], bool], event: Callable[[AuditRow], bool]) -> Estimate:
    chosen = [r for r in rows if given(r)]
    return _share(chosen, [event(r) for r in chosen])


def _optimism(rows: Sequence[AuditRow]) -> Estimate:
    gaps = [float(r.dreamed) - float(bool(r.real)) for r in rows]
    return mean(gaps, [r.cluster for r in rows], [r.weight for r in rows], low=-1, high=1)


def _mcc(rows: Sequence[AuditRow]) -> Estimate:
    """Pearson's correlation of two binary variables."""
    return correlation(
        [float(r.dreamed) for r in rows], [float(bool(r.real)) for r in rows], [r.cluster for r in rows], [r.weight for r in rows]
    )


def _icc(deff: float | None, cluster: Sequence[str]) -> float | None:
    """(DEFF − 1) / (G − 1) with G the size-weighted mean cluster size (Kish 1965), cut to [−1, 1]."""
    if deff is None:
        return None
    sizes = np.unique(np.asarray(cluster), return_counts=True)[1]
    size = float((sizes**2).sum() / sizes.sum())
    return max(-1.0, min(1.0, (deff - 1) / (size - 1))) if size > 1 else None
