"""One episode: outcome and goal in sight, the steps as a clickable line of time, one step at a time in full.

    outcome · goal · evaluator's reason                     previous, next, back to the list
    steps: n, action, error, what changed     │  screenshot · tree (changes marked) · reply · verdict and evidence

The step is in the URL (`step`, from 0), so a link leads to the very page where something went wrong.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboards import links, palette, pictures, safe, states, tables, treeview
from dashboards.loading import Problem, RunView
from dashboards.pages import replay
from harness.errors import UsageError
from harness.types import Episode, Observation, Step
from results.tables import written
from results.text import one_line

MAX_STEPS = 500
EVIDENCE_LINES = 60
WITHIN = ("step", "dreamed")
"""Query parameters that mean something within one episode only."""


def draw(view: RunView, wanted: str, selection: Sequence[str]) -> None:
    """Draw the episode called `wanted`; previous and next walk along the ids of the selection."""
    _walk(wanted, selection)
    try:
        episode = view.reader.episode(wanted)
    except UsageError as error:
        states.broken(Problem.of(error), "This episode cannot be shown.")
        return
    _banner(episode)
    steps = episode.trajectory.steps
    if not steps:
        st.info("The episode has no step: it ended before the policy was asked.", icon=":material/inbox:")
        _verdict(episode)
        return
    if not replay.is_replay(episode):
        _steps(view, episode, wanted)
        return
    beside, alone = st.tabs(["Dream and reality", "Step by step"], key="part", bind="query-params")
    if beside.open:
        with beside:
            replay.draw(view, episode)
    if alone.open:
        with alone:
            _steps(view, episode, wanted)


def _steps(view: RunView, episode: Episode, wanted: str) -> None:
    left, right = st.columns([2, 5], gap="medium")
    with left:
        at = _timeline(episode.trajectory.steps, wanted)
    with right:
        _step(view, episode, at)


def _walk(wanted: str, selection: Sequence[str]) -> None:
    at = selection.index(wanted) if wanted in selection else -1
    last = len(selection) - 1
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("All episodes", icon=":material/arrow_back:", key="back"):
            links.here(("episode", *WITHIN))
        if st.button("Previous", icon=":material/chevron_left:", key="previous", disabled=at <= 0, shortcut="Ctrl+Left"):
            links.here(WITHIN, episode=selection[at - 1])
        beyond = not 0 <= at < last
        if st.button("Next", icon=":material/chevron_right:", key="next", disabled=beyond, shortcut="Ctrl+Right"):
            links.here(WITHIN, episode=selection[at + 1])
        if at >= 0:
            st.caption(f"{at + 1:,} of {len(selection):,}")


def _banner(episode: Episode) -> None:
    spec, trajectory, verdict = episode.spec, episode.trajectory, episode.verdict
    with st.container(border=True, key="banner"):
        states.heading(f"{palette.STATE_SIGN[verdict.status]}   {spec.episode_id}", key="episode")
        states.fact("Goal", trajectory.goal or spec.task.goal or "–", key="goal")
        if trajectory.answer is not None:
            states.fact("Answer", trajectory.answer or "(empty)", key="answer")
        reason = verdict.reason or (verdict.error.message if verdict.error else "")
        if reason:
            states.fact("Reason", reason, key="reason")
        ran = [
            trajectory.source,
            episode.started_at,
            written(episode.wall_seconds, "seconds"),
            f"seed {spec.seed}",
            f"attempt {spec.attempt + 1}",
            f"stopped: {trajectory.stop_reason}",
        ]
        states.fact("Ran", ", ".join(ran), key="ran")


def _timeline(steps: tuple[Step, ...], wanted: str) -> int:
    """The clicked step, or the one in the URL, or the first."""
    shown = pd.DataFrame(
        {
            "step": [step.index for step in steps[:MAX_STEPS]],
            "": [_sign(step) for step in steps[:MAX_STEPS]],
            "action": [one_line(safe.action(step.output.action), 80) for step in steps[:MAX_STEPS]],
        }
    )
    clicked = tables.clickable(shown, key=f"steps-{wanted}")
    st.caption("✓ done · ✗ had no effect · ▪ ended here. Click a line to open the step.")
    if len(steps) > MAX_STEPS:
        st.caption(f"The first {MAX_STEPS} steps are listed; the others are in the URL: step=…")
    if clicked is not None and st.session_state.get("_clicked") != (wanted, clicked):
        st.session_state["_clicked"] = (wanted, clicked)
        st.query_params["step"] = str(clicked)
    asked = st.query_params.get("step", "0")
    return int(asked) if asked.isdecimal() and int(asked) < len(steps) else 0


def _sign(step: Step) -> str:
    return "✗" if step.action_error else "▪" if step.terminated else "✓"


def _step(view: RunView, episode: Episode, at: int) -> None:
    steps = episode.trajectory.steps
    step = steps[at]
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Step back", icon=":material/skip_previous:", key="step-back", disabled=at == 0, shortcut="Left"):
            links.here(step=str(at - 1))
        if st.button("Step on", icon=":material/skip_next:", key="step-on", disabled=at == len(steps) - 1, shortcut="Right"):
            links.here(step=str(at + 1))
        st.caption(f"Step {at:d} of 0 … {len(steps) - 1:d}")
    _action(step)
    names = ["Screenshot", "Tree", "What it did", "Reply", "Verdict"]
    for name, tab in zip(names, st.tabs(names, key="view", bind="query-params"), strict=True):
        if not tab.open:
            continue
        with tab:
            if name == "Screenshot":
                _screenshots(view, episode, at)
            elif name == "Tree":
                before = steps[at - 1].observation.axtree if at else None
                treeview.page(
                    step.observation.axtree, before, key=f"tree-{at}", what="This page, and how it differs from the last one."
                )
            elif name == "What it did":
                after = _after(episode, at)
                if after is None:
                    st.caption("The page after the last step was not recorded.")
                else:
                    treeview.page(
                        after.axtree,
                        step.observation.axtree,
                        key=f"after-{at}",
                        what="The page after this action, compared with the page before it.",
                    )
            elif name == "Reply":
                _reply(step)
            else:
                _verdict(episode)


def _action(step: Step) -> None:
    observation, output = step.observation, step.output
    states.note(f"{observation.title or '(no title)'}   {observation.url}", key="page")
    st.code(safe.block(safe.action(output.action), 12), language=None, wrap_lines=True)
    if target := output.action.target:
        twin = f", {target.index + 1} of {target.count}" if target.count > 1 else ""
        states.note(f"on {target.role} {target.name!r}{twin}", key="target")
    if output.action.error:
        states.fact("No action", output.action.error, key="no-action")
    if step.action_error:
        states.fact(f"Error ({step.action_error.kind})", step.action_error.message, key="action-error")
    flags = [
        *(["the page was still busy"] if observation.slow else []),
        *([f"the page was cut: {observation.dropped_nodes:,} nodes dropped"] if observation.truncated else []),
        *([f"the tree was cut for the policy: {output.dropped_lines:,} lines dropped"] if output.dropped_lines else []),
        *([f"reward {step.reward:g}"] if step.reward else []),
    ]
    if flags:
        states.note("; ".join(flags), key="flags")


def _after(episode: Episode, at: int) -> Observation | None:
    steps = episode.trajectory.steps
    return steps[at + 1].observation if at + 1 < len(steps) else episode.trajectory.final_observation


def _screenshots(view: RunView, episode: Episode, at: int) -> None:
    after = _after(episode, at)
    left, right = st.columns(2)
    with left:
        st.caption("Before the action")
        name = episode.trajectory.steps[at].observation.screenshot_ref
        pictures.screenshot(view.reader, episode.spec.episode_id, name, alt="The page before the action")
    with right:
        st.caption("After it")
        if after is None:
            st.caption("The page after the last step was not recorded.")
        else:
            pictures.screenshot(view.reader, episode.spec.episode_id, after.screenshot_ref, alt="The page after the action")


def _reply(step: Step) -> None:
    output = step.output
    st.code(safe.block(output.text) or "(an empty reply)", language=None, wrap_lines=True)
    usage = output.usage
    st.caption(
        f"{usage.requests:,} requests, {usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} completion tokens; "
        f"policy {step.timing.policy:.2f} s, action {step.timing.execute:.2f} s, settling {step.timing.settle:.2f} s."
    )
    for number, message in enumerate(output.prompt):
        with st.expander(f"Prompt, message {number + 1:d}"):
            st.code(safe.block(json.dumps(message, ensure_ascii=False, indent=1)), language=None, wrap_lines=True)
    if step.metadata:
        with st.expander("What else was recorded at this step"):
            st.code(safe.block(json.dumps(step.metadata, ensure_ascii=False, indent=1)), language=None, wrap_lines=True)


def _verdict(episode: Episode) -> None:
    verdict = episode.verdict
    numbers = [
        f"{name} {value:g}"
        for name, value in (("reward", verdict.reward), ("raw reward", verdict.raw_reward), ("threshold", verdict.threshold))
        if value is not None
    ]
    head = f"{palette.STATE_SIGN[verdict.status]}   {', '.join(numbers)}   by {verdict.scorer} {verdict.scorer_version}"
    states.heading(head, key="verdict")
    if verdict.reason:
        states.fact("Reason", verdict.reason, key="verdict-reason")
    for number, score in enumerate(verdict.other_scores):
        states.fact(one_line(score.profile, 40), f"{score.status}: {score.reason or '–'}", key=f"score-{number}")
    if verdict.error:
        where = f"{verdict.error.boundary}, {verdict.error.kind}"
        states.fact("Error", f"{where}: {verdict.error.message}", key="error")
        if verdict.error.traceback:
            with st.expander("Traceback"):
                st.code(safe.block(verdict.error.traceback), language=None)
    for name, value in verdict.evidence.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        states.note(name, key=f"evidence-{name}")
        st.code(safe.block(text, EVIDENCE_LINES), language=None, wrap_lines=True)
    for number, text in enumerate(episode.notes):
        states.fact("Note", text, key=f"note-{number}")
