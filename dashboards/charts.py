"""Figures. Every label goes through `safe.label`; intervals are whiskers; n stands in the label or beside it.

Each figure can be saved as SVG from its toolbar, and its numbers are in the table beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped]
import streamlit as st

from dashboards import palette, safe
from results.intervals import Interval


@dataclass(frozen=True)
class RateLine:
    """One line of a chart of rates. Fractions of 1; None = not measured."""

    name: str
    value: float | None
    interval: Interval | None
    n: int


@dataclass(frozen=True)
class Series:
    """One line of a chart over x, with an optional band (low, high)."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    colour: str = ""
    step: bool = False
    dashed: bool = False
    faint: bool = False
    """Drawn behind its namesake, and not in the legend."""


def show(figure: go.Figure, *, key: str, name: str) -> None:
    """Draw a figure. `name` is the file name, a constant of ours, that its toolbar saves under."""
    config: dict[str, Any] = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {"format": "svg", "filename": name},
        "responsive": True,
    }
    st.plotly_chart(figure, width="stretch", config=config, key=f"figure-{key}", alt=name)


def rates(series: Mapping[str, Sequence[RateLine]], *, colours: Sequence[str] = palette.SERIES, limit: int = 40) -> go.Figure:
    """Rates as points with whiskers, one row per name, one colour per series. Unmeasured names keep their row, empty."""
    figure = go.Figure()
    count = max((len(lines) for lines in series.values()), default=0)
    offsets = [0.0] if len(series) == 1 else [0.14 - 0.28 * i / (len(series) - 1) for i in range(len(series))]
    names: list[str] = []
    for lines in series.values():
        names += [line.name for line in lines[:limit] if line.name not in names]
    for (title, lines), colour, offset in zip(series.items(), colours, offsets, strict=False):
        shown = [line for line in lines[:limit] if line.value is not None]
        figure.add_trace(
            go.Scatter(
                x=[100 * (line.value or 0) for line in shown],
                y=[names.index(line.name) + offset for line in shown],
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": [_whisker(line, high=True) for line in shown],
                    "arrayminus": [_whisker(line, high=False) for line in shown],
                    "thickness": 2,
                    "width": 5,
                },
                mode="markers",
                marker={"size": 10, "color": colour},
                name=safe.label(title, 40),
                customdata=[[safe.label(line.name), line.n, safe.label(_interval(line))] for line in shown],
                hovertemplate="%{customdata[0]}: %{x:.1f}% %{customdata[2]}, n = %{customdata[1]:,}<extra></extra>",
            )
        )
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=[safe.label(name, 28) for name in names], range=[len(names) - 0.5, -0.5]
    )
    figure.update_xaxes(range=[-2, 102], ticksuffix="%")
    figure.update_layout(
        height=110 + 34 * max(1, min(count, limit)), margin={"l": 10, "r": 10, "t": 30, "b": 30},
        showlegend=len(series) > 1, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    )  # fmt: skip
    return figure


def curves(
    series: Sequence[Series], *, x: str, y: str, percent: bool = False, log_y: bool = False, height: int = 300
) -> go.Figure:
    """Lines over x with bands. Gaps stay gaps. `x` and `y` name the axes and may hold data."""
    figure = go.Figure()
    scale = 100 if percent else 1
    for number, line in enumerate(series):
        colour = line.colour or palette.SERIES[number % len(palette.SERIES)]
        if line.low and line.high:
            figure.add_trace(_band(line, colour, scale))
        figure.add_trace(
            go.Scatter(
                x=list(line.x),
                y=[None if value is None else scale * value for value in line.y],
                name=safe.label(line.name, 40),
                mode="lines+markers" if len(line.x) <= 40 and not line.faint else "lines",
                opacity=0.25 if line.faint else 1,
                showlegend=not line.faint,
                line={
                    "color": colour,
                    "width": 2,
                    "shape": "hv" if line.step else "linear",
                    "dash": "dot" if line.dashed else "solid",
                },
                hovertemplate=f"%{{x}}: %{{y:.4g}}{'%' if percent else ''}<extra>{safe.label(line.name, 40)}</extra>",
            )
        )
    figure.update_xaxes(title=safe.label(x))
    figure.update_yaxes(title=safe.label(y), ticksuffix="%" if percent else "", type="log" if log_y else "linear")
    figure.update_layout(
        height=height, margin={"l": 10, "r": 10, "t": 30, "b": 40},
        showlegend=sum(not line.faint for line in series) > 1, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    )  # fmt: skip
    return figure


def _band(line: Series, colour: str, scale: float) -> go.Scatter:
    kept = [
        (x, low, high) for x, low, high in zip(line.x, line.low, line.high, strict=True) if low is not None and high is not None
    ]
    if line.step:
        # Each value holds up to the next x: Plotly's own steps would come out mirrored on the way back.
        until = [x for x, _, _ in kept[1:]] + [x for x, _, _ in kept[-1:]]
        kept = [(x, low, high) for (start, low, high), end in zip(kept, until, strict=True) for x in (start, end)]
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return go.Scatter(
        x=[x for x, _, _ in kept] + [x for x, _, _ in reversed(kept)],
        y=[scale * high for _, _, high in kept] + [scale * low for _, low, _ in reversed(kept)],
        mode="lines",
        fill="toself",
        fillcolor=f"rgba({red},{green},{blue},0.18)",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )


def _whisker(line: RateLine, *, high: bool) -> float:
    if line.interval is None or line.value is None:
        return 0.0
    return 100 * (line.interval.high - line.value if high else line.value - line.interval.low)


def _interval(line: RateLine) -> str:
    return f"[{100 * line.interval.low:.1f}, {100 * line.interval.high:.1f}]" if line.interval else ""
