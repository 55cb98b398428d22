"""A replay: every page of the dream beside the real one, the first divergence marked. Part of an episode's view.

What differs is said by the audit's own assessment, made from the stored evidence (audits.replay).
"""

from __future__ import annotations

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from audits.replay.assess import NOTE, Assessment, note_of, real_pages
from audits.replay.evidence import judge, settings_of
from dashboards import safe, states, tables, treeview
from dashboards.cache import Latest
from dashboards.loading import Problem, RunView
from harness.errors import HarnessError
from harness.types import Episode, Observation, Trajectory
from results.text import one_line

_judged: Latest[tuple[Trajectory | None, Assessment] | Problem] = Latest(4)


def is_replay(episode: Episode) -> bool:
    """Whether the episode carries the evidence of a replay."""
    return NOTE in episode.verdict.evidence


def draw(view: RunView, episode: Episode) -> None:
    """Draw the comparison, page by page."""
    key = (view.found.directory, episode.spec.episode_id)
    judged = _judged.get(key, view.stamp, lambda: _judge(view, episode))
    if isinstance(judged, Problem):
        states.broken(judged, "This replay cannot be compared with its dream.")
        return
    dream, found = judged
    if dream is None:
        st.info("The dream of this replay is not stored with it.", icon=":material/inbox:")
        return
    _outcome(found)
    pages = _pairs(dream, episode, found)
    if not pages:
        st.info("No page of the dream could be compared.", icon=":material/inbox:")
        return
    number = _choose(dream, found, pages)
    _page(found, number, pages)


def _judge(view: RunView, episode: Episode) -> tuple[Trajectory | None, Assessment] | Problem:
    try:
        replay = judge(episode, settings_of(view.reader))
    except HarnessError as error:
        return Problem.of(error)
    except (ValidationError, ValueError) as error:
        return Problem(f"the evidence is not readable: {one_line(str(error), 200)}")
    return replay.dream, replay.assessment


def _outcome(found: Assessment) -> None:
    first = found.first
    states.heading(f"Reality says: {found.outcome}{f' ({found.cause})' if found.cause else ''}", key="outcome")
    if found.detail:
        states.fact("Because", found.detail, key="because")
    if first is None:
        st.caption("No divergence was found on the compared pages.")
    else:
        states.fact("First divergence", f"page {first.page}, {first.cause}: {first.detail}", key="divergence")


def _pairs(dream: Trajectory, episode: Episode, found: Assessment) -> list[tuple[Observation, Observation]]:
    """(dreamed, real) pages 1 …, as far as both go."""
    dreamed = [step.observation for step in dream.steps]
    if dream.final_observation is not None:
        dreamed.append(dream.final_observation)
    notes = [note_of(step) for step in episode.trajectory.steps]
    real = real_pages(episode.trajectory, notes, found.length) if episode.trajectory.steps else []
    return list(zip(dreamed, real, strict=False))


def _choose(dream: Trajectory, found: Assessment, pages: list[tuple[Observation, Observation]]) -> int:
    """The clicked page, or the one in the URL, or the first divergence. Counted from 1."""
    first = found.first
    checks = {check.number: check for check in found.checks}
    numbers = range(1, len(pages) + 1)
    shown = pd.DataFrame(
        {
            "page": list(numbers),
            "": ["◀ parts here" if first and first.page == n else "" for n in numbers],
            "agreement": [f"{100 * checks[n].agreement:.0f}%" if n in checks else None for n in numbers],
            "dreamed action": [_action(dream, n) for n in numbers],
        }
    )
    clicked = tables.clickable(shown, key="replay-pages")
    if clicked is not None and st.session_state.get("_replay_page") != clicked:
        st.session_state["_replay_page"] = clicked
        st.query_params["dreamed"] = str(clicked + 1)
    asked = st.query_params.get("dreamed", "")
    default = min(first.page, len(pages)) if first else 1
    return int(asked) if asked.isdecimal() and 1 <= int(asked) <= len(pages) else default


def _action(dream: Trajectory, number: int) -> str:
    if number > len(dream.steps):
        return "(the last page)"
    return safe.line(safe.action(dream.steps[number - 1].output.action), 100)


def _page(found: Assessment, number: int, pages: list[tuple[Observation, Observation]]) -> None:
    dreamed, real = pages[number - 1]
    if any(d.page == number for d in found.divergences):
        st.warning(f"Page {number:d}: dream and reality part here.", icon=":material/call_split:")
    else:
        st.caption(f"Page {number:d} of {len(pages):d} compared")
    for check in found.checks:
        if check.number == number:
            for at, text in enumerate((*check.url, *check.crit, *check.differences)):
                states.fact("Differs", safe.line(text), key=f"differs-{at}")
    before = pages[number - 2][1].axtree if number > 1 else None
    if st.toggle("One page: what reality has (+) and lacks (-) of the dream", key="merged", bind="query-params"):
        treeview.page(real.axtree, dreamed.axtree, key=f"merged-{number}", what="From the dreamed to the real page.")
    else:
        treeview.side_by_side(("Dreamed", dreamed.axtree), ("Real", real.axtree), before, key=f"replay-{number}")
