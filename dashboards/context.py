"""What a page is about: the directory of results, run A, and run B if one is compared. Kept in the URL (`run`, `vs`)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dashboards import loading, safe
from dashboards.loading import Problem, RunView
from results.columns import fingerprint
from results.discovery import Discovery, Found

REFRESH_SECONDS = 5
MAX_REFRESH_SECONDS = 120

_CHOICE = "_choice"


@dataclass(frozen=True)
class Context:
    """The choice that all pages share. `first` is None where there is no run at all."""

    root: Path
    discovery: Discovery
    first: RunView | Problem | None
    second: RunView | Problem | None

    @property
    def runs(self) -> list[Found]:
        return self.discovery.of("run")

    @property
    def large(self) -> bool:
        """A chosen run is so large that it is read from its index."""
        return any(isinstance(view, RunView) and not view.columns.exact for view in (self.first, self.second))


def choose(root: Path, page: str, *, pickers: bool) -> Context:
    """Draw the bar with both pickers, and read what they say. Pages about other things keep the choice and draw no bar."""
    found = loading.discovery(root)
    runs = {item.name: item for item in found.of("run")}
    if not runs or not pickers:
        return Context(root, found, None, None)
    _into_url(page, runs)
    left, right, state = st.columns([5, 5, 4], vertical_alignment="bottom")
    with left:
        name = st.selectbox("Run", list(runs), index=None, key="run", bind="query-params")
        if name not in runs:
            name = st.session_state.get(_CHOICE, ("", {}))[1].get("run") or next(iter(runs))
    with right:
        others = [other for other in runs if other != name]
        other = st.selectbox("Compare with", others, index=None, key="vs", bind="query-params", placeholder="no second run")
    st.session_state[_CHOICE] = (page, {"run": name, "vs": other})
    first = loading.run_view(runs[name]) if name in runs else None
    second = loading.run_view(runs[other]) if other in runs else None
    with state:
        _state(first)
    _watch([view for view in (first, second) if isinstance(view, RunView)])
    return Context(root, found, first, second)


def _into_url(page: str, runs: dict[str, Found]) -> None:
    """A page that was opened without a run in its URL goes on with the one chosen before, else with the newest.

    In the URL, not as the picker's default: a default is not shown there, and a link would lead to another run tomorrow.
    """
    before, choice = st.session_state.get(_CHOICE, ("", {"run": next(iter(runs))}))
    for key, name in choice.items():
        fresh = before != page or key not in st.session_state
        if fresh and key not in st.query_params and name in runs:
            st.query_params[key] = st.session_state[key] = name


def _state(view: RunView | Problem | None) -> None:
    if not isinstance(view, RunView):
        return
    frame, manifest = view.columns.frame, view.reader.manifest
    done = int((frame["state"] != "missing").sum())
    age = max(0.0, time.time() - view.found.modified)
    unreadable = len(view.columns.unreadable)
    parts = [
        f"{manifest.benchmark}, windows {'+'.join(manifest.windows)}",
        f"{done:,} of {len(frame):,} episodes",
        f"changed {_ago(age)} ago",
        *([f"{unreadable:,} unreadable"] if unreadable else []),
        *([] if view.columns.exact else ["from the index"]),
    ]
    with st.container(key="faint-state"):
        st.text(safe.line(" · ".join(parts)))


def _ago(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _watch(views: list[RunView]) -> None:
    """Draw the whole page anew when a run has changed on disk; looking costs four `stat`s."""
    if not views:
        return
    drawn = {view.found.directory: view.stamp for view in views}
    pause = min(MAX_REFRESH_SECONDS, max(REFRESH_SECONDS, 20 * sum(view.seconds for view in views)))

    @st.fragment(run_every=pause)
    def watcher() -> None:
        if any(fingerprint(directory) != before for directory, before in drawn.items()):
            st.rerun(scope="app")

    watcher()
