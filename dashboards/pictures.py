"""Screenshots: bytes from a validated path, looked at before they are shown. A damaged file is named, never an exception."""

from __future__ import annotations

import io

import streamlit as st
from PIL import Image

from dashboards import safe
from harness.errors import UsageError
from results.reader import RunReader

MAX_BYTES = 30 * 2**20
MAX_PIXELS = 40_000_000


def screenshot(run: RunReader, episode_id: str, name: str, *, alt: str) -> None:
    """Draw one step's screenshot, or say why there is none. `alt` is a constant of ours."""
    if not name:
        st.caption("No screenshot was taken at this step.")
        return
    try:
        data = run.screenshot(episode_id, name)
        problem = _problem(data)
    except (UsageError, OSError) as error:
        problem = str(error)
    if problem:
        st.warning("The screenshot cannot be shown.", icon=":material/broken_image:")
        st.text(safe.line(problem))
    else:
        st.image(data, width="stretch", alt=alt)


def _problem(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        return f"{len(data):,} bytes: too large to show"
    try:
        with Image.open(io.BytesIO(data), formats=("PNG",)) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                return f"{picture.width} × {picture.height} pixels: too large to show"
            picture.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return f"not a readable PNG: {error}"
    return ""
