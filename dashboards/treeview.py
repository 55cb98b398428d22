"""Trees on a page: changes marked, long ones shortened, the whole as a download. Drawn as code, never as markup."""

from __future__ import annotations

import streamlit as st

from dashboards import safe, states
from dashboards.cache import Latest
from dashboards.trees import Marked, as_text, changed_only, marked

LINES = 400
_compared: Latest[Marked] = Latest(32)


def page(now: str, before: str | None, *, key: str, what: str) -> None:
    """One page against the one before it, if there is one. `what` is a constant of ours."""
    found = compare(now, before)
    st.caption(f"{what} {counted(found)}")
    only = False
    if found.compared and found.changes:
        only = st.toggle("Changes only", key=f"only-{key}", value=len(found.lines) > LINES)
    elif found.compared:
        st.caption("Nothing changed.")
    _code(found, only, key)


def side_by_side(left: tuple[str, str], right: tuple[str, str], before: str | None, *, key: str) -> None:
    """Two pages that should be the same, each against the page before the action. Titles are constants of ours."""
    only = st.toggle("Changes only", key=f"only-{key}", value=True)
    for column, (title, text) in zip(st.columns(2), (left, right), strict=True):
        found = compare(text, before)
        with column:
            states.note(f"{title}: {counted(found)}", key=f"{key}-{title}")
            _code(found, only and bool(found.changes), f"{key}-{title}")


def compare(now: str, before: str | None) -> Marked:
    """`marked`, remembered: stepping to and fro compares nothing twice."""
    return _compared.get((now, before), 0, lambda: marked(before, now))


def counted(found: Marked) -> str:
    """What changed, in numbers."""
    if not found.compared:
        return f"{len(found.lines):,} nodes."
    words = {"+": "new", "~": "changed", ">": "moved", "-": "gone"}
    parts = [f"{found.changes.get(mark, 0):,} {word} ({mark})" for mark, word in words.items()]  # type: ignore[call-overload]
    return f"{len(found.lines):,} lines: {', '.join(parts)}."


def _code(found: Marked, only: bool, key: str) -> None:
    lines = changed_only(found.lines) if only else list(found.lines)
    with st.container(key=f"tree-{safe.slug(key)}"):
        st.code(as_text(lines, LINES) or "(an empty page)", language="diff", height=min(620, 60 + 21 * max(1, len(lines))))
    st.download_button(
        "The whole tree",
        data=lambda: "\n".join(map(str, found.lines)).encode(),
        file_name=safe.file_name("tree", key, ending="txt"),
        mime="text/plain",
        key=f"download-{key}",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
    )
