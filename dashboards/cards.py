"""Cards with one number each. All three texts are words of ours and numbers: Streamlit reads them as Markdown."""

from __future__ import annotations

import streamlit as st

from audits.metrics.numbers import Estimate
from results.tables import DASH, written


def card(label: str, value: str, below: str) -> None:
    """A number, what it is, and what it rests on."""
    st.metric(label, value, below, border=True, delta_color="off", delta_arrow="off", height="stretch")


def estimate(label: str, found: Estimate | None, absent: str) -> None:
    """An estimate in percent with its interval and n; `absent` says why there is none."""
    if found is None or found.value is None:
        card(label, DASH, absent)
    else:
        interval = f"{written(found.interval, 'interval')}, " if found.interval else ""
        card(label, written(found.value, "percent"), f"{interval}n = {found.n:,}")
