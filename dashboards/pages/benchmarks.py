"""Benchmarks: every number of a run, or of two runs side by side.

sites × runs: rate, n, interval        │ floors
templates, windows, error taxonomy, cost and time: the tables of `harness report`
a second run chosen: both / only A / only B / neither, McNemar, difference, flips first
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboards import charts, links, loading, rates, safe, states, tables
from dashboards.context import Context
from dashboards.loading import Problem, RunView
from dashboards.pages import empty
from results.columns import EXACT_LIMIT
from results.published import load_published
from results.tables import Report, Table, columns

FIRST = ("sites", "floors")
TAXONOMY = ("faults", "action_errors", "step_flags", "stops")
ELSEWHERE = ("run", "settings")
"""Shown on the Overview."""


def draw(context: Context) -> None:
    """Draw the page."""
    view = context.first
    if view is None:
        empty.no_runs(context.root)
        return
    if isinstance(view, Problem):
        states.broken(view, "This run cannot be read.")
        return
    names = ["Results", "Tables", "Errors", "Compare", "Published"]
    opened = st.tabs(names, key="tab", bind="query-params")
    for name, tab in zip(names, opened, strict=True):
        if tab.open:
            with tab:
                _TABS[name](context, view)


def _results(context: Context, view: RunView) -> None:
    states.heading(view.summary, key="summary")
    series = {"A": rates.of_table(view.sites)}
    if isinstance(context.second, RunView):
        series["B"] = rates.of_table(context.second.sites)
    charts.show(charts.rates(series), key="sites", name="success-by-site")
    clicked = tables.show(view.sites, key="sites", select=True)
    st.caption("Click a line to see the episodes of a site.")
    if clicked is not None:
        site = safe.line(view.sites.rows[clicked][0], 60)
        links.go("episodes", **({} if view.sites.total and clicked == len(view.sites.rows) - 1 else {"site": site}))
    if isinstance(context.second, RunView):
        states.heading("B", key="b")
        tables.show(context.second.sites, key="sites-b", title=False)
    report = _report(view)
    for table in _named(report, FIRST[1:]):
        tables.show(table, key=table.name)
    windows = [table for table in report.tables if table.name.startswith("windows")] if report else []
    for number, table in enumerate(windows):
        tables.show(table, key=f"windows-{number}")
    for table in view.templates:
        tables.show(table, key="templates")
    states.warnings(view.warnings)


def _tables(_: Context, view: RunView) -> None:
    report = _report(view, ask=True)
    if report is None:
        return
    tables.download(report, key="report")
    shown = (*FIRST, *TAXONOMY, *ELSEWHERE, "templates")
    for number, table in enumerate(t for t in report.tables if t.name not in shown):
        tables.show(table, key=f"report-{number}")


def _errors(_: Context, view: RunView) -> None:
    report = _report(view, ask=True)
    if report is None:
        return
    found = _named(report, TAXONOMY)
    if not found:
        st.caption("No episode has finished, so nothing has gone wrong yet.")
    for table in found:
        tables.show(table, key=table.name)
    if any(table.name == "faults" for table in found):
        links.link("episodes", "Episodes that ended in an error", ":material/error:", state="error")


def _compare(context: Context, view: RunView) -> None:
    second = context.second
    if second is None:
        st.info("Choose a second run above, next to the first, to compare the two pair by pair.", icon=":material/compare:")
        return
    if isinstance(second, Problem):
        states.broken(second, "The second run cannot be read.")
        return
    report = loading.pair(view, second)
    if isinstance(report, Problem):
        states.broken(report, "These two runs cannot be compared.")
        return
    states.heading(report.summary, key="pair-summary")
    states.warnings(report.warnings, "Before you compare")
    for table in report.tables:
        tables.show(table, key=f"pair-{table.name}")


def _published(*_: object) -> None:
    st.caption("Quoted, not reproduced: other task sets, judges, browsers and dates than ours. Never average them with ours.")
    cols = columns("agent", "benchmark", "what", ("value", "percent"), "source")
    for number, paper in enumerate(load_published()):
        rows = tuple((n.agent, n.benchmark, n.what, n.value / 100, n.source) for n in paper.numbers)
        tables.show(Table("published", paper.paper, cols, rows, paper.caveats), key=f"published-{number}")


def _report(view: RunView, *, ask: bool = False) -> Report | None:
    """All tables of a run. A large run is read as a whole only if asked to."""
    if view.columns.exact:
        return view.report
    if ask:
        st.caption(f"Runs of more than {EXACT_LIMIT:,} episodes are shown from their index; these tables need every episode.")
        if st.toggle("Read the whole run (takes a while)", key="whole", bind="query-params"):
            with st.spinner("Reading every episode of the run …"):
                return view.report
    return None


def _named(report: Report | None, names: tuple[str, ...]) -> list[Table]:
    return [table for table in report.tables if table.name in names] if report else []


_TABS: dict[str, Callable[[Context, RunView], None]] = {
    "Results": _results,
    "Tables": _tables,
    "Errors": _errors,
    "Compare": _compare,
    "Published": _published,
}
