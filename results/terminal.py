"""Reports in a terminal. Long tables are cut, and say so: the whole of them is in the other formats."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from results.tables import Report, Table, written
from results.text import one_line, printable

MAX_ROWS = 25


def print_report(report: Report, console: Console, *, max_rows: int | None = MAX_ROWS) -> None:
    """Print every table; None shows all rows of each."""
    console.print(Text(one_line(report.title), style="bold"))
    console.print(Text(printable(report.summary), style="bold green"))
    for warning in report.warnings:
        console.print(Text(f"! {printable(warning)}", style="yellow"))
    for table in report.tables:
        console.print()
        print_table(table, console, max_rows=max_rows)


def print_table(table: Table, console: Console, *, max_rows: int | None = MAX_ROWS) -> None:
    """Print one table and its notes. A total row is always shown."""
    grid = RichTable(title=Text(one_line(table.title), style="bold"), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    for column in table.columns:
        grid.add_column(Text(one_line(column.name)), justify="right" if column.numeric else "left", overflow="fold")
    rows, total = (table.rows[:-1], table.rows[-1:]) if table.total else (table.rows, ())
    shown = rows if max_rows is None else rows[:max_rows]
    for row in shown:
        grid.add_row(*(Text(written(cell, column.kind)) for cell, column in zip(row, table.columns, strict=True)))
    if total:
        grid.add_section()
        cells = zip(total[0], table.columns, strict=True)
        grid.add_row(*(Text(written(cell, column.kind), style="bold") for cell, column in cells))
    console.print(grid)
    if len(shown) < len(rows):
        console.print(Text(f"… {len(rows) - len(shown)} more rows: --full", style="dim"))
    for note in table.notes:
        console.print(Text(printable(note), style="dim"))
