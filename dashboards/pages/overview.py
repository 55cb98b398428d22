"""Overview: how good is the chosen run, how far is it, how does it compare, and can it be made again.

four cards · rates by site · latest failures │ newest runs · comparability · reproducibility
"""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from dashboards import links, palette, rates, safe, states, tables
from dashboards.cards import card
from dashboards.context import Context
from dashboards.loading import Problem, RunView
from dashboards.pages import empty
from results import sections
from results.aggregate import agent_spending, count, pace
from results.caveats import pair_warnings
from results.report import header
from results.tables import DASH, written

LATEST = 8
NEWEST_RUNS = 200


def draw(context: Context) -> None:
    """Draw the page."""
    view = context.first
    if view is None:
        empty.no_runs(context.root)
        return
    if isinstance(view, Problem):
        states.broken(view, "This run cannot be read.")
        _newest(context)
        return
    _cards(context, view)
    compared = isinstance(context.second, RunView)
    left, right = (st.container(), st.container()) if compared else st.columns([5, 4], gap="medium")
    with left:
        _sites(context, view)
    with right:
        _failures(view)
    states.warnings(view.warnings)
    _newest(context)
    _reproducibility(context, view)


def _cards(context: Context, view: RunView) -> None:
    columns = view.columns
    counts = count(columns.outcomes)
    planned = view.overall
    done = counts.planned - counts["missing"]
    rows = [outcome.row for outcome in columns.outcomes if outcome.row]
    first, second, third, fourth = st.columns(4)
    with first:
        interval = f"{written(planned.interval, 'interval')}, n = {planned.n:,}" if planned.interval else "nothing was planned"
        card("Success, of planned", written(planned.value, "percent"), interval)
    with second:
        unscored = counts["error"] + counts["blocked"] + counts["inconclusive"]
        card("Episodes", f"{done:,} of {counts.planned:,}", f"{unscored:,} unscored, {counts['missing']:,} to go")
    with third:
        audits = context.discovery.of("audit")
        text = "newest on the Audit page" if audits else "no dream replayed yet"
        card("Audits", f"{len(audits):,}", text)
    with fourth:
        if rows:
            spent, speed = agent_spending(rows), pace(rows)
            cost = "unknown" if spent.cost_usd is None else written(spent.cost_usd, "usd")
            median = written(speed.median_seconds, "seconds")
            card("Model cost", cost, f"{spent.requests:,} requests; {median} each")
        else:
            seconds = columns.frame["seconds"].median()
            median = DASH if pd.isna(seconds) else written(float(seconds), "seconds")
            card("Median episode", median, "cost: on the Benchmarks page")


def _sites(context: Context, view: RunView) -> None:
    """Bars in a grid, not a figure: a figure's library alone would delay the first paint by half a second."""
    st.subheader("Success by site", anchor=False)
    lines = rates.of_table(view.sites)
    shown = {"site": [safe.line(line.name, 60) for line in lines], **_bars(view, "")}
    if isinstance(context.second, RunView):
        shown |= _of_sites(context.second, [line.name for line in lines])
    bar = st.column_config.ProgressColumn(min_value=0, max_value=100, format="%.1f%%")
    configuration = {name: bar for name in shown if name.startswith("success")}
    clicked = tables.grid(pd.DataFrame(shown), key="sites", configuration=configuration, select=True)
    st.caption("Of planned episodes. Click a line for a site's episodes; the Benchmarks page draws the intervals.")
    if clicked is not None:
        whole = view.sites.total and clicked == len(lines) - 1
        links.go("episodes", **({} if whole else {"site": safe.line(lines[clicked].name, 60)}))
    links.link("benchmarks", "All numbers of this run", ":material/leaderboard:")


def _bars(view: RunView, suffix: str) -> dict[str, list[object]]:
    lines = rates.of_table(view.sites)
    return {
        f"success{suffix}": [None if line.value is None else 100 * line.value for line in lines],
        f"95% interval{suffix}": [written(line.interval, "interval") for line in lines],
        f"n{suffix}": [line.n for line in lines],
    }


def _of_sites(view: RunView, names: list[str]) -> dict[str, list[object]]:
    """The bars of a second run, in the order of the first one's sites; a dash where it has no such site."""
    at = {line.name: position for position, line in enumerate(rates.of_table(view.sites))}
    return {title: [cells[at[name]] if name in at else None for name in names] for title, cells in _bars(view, ", B").items()}


def _failures(view: RunView) -> None:
    st.subheader("Latest episodes without success", anchor=False)
    frame = view.columns.frame
    last = frame.loc[frame["state"].isin(["failure", "error", "blocked", "inconclusive"]), ["finish_index", "episode_id"]]
    failed = frame.loc[last.sort_values(["finish_index", "episode_id"], ascending=False).index[:LATEST]]
    if failed.empty:
        some = (frame["state"] == "success").any()
        st.caption("None: every finished episode succeeded." if some else "No episode has finished.")
        return
    why = failed["reason"].fillna("").where(failed["reason"].fillna("") != "", failed["error_message"].fillna(""))
    shown = pd.DataFrame(
        {
            "state": [palette.STATE_SIGN[state] for state in failed["state"]],
            "task": [safe.line(task, 80) for task in failed["task_id"]],
            "why": [safe.line(text, 160) for text in why],
        }
    )
    clicked = tables.clickable(shown, key="latest")
    st.caption("Click a line to open the episode.")
    if clicked is not None:
        links.go("episodes", episode=str(failed["episode_id"].iloc[clicked]))


def _newest(context: Context) -> None:
    st.subheader("Runs, newest first", anchor=False)
    runs = context.runs[:NEWEST_RUNS]
    shown = pd.DataFrame(
        {
            "run": [safe.line(run.name, 120) for run in runs],
            "changed (UTC)": [datetime.fromtimestamp(run.modified, UTC).strftime("%Y-%m-%d %H:%M") for run in runs],
        }
    )
    st.dataframe(shown, hide_index=True, height=tables.height(min(6, len(runs))))
    if len(context.runs) > NEWEST_RUNS or not context.discovery.complete:
        st.caption("There are more: the list ends here. Choose a directory further down with --runs.")


def _reproducibility(context: Context, view: RunView) -> None:
    st.subheader("Can it be compared, can it be made again", anchor=False)
    if isinstance(context.second, RunView):
        found = list(pair_warnings(view.reader.manifest, context.second.reader.manifest))
        states.warnings(found, "A and B differ in more than the policy")
        if not found:
            st.success("A and B agree in benchmark, task set, judge, seeds, viewport, browser, commit and versions.")
    else:
        st.caption("Choose a second run above to see what keeps the two from being compared.")
    left, right = st.columns(2, gap="medium")
    with left:
        tables.show(header(view.reader.manifest, view.columns.outcomes), key="header")
    with right:
        for table in sections.settings(view.reader.manifest):
            tables.show(table, key="settings")
