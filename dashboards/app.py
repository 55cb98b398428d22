"""The app: navigation, the bar with the chosen runs, then the page; drawn anew from top to bottom at every click."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dashboards import context, links, memory, states, style
from dashboards.context import Context
from dashboards.loading import Problem
from dashboards.pages import ablations, audit, benchmarks, explorer, overview, training, world_model

log = logging.getLogger(__name__)

ABOUT_RUNS = ("overview", "benchmarks", "episodes")
"""Pages that need a run to be chosen."""

PAGES: tuple[tuple[str, str, str, Callable[[Context], None]], ...] = (
    ("overview", "Overview", ":material/home:", overview.draw),
    ("benchmarks", "Benchmarks", ":material/leaderboard:", benchmarks.draw),
    ("episodes", "Episodes", ":material/list_alt:", explorer.draw),
    ("world-model", "World model", ":material/public:", world_model.draw),
    ("audit", "Audit", ":material/fact_check:", audit.draw),
    ("ablations", "Ablations", ":material/grid_on:", ablations.draw),
    ("training", "Training", ":material/show_chart:", training.draw),
)
"""Name in the URL, title, icon, how to draw it."""


def main(root: Path) -> None:
    """Draw one page about the results below `root`."""
    st.set_page_config(page_title="dynaweb-harness", page_icon="📏", layout="wide")
    pages = {name: _page(name, title, icon, draw, root) for name, title, icon, draw in PAGES}
    links.register(pages)
    chosen = st.navigation(list(pages.values()))
    style.apply()
    chosen.run()


def _page(name: str, title: str, icon: str, draw: Callable[[Context], None], root: Path) -> st.Page:
    def run() -> None:
        st.header(title, anchor=False)
        shared = context.choose(root, name, pickers=name in ABOUT_RUNS)
        try:
            draw(shared)
        except Exception as error:
            log.exception("page %s", name)
            states.broken(Problem(f"{type(error).__name__}: {error}", "report it with the log of harness dashboard"), BROKEN)
        if shared.large:
            memory.trim()

    return st.Page(run, title=title, icon=icon, url_path=name, default=name == "overview")


BROKEN = "This page met something it does not understand; the others still work."
