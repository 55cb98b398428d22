"""`AuditSummary` as tables and lines for charts. Layout only: every number is a field of the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from audits.metrics.controls import Controls
from audits.metrics.numbers import Estimate
from audits.metrics.rates import Confusion, Rates
from audits.metrics.strata import CutTable
from audits.metrics.summary import AuditSummary
from dashboards.charts import RateLine
from results.intervals import Interval
from results.tables import Cell, Kind, Table, columns, written


def estimates(name: str, title: str, label: str, rows: Mapping[str, Estimate], notes: Sequence[str] = ()) -> Table:
    """One estimate per row, with its n, clusters and how its interval was made."""
    cols = columns(label, ("value", "percent"), ("95% interval", "interval"), ("n", "int"), ("clusters", "int"), "interval by")
    return Table(name, title, cols, tuple((key, *_cells(value)) for key, value in rows.items()), tuple(notes))


def line(name: str, estimate: Estimate) -> RateLine:
    """One estimate for a chart."""
    return RateLine(name, estimate.value, estimate.interval, estimate.n)


def controls(found: Controls) -> list[Table]:
    """The controls, negative first: nothing else may be read before them."""
    rows: list[tuple[Cell, ...]] = []
    if found.negative:
        alpha, exact = found.negative.alpha, found.negative.exact
        rows.append(("negative: real successes called failures (α)", alpha.value, exact, alpha.n, "upper limit at most 5%"))
    for score in found.positive[:1]:
        recall = score.recall
        rows.append(("positive: planted faults found", recall.value, recall.interval, recall.n, "the higher the better"))
    if found.determinism:
        equal = found.determinism.equal
        rows.append(("determinism: same actions, same page", equal.value, equal.interval, equal.n, "the higher the better"))
    cols = columns("control", ("value", "percent"), ("95% interval", "interval"), ("n", "int"), "wanted")
    tables = [Table("controls", "Controls", cols, tuple(rows))] if rows else []
    if len(found.positive) > 1:
        tables.append(_faults(found))
    return tables


def _faults(found: Controls) -> Table:
    rows = tuple(
        (s.fault, s.recall.value, s.recall.interval, s.recall.n, s.localised.value, s.localisation_median,
         s.cause_accuracy.value, s.inconclusive)
        for s in found.positive
    )  # fmt: skip
    cols = columns(
        "planted fault", ("found", "percent"), ("95% interval", "interval"), ("n", "int"), ("at the right page", "percent"),
        ("median distance, pages", "number"), ("right cause", "percent"), ("inconclusive", "int"),
    )  # fmt: skip
    return Table("faults", "Planted faults, by kind", cols, rows)


def confusion(found: Confusion) -> Table:
    """What the dream said × what reality said; unreplayable dreams are a column of their own, never dropped."""
    cols = columns("the dream said", ("real success", "int"), ("real failure", "int"), ("no verdict", "int"))
    rows = (
        ("success", found.n11, found.n10, found.inconclusive_1),
        ("failure", found.n01, found.n00, found.inconclusive_0),
    )
    return Table("confusion", "Dreamed against real", cols, rows)


def rates(found: Rates) -> list[Table]:
    """M1 of one set of dreams."""
    bounds = found.ssrf_bounds
    shares = {
        "SSRF: real failure | dreamed success": found.ssrf,
        "real success | dreamed failure": found.sfrs,
        "sensitivity: dreamed success | real success": found.sensitivity,
        "specificity: dreamed failure | real failure": found.specificity,
        "optimism: dreamed minus real success": found.optimism_bias,
        "Matthews correlation": found.mcc,
    }
    notes = [
        f"SSRF lies between {_percent(bounds.low)} and {_percent(bounds.high)} whatever the {bounds.inconclusive:,} "
        f"of {bounds.n:,} dreams without a verdict would have been (Manski)."
    ]
    if found.mcnemar_p is not None:
        notes.append(f"McNemar p: {written(found.mcnemar_p, 'p')} (takes dreams as independent).")
    return [estimates("rates", "Rates", "rate", shares, notes)]


def cut(found: CutTable) -> Table:
    """SSRF by one property of dreams."""
    cols = columns(
        str(found.cut), ("SSRF", "percent"), ("95% interval", "interval"), ("n", "int"), ("no verdict", "int"),
        ("pooled", "percent"), ("pooled 95%", "interval"), ("p, Holm", "p"),
    )  # fmt: skip
    rows = tuple(
        (
            s.stratum or "(unknown)", s.rate.value, s.rate.interval, s.rate.n, s.inconclusive,
            s.pooled.value if s.pooled else None, s.pooled.interval if s.pooled else None, s.p_holm,
        )
        for s in found.strata
    )  # fmt: skip
    return Table(f"cut {found.cut}", f"SSRF by {found.cut}", cols, rows, (f"pooled: {found.fitted}",) if found.fitted else ())


def survival(summary: AuditSummary) -> Table:
    """Survival page by page: agreed so far, diverged here, and why."""
    causes = ("exec", "url", "crit", "any")
    percents: list[tuple[str, Kind]] = [(f"by {cause}", "percent") for cause in causes]
    cols = columns(
        ("page", "int"), ("at risk", "int"), ("diverged here", "int"), ("still agrees", "percent"), ("95% interval", "interval"),
        *percents,
    )  # fmt: skip
    rows = tuple(
        (
            page.page, page.at_risk, page.events, page.survival.value, page.bootstrap or page.survival.interval,
            *(page.incidence[cause].value if cause in page.incidence else None for cause in causes),
        )
        for page in summary.survival.pages
    )  # fmt: skip
    notes = (
        "still agrees: Kaplan–Meier; dreams that end without a divergence are censored.",
        "by …: diverged so far, by that cause first.",
    )
    return Table("survival", "First divergence, page by page", cols, rows, notes)


def counts(names: Mapping[str, int], title: str, label: str) -> Table:
    """Counts by name, most frequent first."""
    ranked = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    return Table(title.lower().replace(" ", "-"), title, columns(label, ("dreams", "int")), tuple(ranked))


def _cells(estimate: Estimate) -> tuple[Cell, ...]:
    interval = Interval(*estimate.interval) if estimate.interval is not None else None
    return (estimate.value, interval, estimate.n, estimate.clusters, estimate.method or None)


def _percent(value: float | None) -> str:
    return "an unknown share" if value is None else f"{100 * value:.1f}%"
