"""What a report is made of: tables of raw values whose columns say how to write them.

    Report ── title, warnings, tables ── Table ── columns (name, kind), rows of cells, notes

Renderers (`results.render`) differ in syntax only, so a number is the same in every format. `None` is a dash: something
that was not measured is never a zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from results.intervals import Interval
from results.text import one_line

DASH = "–"

Kind = Literal["text", "int", "percent", "interval", "points", "points interval", "number", "seconds", "usd", "p"]
Cell = str | int | float | Interval | None


@dataclass(frozen=True)
class Column:
    """`kind`: percent and interval cells hold fractions of 1, points hold differences of fractions."""

    name: str
    kind: Kind = "text"

    @property
    def numeric(self) -> bool:
        return self.kind != "text"


@dataclass(frozen=True)
class Table:
    """`name` is stable, for programs; `title` is for people. The last row is a total where `total` is set."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    total: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name}: a row of {len(row)} cells under {len(self.columns)} columns")


@dataclass(frozen=True)
class Report:
    title: str
    summary: str
    """The main number in one sentence, with its denominator."""
    warnings: tuple[str, ...]
    """What a reader must know before quoting a number."""
    tables: tuple[Table, ...]


def columns(*names: str | tuple[str, Kind]) -> tuple[Column, ...]:
    return tuple(Column(name) if isinstance(name, str) else Column(*name) for name in names)


def facts(name: str, title: str, pairs: Sequence[tuple[str, str | None]], notes: Sequence[str] = ()) -> Table:
    """A two-column table of names and texts."""
    return Table(name, title, columns("what", "value"), tuple(pairs), tuple(notes))


def written(cell: Cell, kind: Kind) -> str:
    """A cell as people read it."""
    if cell is None or cell == "":
        return DASH
    if isinstance(cell, str):
        return one_line(cell, 400)
    if isinstance(cell, Interval):
        scale = f"{100 * cell.low:.1f}, {100 * cell.high:.1f}"
        return f"[{100 * cell.low:+.1f}, {100 * cell.high:+.1f}]" if kind == "points interval" else f"[{scale}]"
    return _WRITERS.get(kind, str)(cell)


_WRITERS = {
    "int": lambda x: f"{x:,.0f}",
    "percent": lambda x: f"{100 * x:.1f}%",
    "points": lambda x: f"{100 * x:+.1f}",
    "number": lambda x: f"{x:,.2f}",
    "seconds": lambda x: f"{x:,.1f} s",
    "usd": lambda x: f"${x:,.4f}" if 0 < x < 1 else f"${x:,.2f}",
    "p": lambda x: "< 0.001" if x < 0.001 else f"{x:.3f}",
}
