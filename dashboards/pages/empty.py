"""Pages without data: what is missing and the command that makes it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboards import safe, states

RUN_COMMAND = "harness run --bench miniwob --tasks 'click-*' --workers 1"


def no_runs(root: Path) -> None:
    """There is no run below the directory."""
    states.nothing_yet("There is no run here yet. This makes a small one, in a real browser:", RUN_COMMAND)
    st.text(f"Looked in {safe.line(root, 200)} and below.")
