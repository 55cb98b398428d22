"""Audit: controls first, then the headline or why it is withheld; then where, when and why dreams part from reality.

controls · SSRF with interval · the 2×2 · SSRF by site and length · survival · calibration · blame
the ledger: every replayed dream; a click opens its replay, dreamed and real page side by side (dashboards.pages.replay)
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from audits.metrics.numbers import Estimate
from audits.metrics.summary import AuditSummary
from dashboards import audit_tables, cards, charts, palette, results_files, safe, states, tables
from dashboards.charts import Series
from dashboards.context import Context
from dashboards.loading import Problem
from dashboards.pages import ledger
from results.discovery import Found
from results.intervals import Interval
from results.tables import DASH, Report, Table, columns

REPLAYS = "Blame and replays"
REPLAY = "harness audit replay runs/dreams --env arena --workers 2"
REPORT = "harness audit report runs/dreams-replay-stop"


def draw(context: Context) -> None:
    """Draw the page."""
    found = results_files.pick(context.discovery, "audit", "Audit", key="audit")
    if found is None:
        states.nothing_yet(
            "No audit has been made here yet. This replays dreams in a real browser, then sums up what came of them:",
            f"{REPLAY}\n{REPORT}",
            details="Replays are runs: step by step they are on the Episodes page as soon as they are stored.",
        )
        return
    read = results_files.audit(found)
    if isinstance(read, Problem):
        states.broken(read, "This audit cannot be read.")
        return
    _controls(read)
    _headline(read)
    believed = read.status == "VALID" or st.toggle(
        "Show the numbers although the controls do not allow it", key="unbelieved", bind="query-params"
    )
    names = list(_TABS) if believed else [REPLAYS]
    for name, tab in zip(names, st.tabs(names, key="tab", bind="query-params"), strict=True):
        if tab.open:
            with tab:
                if believed:
                    _TABS[name](context, found, read)
                else:
                    ledger.draw(context, found)


def _controls(read: AuditSummary) -> None:
    if read.status == "VALID":
        st.success("Controls passed: the replay calls real successes successes.", icon=":material/verified:")
    else:
        st.error("Controls not passed: INVALID. The numbers below must not be quoted.", icon=":material/gpp_bad:")
        for text in read.reasons:
            st.text(f"• {safe.line(text, 600)}")
    states.warnings(read.warnings, "Beside the numbers")
    made = audit_tables.controls(read.controls)
    if not made:
        st.caption("No control was run: harness audit controls makes them.")
    for table in made[:1]:
        tables.show(table, key="controls")
    for table in made[1:]:
        with st.expander("Planted faults, by kind"):
            tables.show(table, key=f"controls-{table.name}", title=False)


def _headline(read: AuditSummary) -> None:
    first, second, third, fourth = st.columns(4)
    with first:
        cards.estimate("SSRF", read.headline, "withheld: see above")
    with second:
        withheld = "no negative control" if read.headline else "withheld: see above"
        cards.estimate("SSRF beyond false alarms", read.excess if read.headline else None, withheld)
    with third:
        counts = read.counts
        planned = "no plan" if counts.planned is None else f"of {counts.planned:,} planned"
        cards.card("Replayed", f"{counts.replayed:,}", f"{planned}, {counts.inconclusive:,} unknown")
    with fourth:
        curve = read.survival
        below = f"{100 * curve.threshold:.0f}% agree, at the lower limit"
        believed = read.status == "VALID"
        cards.card(
            "Longest safe dream", f"{curve.h_max:d} pages" if believed else DASH, below if believed else "withheld: see above"
        )
    more = [text for text in read.headline_withheld if text not in read.reasons]
    if more:
        st.caption("The headline is withheld because:")
        for text in more:
            st.text(f"• {safe.line(text, 600)}")
    with st.expander("What the arms of an audit estimate"):
        for name, text in read.estimands.items():
            states.note(f"{name}: {text}", key=f"estimand-{name}")


def _rates(_: Context, __: Found, read: AuditSummary) -> None:
    tables.show(audit_tables.confusion(read.rates.confusion), key="confusion")
    for table in audit_tables.rates(read.rates):
        tables.show(table, key=table.name)
    for number, found in enumerate(read.cuts):
        if found.strata:
            lines = [audit_tables.line(s.stratum or "(unknown)", s.rate) for s in found.strata]
            charts.show(charts.rates({"SSRF": lines}, colours=(palette.VERMILION,)), key=f"cut-{number}", name="ssrf")
            tables.show(audit_tables.cut(found), key=f"cut-{number}")
    others = {f"arm {name}": rates.ssrf for name, rates in read.arms.items()}
    others |= {f"anchor {anchor.name}": anchor.rates.ssrf for anchor in read.anchors}
    others |= {anchor.name: anchor.rates.ssrf for anchor in read.by_world_model}
    if others:
        tables.show(audit_tables.estimates("others", "SSRF of other arms and world models", "of", others), key="others")


def _survival(_: Context, __: Found, read: AuditSummary) -> None:
    found = read.survival
    if not found.pages:
        st.info("No replay compared a page, so there is no curve.", icon=":material/inbox:")
        return
    xs = [float(page.page) for page in found.pages]
    bands = [page.bootstrap or page.survival.interval for page in found.pages]
    series = [
        Series(
            "audited", xs, [page.survival.value for page in found.pages], [b[0] if b else None for b in bands],
            [b[1] if b else None for b in bands], colour=palette.DREAMED, step=True,
        )
    ]  # fmt: skip
    for number, anchor in enumerate(read.anchors):
        pages = anchor.survival.pages
        values = [page.survival.value for page in pages]
        colour = (palette.GREY, palette.GREEN, palette.ORANGE)[number % 3]
        series.append(Series(anchor.name, [float(p.page) for p in pages], values, colour=colour, step=True, dashed=True))
    charts.show(charts.curves(series, x="page of the dream", y="still agrees", percent=True), key="survival", name="survival")
    tables.show(audit_tables.survival(read), key="survival")


def _calibration(_: Context, __: Found, read: AuditSummary) -> None:
    bins = read.calibration.reliability
    if not bins:
        st.info("No dream stated a probability of success, so there is nothing to calibrate.", icon=":material/inbox:")
        return
    observed = [b.observed for b in bins]
    intervals = [Interval(*o.interval) if o.interval else None for o in observed]
    series = [
        Series("perfect", (0.0, 1.0), (0.0, 1.0), colour=palette.GREY, dashed=True),
        Series(
            "self-assessed success", [b.mean_score for b in bins], [o.value for o in observed],
            [i.low if i else None for i in intervals], [i.high if i else None for i in intervals], colour=palette.DREAMED,
        ),
    ]  # fmt: skip
    charts.show(charts.curves(series, x="stated", y="real success", percent=True), key="reliability", name="reliability")
    shown = {"Brier score": read.calibration.brier, "AUROC": read.auroc, "AUPRC": read.auprc}
    tables.show(audit_tables.estimates("calibration", "Calibration", "measure", shown), key="calibration")


def _blame(context: Context, found: Found, read: AuditSummary) -> None:
    blame = read.blame
    parts = {
        "SSRF": blame.ssrf,
        "of which dynamics (the judge sees the failure on real pages)": blame.dynamics,
        "of which judge (it errs on real pages too)": blame.judge,
        "of which unattributed": blame.unattributed,
    }
    tables.show(audit_tables.estimates("blame", "Whose fault", "share of dreamed successes", parts), key="blame")
    left, right = st.columns(2)
    with left:
        tables.show(audit_tables.counts(read.counts.failure_causes, "Why dreams failed", "cause"), key="failures")
    with right:
        tables.show(audit_tables.counts(read.counts.inconclusive_causes, "Why there is no verdict", "cause"), key="unknown")
    ledger.draw(context, found)


def _more(_: Context, __: Found, read: AuditSummary) -> None:
    grounding: dict[str, Estimate] = {name: found for name, found in read.groundability.actions.items() if found.n}
    grounding |= {"groundable (element actions)": read.groundability.groundable, "phantom": read.groundability.phantom}
    tables.show(audit_tables.estimates("grounding", "Can dreamed actions be executed", "class", grounding), key="grounding")
    if read.ranks:
        ranks = read.ranks
        cols = columns("policy", ("simulated", "percent"), ("real", "percent"))
        rows = tuple(zip(ranks.policies, ranks.simulated, ranks.real, strict=True))
        notes = (
            f"Kendall τ = {_plain(ranks.kendall.value)}, MMRV = {_plain(ranks.mmrv.value)}, {ranks.tasks:,} tasks.",
            *ranks.warnings,
        )
        tables.show(Table("ranks", "Do both worlds rank policies alike", cols, rows, notes), key="ranks")
    if read.exploitation:
        xs = [c.updates for c in read.exploitation.checkpoints]
        series = [
            Series("simulated", xs, [c.simulated.value for c in read.exploitation.checkpoints], colour=palette.DREAMED),
            Series("real", xs, [c.real.value for c in read.exploitation.checkpoints], colour=palette.REAL),
        ]
        charts.show(charts.curves(series, x="updates", y="success", percent=True), key="exploitation", name="exploitation")
    if read.plan is not None:
        states.note(f"Sampling plan {read.plan_digest}: {read.plan.rule}", key="plan")
    made = [audit_tables.confusion(read.rates.confusion), *audit_tables.rates(read.rates), *map(audit_tables.cut, read.cuts)]
    tables.download(Report("audit", "", read.warnings, tuple(made)), key="all")


def _plain(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


_TABS: dict[str, Callable[[Context, Found, AuditSummary], None]] = {
    "Rates": _rates,
    "Divergence": _survival,
    REPLAYS: _blame,
    "Calibration": _calibration,
    "More": _more,
}
