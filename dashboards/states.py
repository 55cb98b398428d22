"""Empty and broken states, explained: what is missing, and the command that makes it. And text with a meaning, as text.

The words are ours and constant; what a file contributed stands below them, literally.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboards import safe
from dashboards.loading import Problem


def nothing_yet(what: str, command: str, *, details: str = "") -> None:
    """There is no data of this kind: say so, and what makes it. All three are constants of ours."""
    st.info(what, icon=":material/inbox:")
    if details:
        st.caption(details)
    st.code(command, language="bash")


def broken(problem: Problem, what: str = "This cannot be shown.") -> None:
    """Something that lies there and cannot be read. `what` is a constant of ours."""
    st.error(what, icon=":material/error:")
    st.text(safe.line(problem.what, 600))
    if problem.fix:
        st.text(f"What to do: {safe.line(problem.fix, 600)}")


def warnings(lines: Sequence[str], title: str = "Before you quote a number") -> None:
    """Reasons for care, in a box of their own."""
    if not lines:
        return
    with st.container(border=True, key=f"warnings-{abs(hash(title)) % 10_000}"):
        st.caption(f":material/warning: {title}")
        for text in lines:
            st.text(f"• {safe.line(text, 600)}")


def heading(text: str, *, key: str) -> None:
    """A heading that holds data: plain text in a heading's clothes. `key` is unique on the page."""
    with st.container(key=f"heading-{key}"):
        st.text(safe.line(text, 200))


def note(text: str, *, key: str) -> None:
    """A small, faint line that holds data."""
    with st.container(key=f"faint-{key}"):
        st.text(safe.line(text, 600))


def fact(name: str, value: object, *, key: str) -> None:
    """A name of ours and a value of somebody's, on one line."""
    with st.container(horizontal=True, gap="small", key=f"fact-{key}"):
        with st.container(width=130, key=f"faint-name-{key}"):
            st.text(name)
        with st.container(width="stretch"):
            st.text(safe.line(value, 2_000))
