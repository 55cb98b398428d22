"""The deterministic labeler: Δ from `harness.axtree.diff`, its sentences from `summary`, r by rule."""

from __future__ import annotations

from collections import Counter
from typing import Final

from harness.axtree import Changed, Diff, Removed, Tree, diff, summary
from harness.predictions import WorldModelQuery
from harness.types import Observation
from training.world_model.labels.records import Label
from training.world_model.memory.trees import page_tree

TYPING: Final = frozenset({"type", "fill", "clear", "keyboard_type", "keyboard_insert_text"})
ENDING: Final = frozenset({"send_msg_to_user", "report_infeasible"})


class DiffLabeler:
    """Never rejects: what it says is computed from both pages."""

    name = "diff"

    def __init__(self) -> None:
        self.rejects: Counter[str] = Counter()

    def label(self, query: WorldModelQuery, next_observation: Observation, *, terminal: bool = False) -> Label:
        before, after = trees(query, next_observation)
        edits = diff(before, after)
        return Label(
            rationale=why(query, next_observation, edits),
            edits=edits,
            sentences=tuple(opened(query.observation, next_observation) + summary(edits)),
            terminal=terminal or (query.action.name in ENDING and not edits.edits),
        )


def trees(query: WorldModelQuery, next_observation: Observation) -> tuple[Tree, Tree]:
    """Both pages without what differs between recordings of one page."""
    return page_tree(query.observation.axtree), page_tree(next_observation.axtree)


def why(query: WorldModelQuery, after: Observation, edits: Diff) -> str:
    """r by rule: one of a dozen phrases, from what was done and what came of it."""
    now, action = query.observation, query.action
    if action.name in ENDING:
        return "the agent has answered"
    if now.active_page_index != after.active_page_index or len(now.open_pages) != len(after.open_pages):
        return "another tab comes to the front"
    if now.url.partition("#")[0] != after.url.partition("#")[0]:
        if action.name in TYPING or (action.target is not None and action.target.role == "button"):
            return "the form is sent and its result opens"
        return "going back shows the page before" if action.name == "go_back" else "the link opens its page"
    if not edits.edits:
        return "nothing on the page answers this"
    fields = {name for edit in edits.of(Changed) for name, _, _ in edit.fields}
    if fields <= {"focused"} and len(edits) == len(edits.of(Changed)):
        return "only the focus moves"
    if action.name in TYPING and "value" in fields:
        return "typing fills the field"
    if fields & {"checked", "selected", "pressed"}:
        return "the control changes its state"
    if "expanded" in fields or "value" in fields:
        return "the control opens or takes a value"
    return "the page takes parts away" if len(edits.of(Removed)) * 2 > len(edits) else "the page shows something new"


def opened(now: Observation, after: Observation) -> list[str]:
    return [f'The page "{after.title[:80]}" opened.'] if now.url != after.url else []
