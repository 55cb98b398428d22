"""The ledger of an audit: every replayed dream with its outcome, cause and first divergence; a click opens the replay."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audits.records import AuditRow
from dashboards import links, results_files, safe, states, tables
from dashboards.context import Context
from dashboards.loading import Problem
from results.discovery import Found

MAX_ROWS = 2_000
CELLS = {
    "all": None,
    "dreamed success, real failure": (True, "failure"),
    "dreamed success, real success": (True, "success"),
    "dreamed failure, real success": (False, "success"),
    "dreamed failure, real failure": (False, "failure"),
    "dreamed success, no verdict": (True, "inconclusive"),
    "dreamed failure, no verdict": (False, "inconclusive"),
}


def draw(context: Context, found: Found) -> None:
    """The list, filtered; opens a replay on the Episodes page."""
    st.subheader("Replays", anchor=False)
    rows = results_files.audit_rows(found)
    if isinstance(rows, Problem):
        states.broken(rows, "The rows of this audit cannot be read.")
        return
    left, right = st.columns(2)
    with left:
        cell = st.selectbox("Cell of the 2×2", list(CELLS), key="cell", bind="query-params")
    causes = sorted({row.cause for row in rows if row.cause})
    with right:
        chosen = st.multiselect("Cause", causes, key="cause", bind="query-params")
    wanted = CELLS[cell]
    shown = [
        row for row in rows if (wanted is None or (row.dreamed, row.outcome) == wanted) and (not chosen or row.cause in chosen)
    ]
    cut = f" The first {MAX_ROWS:,} are listed." if len(shown) > MAX_ROWS else ""
    st.caption(f"{len(shown):,} of {len(rows):,} rows.{cut}")
    shown = shown[:MAX_ROWS]
    if not shown:
        return
    clicked = tables.clickable(_lines(shown), key="ledger")
    st.caption("Click a line to see dream and reality side by side, at the page where they part.")
    if clicked is not None:
        _open(context, found, shown[clicked])


def _lines(rows: list[AuditRow]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "dreamed": ["success" if row.dreamed else "failure" for row in rows],
            "real": ["no verdict" if row.outcome == "inconclusive" else row.outcome for row in rows],
            "cause": [row.cause for row in rows],
            "parts at page": [row.divergence for row in rows],
            "because": [row.divergence_cause or "" for row in rows],
            "actions": [row.length for row in rows],
            "task": [safe.line(row.task_id, 80) for row in rows],
            "site": [safe.line(row.site, 30) for row in rows],
            "arm": [row.arm for row in rows],
            "dream": [safe.line(row.dream, 120) for row in rows],
        }
    ).astype({"parts at page": "Int64"})


def _open(context: Context, found: Found, row: AuditRow) -> None:
    place = results_files.replay_of(context.discovery, found, row)
    if isinstance(place, Problem):
        states.broken(place, "This replay cannot be opened.")
        return
    run, episode = place
    page = {"dreamed": str(row.divergence)} if row.divergence else {}
    links.go("episodes", run=run, episode=episode, **page)
