"""World model: how well pages are foreseen, always beside the copy baseline; what `harness fidelity` wrote.

delta F1 per model with intervals · figures · by site, action, size · free running · calibration
worst predictions → predicted and real page side by side (dashboards.pages.prediction)
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from audits.fidelity import FidelityReport, Figure, ModelFidelity
from audits.fidelity.tables import report
from dashboards import charts, palette, results_files, states, tables
from dashboards.charts import RateLine, Series
from dashboards.context import Context
from dashboards.loading import Problem
from dashboards.pages import prediction
from results.discovery import Found
from results.intervals import Interval
from results.tables import Report

COMMAND = "harness fidelity checkpoints/nano copy --data data/arena --limit 500"
MAX_MODELS = 7
CUTS = {"site": "By site", "action": "By action", "edits": "By number of changed nodes", "seen": "By what training had seen"}


def draw(context: Context) -> None:
    """Draw the page."""
    found = results_files.pick(context.discovery, "fidelity", "Fidelity file", key="fidelity")
    if found is None:
        states.nothing_yet(
            "No world model has been measured here yet. This asks one about recorded transitions, beside the copy baseline:",
            COMMAND,
            details="The data set comes from harness data build; figures land in fidelity.json, which this page reads.",
        )
        return
    read = results_files.fidelity(found)
    if isinstance(read, Problem):
        states.broken(read, "This fidelity file cannot be read.")
        return
    if not read.models:
        st.info("The file holds no model: the measuring has not finished its first one.", icon=":material/hourglass_empty:")
        return
    tabled = report(read)
    states.heading(tabled.summary, key="summary")
    names = list(_TABS)
    for name, tab in zip(names, st.tabs(names, key="tab", bind="query-params"), strict=True):
        if tab.open:
            with tab:
                _TABS[name](context, found, read, tabled)


def _figures(_: Context, __: Found, read: FidelityReport, tabled: Report) -> None:
    models = read.models[:MAX_MODELS]
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("What the action changed: delta F1", anchor=False)
        charts.show(charts.rates({"delta F1": [_line(m, "delta.f1") for m in models]}), key="delta", name="delta-f1")
    with right:
        st.subheader("The whole page, beside a copy of the last one", anchor=False)
        series = {
            "full-page F1": [_line(m, "full.f1") for m in models],
            "copy": [_line(m, "full.copy_f1") for m in models],
        }
        charts.show(charts.rates(series, colours=(palette.DREAMED, palette.GREY)), key="full", name="full-page-f1")
    states.warnings(tabled.warnings)
    tables.download(tabled, key="all")
    for number, table in enumerate(t for t in tabled.tables if not t.name.startswith(("cuts", "free-running"))):
        tables.show(table, key=f"figure-{number}")
    with st.expander("How these numbers are defined"):
        for text in read.conventions:
            st.text(f"• {text}")


def _parts(_: Context, __: Found, read: FidelityReport, tabled: Report) -> None:
    for by, title in CUTS.items():
        series = {model.spec: [_cut(cut.value, cut.figures.get("delta.f1")) for cut in model.cuts if cut.by == by]
                  for model in read.models[:MAX_MODELS]}  # fmt: skip
        if any(series.values()):
            st.subheader(title, anchor=False)
            charts.show(charts.rates(series), key=f"cut-{by}", name=f"delta-f1-{by}")
    for number, table in enumerate(t for t in tabled.tables if t.name.startswith("cuts")):
        tables.show(table, key=f"cuts-{number}")


def _horizon(_: Context, __: Found, read: FidelityReport, tabled: Report) -> None:
    models = [model for model in read.models[:MAX_MODELS] if model.depths]
    if not models:
        states.nothing_yet(
            "No model was let go on from its own pages. This measures how errors add up:",
            f"{COMMAND} --free-running",
        )
        return
    for figure, title in (("free.delta_f1", "Delta F1 at depth h, on its own pages"), ("kappa.delta", "κ(h): free over forced")):
        st.subheader(title, anchor=False)
        series = [_depths(model, figure, number) for number, model in enumerate(models)]
        percent = figure.startswith("free")
        charts.show(charts.curves(series, x="depth h", y="F1" if percent else "ratio", percent=percent), key=figure, name=figure)
    for number, table in enumerate(t for t in tabled.tables if t.name.startswith("free-running")):
        tables.show(table, key=f"free-{number}")


def _calibration(_: Context, __: Found, read: FidelityReport, ___: Report) -> None:
    kinds = sorted({name for model in read.models for name, bins in model.reliability.items() if bins})
    if not kinds:
        st.info("No model stated a confidence, so there is nothing to calibrate.", icon=":material/inbox:")
        return
    for kind in kinds:
        st.subheader("Stated and observed, by bins of equal mass", anchor=False)
        states.note(kind, key=f"kind-{kind}")
        series = [Series("perfect", (0.0, 1.0), (0.0, 1.0), colour=palette.GREY, dashed=True)]
        for number, model in enumerate(read.models[:MAX_MODELS]):
            bins = model.reliability.get(kind, ())
            if bins:
                xs, ys = [b.stated for b in bins], [b.observed for b in bins]
                low, high = [b.low for b in bins], [b.high for b in bins]
                series.append(Series(model.spec, xs, ys, low, high, colour=palette.SERIES[number]))
        charts.show(charts.curves(series, x="stated", y="observed", percent=True), key=f"reliability-{kind}", name="reliability")


def _errors(context: Context, found: Found, read: FidelityReport, _: Report) -> None:
    prediction.draw(context, found, read)


_TABS: dict[str, Callable[[Context, Found, FidelityReport, Report], None]] = {
    "Figures": _figures,
    "By part": _parts,
    "Horizon": _horizon,
    "Calibration": _calibration,
    "Worst predictions": _errors,
}


def _line(model: ModelFidelity, figure: str) -> RateLine:
    return _cut(model.spec, model.figures.get(figure))


def _cut(name: str, figure: Figure | None) -> RateLine:
    if figure is None or figure.value is None:
        return RateLine(name, None, None, 0)
    interval = Interval(figure.low, figure.high) if figure.low is not None and figure.high is not None else None
    return RateLine(name, figure.value, interval, figure.n)


def _depths(model: ModelFidelity, figure: str, number: int) -> Series:
    found = [(depth.depth, depth.figures.get(figure)) for depth in model.depths]
    return Series(
        name=model.spec,
        x=[depth for depth, _ in found],
        y=[f.value if f else None for _, f in found],
        low=[f.low if f else None for _, f in found],
        high=[f.high if f else None for _, f in found],
        colour=palette.SERIES[number % len(palette.SERIES)],
    )
