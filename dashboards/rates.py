"""Lines for a chart of rates, read from a table of results: the chart and the table cannot disagree."""

from __future__ import annotations

from dashboards.charts import RateLine
from results.intervals import Interval
from results.tables import Table


def of_table(table: Table, value: str = "of planned", interval: str = "95% interval", n: str = "planned") -> list[RateLine]:
    """One line per row; the first column is the name. A row without this n has no value, and keeps its place."""
    at = {column.name: i for i, column in enumerate(table.columns)}
    found: list[RateLine] = []
    for row in table.rows:
        rate, whiskers, count = row[at[value]], row[at[interval]], row[at[n]]
        found.append(
            RateLine(
                name=str(row[0]),
                value=rate if isinstance(rate, float | int) else None,
                interval=whiskers if isinstance(whiskers, Interval) else None,
                n=count if isinstance(count, int) else 0,
            )
        )
    return found
