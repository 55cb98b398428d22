"""From page to page. Pages are known by a short name; the chosen runs go along in the URL."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

_KEY = "_pages"


def register(pages: dict[str, st.Page]) -> None:
    """Make the pages of this session known."""
    st.session_state[_KEY] = pages


Query = str | list[str]


def go(name: str, **query: Query) -> NoReturn:
    """Open another page, with these query parameters; it keeps the chosen runs by itself (dashboards.context)."""
    st.switch_page(st.session_state[_KEY][name], query_params=query)


def here(forget: tuple[str, ...] = (), **query: str) -> NoReturn:
    """Draw this page anew with other query parameters; none of them may be bound to a widget."""
    for name in forget:
        if name in st.query_params:
            del st.query_params[name]
    for name, value in query.items():
        st.query_params[name] = value
    st.rerun()


def link(name: str, label: str, icon: str | None = None, **query: Query) -> None:
    """A link. `label` and `icon` are constants of ours."""
    st.page_link(st.session_state[_KEY][name], label=label, icon=icon, query_params=_with_runs(query))


def _with_runs(query: dict[str, Query]) -> dict[str, Query]:
    chosen = {key: st.session_state.get(key) for key in ("run", "vs")}
    return {**{key: str(value) for key, value in chosen.items() if value}, **query}
