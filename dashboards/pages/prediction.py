"""One prediction against what happened: predicted and real page side by side, both against the page before the action.

The example is named RUN/EPISODE/STEP; its real pages are read from that run, which must lie below the same directory.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from audits.fidelity import FidelityReport, PageScore, delta_f1
from dashboards import links, results_files, safe, states, tables, treeview
from dashboards.context import Context
from dashboards.loading import Problem
from harness.errors import UsageError
from harness.predictions import Prediction
from harness.types import Observation, Step
from results.discovery import Found
from results.reader import RunReader


def draw(context: Context, found: Found, read: FidelityReport) -> None:
    """The worst pages of one model as a list; the chosen one in full."""
    names = safe.labels([model.spec for model in read.models])
    spec = st.selectbox("Model", list(names), key="model", bind="query-params")
    model = read.models[names[spec]]
    folder = found.directory / model.folder
    if not folder.resolve().is_relative_to(found.directory.resolve()):
        states.broken(Problem(f"the model's folder lies elsewhere: {model.folder}"), "These predictions cannot be shown.")
        return
    scores = results_files.worst_pages(folder)
    if isinstance(scores, Problem):
        states.broken(scores, "The scores of this model cannot be read.")
        return
    if not scores:
        st.info("No page of this model has a delta: nothing changed, and nothing was claimed to.", icon=":material/inbox:")
        return
    clicked = tables.clickable(_lines(scores), key=f"worst-{safe.slug(spec)}")
    st.caption("Worst first: lowest delta F1, then most real changes. Click a line to see both pages.")
    if clicked is not None:
        st.query_params["example"] = scores[clicked].example
    wanted = st.query_params.get("example") or scores[0].example
    score = next((score for score in scores if score.example == wanted), None)
    if score is not None:
        _compare(context, folder, score)


def _lines(scores: list[PageScore]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "delta F1": [f"{100 * (delta_f1(score) or 0):.1f}%" for score in scores],
            "real changes": [score.edits.real for score in scores],
            "claimed": [score.edits.predicted for score in scores],
            "hits": [score.edits.hits for score in scores],
            "action": [safe.line(score.action, 40) for score in scores],
            "site": [safe.line(score.site, 30) for score in scores],
            "example": [safe.line(score.example, 120) for score in scores],
            "unreadable because": [safe.line(score.malformed, 80) for score in scores],
        }
    )


def _compare(context: Context, folder: Path, score: PageScore) -> None:
    states.heading(score.example, key="example")
    predicted = results_files.prediction(folder, score.example)
    if isinstance(predicted, Problem):
        states.broken(predicted, "The predictions of this model cannot be read.")
        return
    if predicted is None:
        st.info("This answer is not among the stored predictions.", icon=":material/inbox:")
        return
    real = real_pages(context, score.example)
    if isinstance(real, Problem):
        states.broken(real, "The real page cannot be shown; the prediction is below.")
        _answer(predicted)
        return
    step, after, episode = real
    st.code(safe.block(safe.action(step.output.action), 6), language=None)
    links.link(
        "episodes", "The episode it is from", ":material/list_alt:", run=episode[0], episode=episode[1], step=str(step.index)
    )
    if predicted.next_observation is None:
        st.warning("The answer could not be read, so there is no predicted page.", icon=":material/broken_image:")
        states.note(predicted.malformed, key="malformed")
        treeview.page(after.axtree, step.observation.axtree, key="real", what="The real next page.")
    else:
        treeview.side_by_side(
            ("Predicted", predicted.next_observation.axtree), ("Real", after.axtree), step.observation.axtree, key="prediction"
        )
    _answer(predicted)


def _answer(predicted: Prediction) -> None:
    with st.expander("What the world model wrote"):
        if predicted.rationale:
            states.fact("Rationale", predicted.rationale, key="rationale")
        st.code(safe.block(predicted.text or predicted.delta), language=None, wrap_lines=True)


def real_pages(context: Context, example: str) -> tuple[Step, Observation, tuple[str, str]] | Problem:
    """(the step, the page after it, (run's name, episode's id)) of an example RUN/EPISODE/STEP."""
    run, _, rest = example.partition("/")
    episode_id, _, number = rest.rpartition("/")
    for found in context.runs:
        try:
            reader = RunReader.open(found.directory)
        except UsageError:
            continue
        if reader.manifest.run_id == run:
            return _pages(reader, episode_id, number, found.name)
    return Problem(f"run {run} is not below {context.root}", "open the dashboard on a directory that holds the run too")


def _pages(reader: RunReader, episode_id: str, number: str, name: str) -> tuple[Step, Observation, tuple[str, str]] | Problem:
    try:
        trajectory = reader.episode(episode_id).trajectory
    except UsageError as error:
        return Problem.of(error)
    following = [*(step.observation for step in trajectory.steps[1:]), trajectory.final_observation]
    for step, after in zip(trajectory.steps, following, strict=True):
        if str(step.index) == number:
            return (step, after, (name, episode_id)) if after else Problem("the page after the last step was not recorded")
    return Problem(f"episode {episode_id} has no step {number}")
