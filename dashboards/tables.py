"""`results.tables.Table` on a page: numbers that sort, fixed formats, dashes for what was not measured, and its exports.

Exports come from `results.render`: the same numbers as `harness report --format`, escaped for their format (a cell that
begins like a formula does not run in a spreadsheet). Streamlit's own export, which escapes nothing, is off (server).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboards import safe, states
from results.intervals import Interval
from results.render import Format, render
from results.tables import DASH, Cell, Kind, Report, Table, written
from results.text import one_line

ROW_PIXELS = 35
MAX_HEIGHT = 460

EXPORTS = (
    (Format.CSV, "CSV", "csv", "text/csv"),
    (Format.MD, "Markdown", "md", "text/markdown"),
    (Format.LATEX, "LaTeX", "tex", "text/plain"),
    (Format.JSON, "JSON", "json", "application/json"),
)

_FORMATS: dict[Kind, tuple[str, float]] = {
    "int": ("%,d", 1),
    "percent": ("%.1f%%", 100),
    "points": ("%+.1f", 100),
    "number": ("%,.2f", 1),
    "seconds": ("%,.1f s", 1),
}
"""A p-value is a text, "< 0.001" where it is: the grid would round it to 0.001. As texts they sort as well, < before 0."""


def show(table: Table, *, key: str, title: bool = True, exports: bool = True, select: bool = False) -> int | None:
    """Draw a table. With `select`, returns the index of the clicked row (in `table.rows`), else None."""
    if title:
        states.heading(table.title, key=key)
    clicked = grid(frame(table), key=key, configuration=configuration(table), select=select)
    if exports:
        download(Report(table.title, "", (), (table,)), key=key)
    for number, text in enumerate(table.notes):
        states.note(text, key=f"{key}-{number}")
    return clicked


def clickable(shown: pd.DataFrame, *, key: str) -> int | None:
    """Draw a frame of texts and numbers; the position of the line that was clicked, else None."""
    return grid(shown, key=key, configuration=None, select=True)


def grid(shown: pd.DataFrame, *, key: str, configuration: dict[str, Any] | None, select: bool) -> int | None:
    """Streamlit's grid as all our tables use it."""
    event: Any = st.dataframe(
        shown,
        key=f"table-{key}",
        hide_index=True,
        width="stretch",
        height=height(len(shown)),
        column_config=configuration,
        placeholder=DASH,
        on_select="rerun" if select else "ignore",
        selection_mode="single-cell",
    )
    cells = event.selection.cells if select else []
    return int(cells[0][0]) if cells and cells[0][0] < len(shown) else None


def frame(table: Table) -> pd.DataFrame:
    """Cells as Streamlit's grid takes them. Two columns of one name would collide: the later gets a number."""
    names = unique([one_line(column.name, 60) for column in table.columns])
    return pd.DataFrame(
        {
            name: [_cell(row[i], column.kind) for row in table.rows]
            for i, (name, column) in enumerate(zip(names, table.columns, strict=True))
        }
    )


def configuration(table: Table) -> dict[str, Any]:
    """How each column is written. Columns that mix numbers and words are words."""
    names = unique([one_line(column.name, 60) for column in table.columns])
    found: dict[str, Any] = {}
    for i, (name, column) in enumerate(zip(names, table.columns, strict=True)):
        numeric = column.kind in _FORMATS and not any(isinstance(row[i], str) for row in table.rows)
        if numeric:
            found[name] = st.column_config.NumberColumn(format=_FORMATS[column.kind][0])
        else:
            found[name] = st.column_config.TextColumn(alignment="right" if column.numeric else "left")
    return found


def unique(names: Sequence[str]) -> list[str]:
    """The names, later namesakes numbered."""
    return list(safe.labels(names))


def height(rows: int) -> int:
    """Pixels for a grid of so many rows and its header; longer ones scroll."""
    return min(MAX_HEIGHT, ROW_PIXELS * (rows + 1) + 3)


def download(report: Report, *, key: str) -> None:
    """One small button per format; the text is made when one is pressed."""
    with st.container(horizontal=True, gap="small", key=f"exports-{key}"):
        for form, label, ending, mime in EXPORTS:
            st.download_button(
                label,
                data=_renderer(report, form),
                file_name=safe.file_name(report.title, ending=ending),
                mime=mime,
                key=f"export-{key}-{ending}",
                type="tertiary",
                icon=":material/download:",
                on_click="ignore",
            )


def _renderer(report: Report, form: Format) -> Callable[[], bytes]:
    return lambda: render(report, form).encode()


def _cell(cell: Cell, kind: Kind) -> str | float | None:
    if cell is None or cell == "":
        return None
    if isinstance(cell, str):
        return one_line(cell, 400)
    if isinstance(cell, Interval) or kind not in _FORMATS:
        return written(cell, kind)
    return cell * _FORMATS[kind][1]
