"""Reports in a terminal. What is cut says so, and is in the other formats.

Long tables show their first rows. Where a table is wider than the terminal, count columns that hold nothing but zeros and
dashes are named in one line instead; numbers are never broken over lines.
"""

from __future__ import annotations

from textwrap import wrap

from rich import box
from rich.console import Console
from rich.segment import Segments
from rich.table import Table as RichTable
from rich.text import Text

from results.tables import Column, Report, Table, written
from results.text import one_line, printable

MAX_ROWS = 25
MIN_TEXT_WIDTH = 28
HEADER_WIDTH = 8


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
    shown = list(range(len(table.columns)))
    grid = _grid(table, shown, max_rows)
    if _width(grid, console) > console.width:
        shown = [i for i in shown if _holds_something(table, i)]
        grid = _grid(table, shown, max_rows)
    console.print(Text(one_line(table.title), style="bold"))
    options = console.options.update_width(max(_width(grid, console), console.width))
    console.print(Segments(console.render(grid, options)), crop=False, end="")
    body = len(table.rows) - table.total
    if max_rows is not None and body > max_rows:
        console.print(Text(f"… {body - max_rows} more rows: --full", style="dim"))
    if len(shown) < len(table.columns):
        left_out = [i for i in range(len(table.columns)) if i not in shown]
        for said, unknown in (("Zero everywhere", False), ("Zero or not measured", True)):
            names = ", ".join(table.columns[i].name for i in left_out if _unknown(table, i) == unknown)
            if names:
                console.print(Text(f"{said}: {one_line(names)}.", style="dim"))
    for note in table.notes:
        console.print(Text(printable(note), style="dim"))


def _grid(table: Table, shown: list[int], max_rows: int | None) -> RichTable:
    grid = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for i in shown:
        column = table.columns[i]
        header = _header(column)
        longest = max((len(written(row[i], column.kind)) for row in table.rows), default=0)
        if column.numeric:
            width = max(longest, *(len(line) for line in header.plain.split("\n")))
            grid.add_column(header, justify="right", no_wrap=True, min_width=width)
        else:
            grid.add_column(header, overflow="fold", min_width=min(longest, MIN_TEXT_WIDTH))
    rows, total = (table.rows[:-1], table.rows[-1:]) if table.total else (table.rows, ())
    for row in rows if max_rows is None else rows[:max_rows]:
        grid.add_row(*(Text(written(row[i], table.columns[i].kind)) for i in shown))
    if total:
        grid.add_section()
        grid.add_row(*(Text(written(total[0][i], table.columns[i].kind), style="bold") for i in shown))
    return grid


def _header(column: Column) -> Text:
    name = one_line(column.name)
    return Text("\n".join(wrap(name, HEADER_WIDTH, break_long_words=False)) if column.numeric else name)


def _width(grid: RichTable, console: Console) -> int:
    """Columns that the grid takes when its numbers are whole and its texts as narrow as they go."""
    return grid.__rich_measure__(console, console.options.update_width(10_000)).minimum


def _holds_something(table: Table, column: int) -> bool:
    return table.columns[column].kind != "int" or any(row[column] for row in table.rows)


def _unknown(table: Table, column: int) -> bool:
    """A dash somewhere, which is no zero."""
    return any(row[column] is None for row in table.rows)
