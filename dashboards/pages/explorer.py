"""Episodes: find one, then see it step by step (dashboards.pages.episode).

filters, all in the URL (site, state, window, q)     "4 of 12 shown", the rate of the selection
fifty lines at a time, sorted on the server; a click opens the episode (`episode` in the URL)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dashboards import links, palette, safe, states, tables
from dashboards.context import Context
from dashboards.loading import Problem, RunView
from dashboards.pages import empty, episode
from results.intervals import rate
from results.outcomes import STATES
from results.tables import written

PAGE_SIZE = 50

Lines = NDArray[np.intp]
"""Positions in the frame of a run."""

SORTS = {
    "planned order": ("order_index", True),
    "last finished": ("finish_index", False),
    "most steps": ("steps", False),
    "slowest": ("seconds", False),
    "task": ("task_id", True),
}


def draw(context: Context) -> None:
    """Draw the page."""
    view = context.first
    if view is None:
        empty.no_runs(context.root)
        return
    if isinstance(view, Problem):
        states.broken(view, "This run cannot be read.")
        return
    frame = view.columns.frame
    if frame.empty:
        st.info("This run plans no episode.", icon=":material/inbox:")
        return
    wanted = st.query_params.get("episode", "")
    lines = _filtered(frame, _filters(frame, folded=bool(wanted)))
    if wanted:
        episode.draw(view, wanted, frame["episode_id"].take(lines).dropna().tolist())
    else:
        _list(view, lines)


def _list(view: RunView, lines: Lines) -> None:
    frame = view.columns.frame
    success = (frame["state"] == "success").to_numpy(dtype=float)
    selected = rate(success[lines], frame["cluster"].take(lines).tolist())
    interval = written(selected.interval, "interval") if selected.interval else ""
    shown = f"{len(lines):,} of {len(frame):,} episodes shown"
    share = f"; {written(selected.value, 'percent')} of them succeed {interval}" if selected.n else ""
    states.note(shown + share, key="selection")
    if not len(lines):
        st.info("No episode fits these filters.", icon=":material/filter_alt_off:")
        links.link("episodes", "Reset the filters", ":material/restart_alt:")
        return
    page = frame.take(_page(lines))
    clicked = tables.clickable(_lines(page), key="episodes")
    st.caption("Click a line to open the episode.")
    if clicked is not None:
        identity = page["episode_id"].iloc[clicked]
        if pd.isna(identity):
            st.warning("This episode has not been played, or its file cannot be read.", icon=":material/hourglass_empty:")
        else:
            links.here(episode=str(identity))
    if view.columns.unreadable:
        _unreadable(view)


def _filters(frame: pd.DataFrame, *, folded: bool) -> dict[str, Any]:
    """The filter strip. It stands above an open episode too, folded: previous and next keep to the selection."""
    with st.expander("Filters", icon=":material/filter_alt:") if folded else st.container():
        first, second, third, fourth, fifth = st.columns([3, 3, 2, 3, 2])
        with first:
            sites = st.multiselect("Site", _values(frame, "site"), key="site", bind="query-params")
        with second:
            found = st.multiselect("State", [s for s in STATES if (frame["state"] == s).any()], key="state", bind="query-params")
        with third:
            windows = st.multiselect("Window", _values(frame, "window"), key="window", bind="query-params")
        with fourth:
            text = st.text_input("Task or goal contains", key="q", bind="query-params", max_chars=200)
        with fifth:
            sort = st.selectbox("Sort by", list(SORTS), key="sort", bind="query-params")
    return {"site": sites, "state": found, "window": windows, "q": text or "", "sort": sort}


def _values(frame: pd.DataFrame, column: str) -> list[str]:
    """What stands in the column, as it is shown and as it stands in the URL."""
    return list(dict.fromkeys(map(_short, sorted(map(str, frame[column].dropna().unique())))))


def _short(text: str) -> str:
    return safe.line(text, 60)


def _filtered(frame: pd.DataFrame, chosen: dict[str, Any]) -> Lines:
    """Positions of the lines that fit, sorted; ties by key, so that the order never wavers."""
    keep = pd.Series(True, index=frame.index)
    for column in ("site", "state", "window"):
        if chosen.get(column):
            keep &= frame[column].isin([value for value in frame[column].dropna().unique() if _short(value) in chosen[column]])
    if text := chosen.get("q"):
        hits = frame["task_id"].str.contains(text, case=False, regex=False)
        hits |= frame["goal"].astype("string").str.contains(text, case=False, regex=False).fillna(False)
        keep &= hits.fillna(False)
    column, ascending = SORTS.get(chosen.get("sort") or "", SORTS["planned order"])
    # Only what is sorted by, and only positions come back: a sorted copy of 100,000 lines would be 40 MB at each click.
    order = frame[[column, "key"]].reset_index(drop=True)[keep.to_numpy(dtype=bool)]
    return order.sort_values([column, "key"], ascending=[ascending, True], na_position="last").index.to_numpy()


def _page(lines: Lines) -> Lines:
    pages = (len(lines) - 1) // PAGE_SIZE + 1
    number = 1
    if pages > 1:
        with st.container(width=220):
            number = st.number_input(f"Page, of {pages:,}", 1, pages, key="page", bind="query-params")
    return lines[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]


def _lines(page: pd.DataFrame) -> pd.DataFrame:
    reason = page["reason"].fillna("")
    why = reason.where(reason != "", page["error_message"].fillna(""))
    return pd.DataFrame(
        {
            "state": [palette.STATE_SIGN[state] for state in page["state"]],
            "task": [safe.line(task, 80) for task in page["task_id"]],
            "site": [safe.line(site, 40) for site in page["site"]],
            "window": [safe.line(window, 20) for window in page["window"]],
            "repeat": page["repeat"].to_numpy(),
            "steps": page["steps"].astype("Int64").to_numpy(dtype=float, na_value=float("nan")),
            "seconds": page["seconds"].astype("Float64").round(1).to_numpy(dtype=float, na_value=float("nan")),
            "goal": [safe.line(goal, 140) for goal in page["goal"].fillna("")],
            "why": [safe.line(text, 140) for text in why],
        }
    )


def _unreadable(view: RunView) -> None:
    with st.expander(f"{len(view.columns.unreadable):,} episode files cannot be read", icon=":material/broken_image:"):
        st.caption("They count as missing, not as failures. Resume the run to play them again.")
        for name, why in list(view.columns.unreadable.items())[:100]:
            st.text(f"{safe.line(name, 120)}: {safe.line(why, 200)}")
