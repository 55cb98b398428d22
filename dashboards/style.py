"""A few lines of CSS, all constant: less padding than Streamlit's own, and looks for plain text that stands as a heading."""

from __future__ import annotations

import streamlit as st

_CSS = """
<style>
.block-container { padding-top: 3.2rem; padding-bottom: 3rem; max-width: 1500px; }
[class*="st-key-heading"] [data-testid="stText"] { font-weight: 600; font-size: 1.15rem; margin-top: .4rem; }
[class*="st-key-faint"] [data-testid="stText"] { opacity: .72; font-size: .86rem; }
[class*="st-key-summary"] [data-testid="stText"] { font-size: 1.1rem; font-weight: 500; }
[data-testid="stText"] { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
[class*="st-key-exports"] { margin-top: -.6rem; }
[class*="st-key-exports"] button { min-height: 1.4rem; font-size: .8rem; opacity: .8; }
[class*="st-key-tree"] code { font-size: .78rem; line-height: 1.35; unicode-bidi: isolate; }
</style>
"""


def apply() -> None:
    """Once per run of the script."""
    st.html(_CSS)
