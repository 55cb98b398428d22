"""Reports as Markdown, CSV, JSON and LaTeX.

JSON and CSV carry raw values (rates as fractions, intervals as two numbers); Markdown and LaTeX what people read. CSV is
one tidy table (table, row, column, value), because a report's tables have different columns. All text is escaped for
its format: a task id or an error message can hold anything.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from enum import StrEnum

from results.intervals import Interval
from results.tables import Cell, Report, Table, written
from results.text import one_line


class Format(StrEnum):
    MD = "md"
    CSV = "csv"
    JSON = "json"
    LATEX = "latex"


def render(report: Report, form: Format) -> str:
    """The whole report as text that ends with a newline."""
    return _RENDERERS[form](report).rstrip("\n") + "\n"


def _markdown(report: Report) -> str:
    parts = [f"# {_md(report.title)}", "", f"**{_md(report.summary)}**", ""]
    if report.warnings:
        parts += ["Before you quote a number:", "", *(f"- {_md(warning)}" for warning in report.warnings), ""]
    for table in report.tables:
        parts += [f"## {_md(table.title)}", "", _md_row([_md(column.name) for column in table.columns])]
        parts.append("| " + " | ".join("---:" if column.numeric else "---" for column in table.columns) + " |")
        for row in _written_rows(table):
            parts.append(_md_row([c if k.numeric else _md(c) for c, k in zip(row, table.columns, strict=True)]))
        parts += ["", *(f"{_md(note)}  " for note in table.notes), ""]
    return "\n".join(parts)


def _latex(report: Report) -> str:
    parts = [f"% {one_line(line, 400)}" for line in (report.title, report.summary, *report.warnings)]
    parts.append(r"% needs \usepackage{booktabs}")
    for table in report.tables:
        rows = [_tex_row(cells) for cells in _written_rows(table)]
        if table.total and len(rows) > 1:
            rows.insert(-1, r"\midrule")
        parts += [
            "",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_tex(table.title)}}}",
            rf"\label{{tab:{re.sub(r'[^a-z0-9-]+', '-', table.name.lower())}}}",
            rf"\begin{{tabular}}{{{''.join('r' if c.numeric else 'l' for c in table.columns)}}}",
            r"\toprule",
            _tex_row([column.name for column in table.columns]),
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\footnotesize {_tex(note)}" for note in table.notes),
            r"\end{table}",
        ]
    return "\n".join(parts)


def _json(report: Report) -> str:
    tables = [
        {
            "name": table.name,
            "title": table.title,
            "columns": [{"name": column.name, "kind": column.kind} for column in table.columns],
            "rows": [[_raw(cell) for cell in row] for row in table.rows],
            "total": table.total,
            "notes": list(table.notes),
        }
        for table in report.tables
    ]
    data = {"title": report.title, "summary": report.summary, "warnings": list(report.warnings), "tables": tables}
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)


def _csv(report: Report) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["table", "row", "column", "value"])
    for number, warning in enumerate(report.warnings, 1):
        writer.writerow(["warnings", number, "warning", _csv_text(warning)])
    for table in report.tables:
        for number, row in enumerate(table.rows, 1):
            for column, cell in zip(table.columns, row, strict=True):
                for name, value in _csv_cells(_csv_text(column.name), cell):
                    writer.writerow([_csv_text(table.name), number, name, value])
    return buffer.getvalue()


def _csv_cells(name: str, cell: Cell) -> list[tuple[str, str | float | int]]:
    if isinstance(cell, Interval):
        return [(f"{name} low", cell.low), (f"{name} high", cell.high)]
    if cell is None:
        return [(name, "")]
    return [(name, _csv_text(cell) if isinstance(cell, str) else cell)]


def _csv_text(text: str) -> str:
    # Spreadsheets execute a cell that begins like a formula.
    line = one_line(text, 400)
    return f"'{line}" if line[:1] in ("=", "+", "-", "@") else line


def _raw(cell: Cell) -> str | float | int | list[float] | None:
    return [cell.low, cell.high] if isinstance(cell, Interval) else cell


def _written_rows(table: Table) -> list[list[str]]:
    return [[written(cell, column.kind) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]


def _md_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _md(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|~&])", r"\\\1", one_line(text, 400))


def _tex_row(cells: list[str]) -> str:
    return " & ".join(_tex(cell) for cell in cells) + r" \\"


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in one_line(text, 400))


_TEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "…": r"\ldots{}",
    "×": r"$\times$",
}

_RENDERERS: dict[Format, Callable[[Report], str]] = {
    Format.MD: _markdown,
    Format.CSV: _csv,
    Format.JSON: _json,
    Format.LATEX: _latex,
}
