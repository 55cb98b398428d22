"""Ablations: one grid at a time: dreamed success, REAL success and SSRF by level, with intervals; the papers' points apart.

curve │ table with n in each line │ cells: state, problem, runs │ shared cost │ settings that all cells share
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboards import charts, palette, rates, results_files, safe, states, tables
from dashboards.context import Context
from dashboards.loading import Problem
from results.ablations import Ablation, Cost, ablation_report, ablation_table
from results.manifest import flat
from results.published import load_published
from results.tables import facts

COMMAND = "harness ablate --config configs/ablations/dream_length.toml"


def draw(context: Context) -> None:
    """Draw the page."""
    found = results_files.pick(context.discovery, "ablation", "Grid", key="grid")
    if found is None:
        states.nothing_yet(
            "No ablation has been run here yet. This trains, dreams, evaluates for real and audits, cell by cell:",
            COMMAND,
            details="It resumes where it stopped, and the page shows each cell as it is done.",
        )
        return
    read = results_files.ablation(found)
    if isinstance(read, Problem):
        states.broken(read, "This grid cannot be read.")
        return
    _grid(read)


def _grid(ablation: Ablation) -> None:
    made = ablation_report(ablation, load_published())
    states.heading(f"{made.title}: {made.summary}", key="title")
    states.warnings(made.warnings, "Before you quote a number")
    table = ablation_table(ablation)
    series = {
        "dreamed success": rates.of_table(table, "dreamed success", "dreamed 95%", "n dreams"),
        "REAL success": rates.of_table(table, "REAL success", "REAL 95%", "n real"),
        "SSRF": rates.of_table(table, "SSRF", "SSRF 95%", "n replayed"),
    }
    figure = charts.rates(series, colours=(palette.DREAMED, palette.REAL, palette.VERMILION))
    charts.show(figure, key="levels", name="ablation")
    tables.download(made, key="report")
    for one in made.tables:
        tables.show(one, key=one.name, exports=False)
    st.subheader("Cells", anchor=False)
    st.dataframe(
        _cells(ablation), hide_index=True, height=tables.height(len(ablation.levels) * len(ablation.seeds)), placeholder="–"
    )
    tables.show(facts("shared", "What cells share has cost, once", _shared(ablation.shared_cost)), key="shared")
    if settings := [(name, None if value is None else str(value)) for name, value in flat(ablation.config)]:
        tables.show(facts("settings", "What all cells share", settings), key="settings")


def _shared(cost: Cost) -> list[tuple[str, str | None]]:
    return [
        ("seconds", f"{cost.seconds:,.0f}"),
        ("trained tokens", f"{cost.train_tokens:,}"),
        ("world model tokens", f"{cost.world_model_tokens:,}"),
        ("real episodes", f"{cost.real_episodes:,}"),
    ]


def _cells(ablation: Ablation) -> pd.DataFrame:
    """Every planned cell; those that were not begun say so."""
    known = {(cell.level, cell.seed): cell for cell in ablation.cells}
    lines = []
    for level in ablation.levels:
        for seed in ablation.seeds:
            cell = known.get((level, seed))
            lines.append(
                {
                    "level": safe.line(level, 60),
                    "seed": seed,
                    "state": cell.state if cell else "not run",
                    "seconds": cell.cost.seconds if cell and cell.state == "done" else None,
                    "problem": safe.line(cell.problem, 200) if cell else "",
                    "runs": safe.line(", ".join(f"{k}: {v}" for k, v in cell.runs.items()), 200) if cell else "",
                }
            )
    return pd.DataFrame(lines)
