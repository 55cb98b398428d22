"""Training: curves of the chosen trainings over steps, the raw curve faint under the smoothed one; what each has cost so far."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboards import charts, palette, results_files, safe, states, tables
from dashboards.charts import Series
from dashboards.context import REFRESH_SECONDS, Context
from dashboards.loading import Problem
from results.discovery import Found
from results.tables import Cell, Report, Table, columns
from results.training_log import TRAIN_LOG, TrainingLog

COMMAND = "harness train world-model --data data/arena --out checkpoints/nano"
PRESELECTED = 4
MAX_CHOSEN = 7
MAX_POINTS = 1_500
STALE_SECONDS = 600
ENOUGH = 5
"""A curve is smoothed if it has this many times the lines that it is smoothed over: a short one would only lag."""
FIRST = ("loss", "dev.loss", "reward.success", "reward.dream", "reward", "update.loss", "grad_norm", "lr")
"""Curves in the order in which people look for them; the others follow as in the log."""
CURVES = 6
"""Drawn unless others are chosen."""
LEDGER = ("tokens", "seconds")


def draw(context: Context) -> None:
    """Draw the page."""
    trainings = {item.name: item for item in context.discovery.of("training")}
    if not trainings:
        states.nothing_yet(
            "No training has written a log here yet. This trains a small world model:",
            COMMAND,
            details="Open the dashboard on a directory that holds the checkpoints: train_log.jsonl lies beside them.",
        )
        return
    names = list(trainings)
    chosen = st.multiselect(
        "Trainings, newest first", names, default=names[:PRESELECTED], key="training", bind="query-params",
        max_selections=MAX_CHOSEN,
    )  # fmt: skip
    smoothing = st.slider("Smoothing (exponential mean over so many lines)", 1, 100, 10, key="smooth", bind="query-params")
    logs = _readable([trainings[name] for name in chosen])
    if not logs:
        st.info("No chosen training has written a line with numbers yet.", icon=":material/hourglass_empty:")
        return
    _ledger(logs)
    known = _measures([log for _, log in logs])
    labels = safe.labels(known, 60)
    shown = st.multiselect("Curves", list(labels), default=list(labels)[:CURVES], key="curve", bind="query-params")
    measures = [known[labels[label]] for label in shown]
    st.caption(f"Smoothed over {smoothing:d} lines; the raw curve lies faint beneath." if smoothing > 1 else "Raw curves.")
    for number in range(0, len(measures), 2):
        for measure, column in zip(measures[number : number + 2], st.columns(2, gap="medium"), strict=False):
            with column:
                _curve(measure, logs, smoothing)
    _watch([found for found, _ in logs])


def _readable(chosen: Sequence[Found]) -> list[tuple[Found, TrainingLog]]:
    logs: list[tuple[Found, TrainingLog]] = []
    for found in chosen:
        log = results_files.training_log(found)
        if isinstance(log, Problem):
            states.broken(log, "One of these trainings cannot be read.")
        elif log.measures:
            logs.append((found, log))
    return logs


def _ledger(logs: Sequence[tuple[Found, TrainingLog]]) -> None:
    rows: list[tuple[Cell, ...]] = []
    for found, log in logs:
        last = log.frame.ffill().iloc[-1]
        age = time.time() - found.modified
        state = f"no line for {age / 60:.0f} min" if age > STALE_SECONDS else "writing"
        sums = [float(last[name]) if name in log.measures and not pd.isna(last[name]) else None for name in LEDGER]
        rows.append((found.name, len(log.frame), int(last["step"]), *sums, log.skipped_lines, state))
    cols = columns(
        "training", ("lines", "int"), ("last step", "int"), ("tokens", "int"), ("seconds", "seconds"),
        ("unreadable lines", "int"), "state",
    )  # fmt: skip
    table = Table(
        "ledger", "What has been done so far", cols, tuple(rows), ("tokens and seconds: as the last line states them.",)
    )
    tables.show(table, key="ledger")
    totals = [name for _, log in logs for name in log.measures if name.startswith("ledger.")]
    if totals:
        cols = columns("what", *((found.name, "number") for found, _ in logs))
        lines = tuple((name.removeprefix("ledger."), *(_last(log, name) for _, log in logs)) for name in dict.fromkeys(totals))
        tables.show(
            Table("compute", "What it has cost so far", cols, lines, ("Running totals of the last line.",)), key="compute"
        )


def _last(log: TrainingLog, name: str) -> float | None:
    if name not in log.frame:
        return None
    known = log.frame[name].dropna()
    return float(known.iloc[-1]) if len(known) else None


def _measures(logs: Sequence[TrainingLog]) -> list[str]:
    found = dict.fromkeys(name for log in logs for name in log.measures)
    return [*(name for name in FIRST if name in found), *(name for name in found if name not in FIRST)]


def _curve(measure: str, logs: Sequence[tuple[Found, TrainingLog]], smoothing: int) -> None:
    series: list[Series] = []
    shown: list[tuple[Cell, ...]] = []
    for number, (found, log) in enumerate(logs):
        if measure not in log.frame:
            continue
        frame = log.frame[["step", measure]].dropna()
        raw = frame[measure].astype(float)
        colour = palette.SERIES[number % len(palette.SERIES)]
        smoothed = smoothing > 1 and len(frame) >= ENOUGH * smoothing
        smooth = raw.ewm(span=smoothing).mean() if smoothed else raw
        every = max(1, len(frame) // MAX_POINTS)
        xs = [float(x) for x in frame["step"].iloc[::every]]
        if smoothed:
            series.append(Series(found.name, xs, raw.iloc[::every].tolist(), colour=colour, faint=True))
        series.append(Series(found.name, xs, smooth.iloc[::every].tolist(), colour=colour))
        shown += [(found.name, x, y) for x, y in zip(xs, raw.iloc[::every], strict=True)]
    states.heading(measure, key=f"measure-{safe.slug(measure)}")
    charts.show(charts.curves(series, x="step", y="", height=240), key=f"curve-{measure}", name="training")
    table = Table("curve", measure, columns("training", ("step", "number"), ("value", "number")), tuple(shown))
    tables.download(Report(measure, "", (), (table,)), key=f"curve-{safe.slug(measure)}")


def _watch(chosen: Sequence[Found]) -> None:
    """Draw anew when a chosen training has written a line."""
    drawn = {found.directory / TRAIN_LOG: results_files.stamp(found.directory / TRAIN_LOG) for found in chosen}

    @st.fragment(run_every=REFRESH_SECONDS)
    def watcher() -> None:
        if any(results_files.stamp(path) != before for path, before in drawn.items()):
            st.rerun(scope="app")

    watcher()
