"""Raw episodes → stored episodes: every row judged on its own, pages stored once, targets described.

A failed action is real: it stays, with its error, be it that the element named is not there. What is rejected here is
what the page itself cannot vouch for; what depends on other rows (duplicates, pairs of other splits, caps) is decided in
`selecting.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.actions import bids_of, make_action
from harness.axtree import describe
from harness.types import INVALID_ACTION, Action, JsonDict, Observation, Record
from results.transitions import change_of
from training.world_model.transitions.pages import changed_lines, only_focus, page, pair_key
from training.world_model.transitions.raw import RawEpisode, RawStep
from training.world_model.transitions.records import StoredEpisode, StoredOutcome, StoredStep


class Judged(Record):
    """What is known of one step of a cleaned episode. `reason` is empty for a row that may be kept."""

    reason: str = ""
    detail: str = ""
    pair: str = ""
    """Key of page and action."""
    before: str = ""
    after: str = ""
    """Keys of the two pages."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """An episode and a judgement for each of its steps, in order."""

    episode: StoredEpisode
    judged: tuple[Judged, ...]


def clean(raw: RawEpisode, keep_slow: bool = False) -> Cleaned:
    """`raw` in stored form. `kept` is true for the steps that no rule here rejects; a step whose page was not recorded
    keeps its place, with an empty page.
    """
    pages: dict[Observation, int] = {}

    def stored(seen: Observation) -> int:
        # The picture stays in its run; without its name, equal pages are one.
        return pages.setdefault(seen.model_copy(update={"screenshot_ref": ""}), len(pages))

    steps: list[StoredStep] = []
    judged: list[Judged] = []
    for step in raw.steps:
        action = _with_target(step)
        verdict = _judge(step, action, keep_slow)
        before = step.observation or Observation(url="", axtree="")
        provenance = dict(step.provenance)
        if not verdict.reason and step.observation and step.next_observation:
            provenance.update(_change(step.observation, step.next_observation, provenance))
        steps.append(
            StoredStep(
                page=stored(before),
                action=action,
                next_page=None if step.next_observation is None else stored(step.next_observation),
                kept=not verdict.reason,
                goal=step.goal,
                provenance=provenance,
            )
        )
        judged.append(verdict)
    outcome = None
    if raw.outcome is not None:
        outcome = StoredOutcome(page=stored(raw.outcome.observation), answer=raw.outcome.answer, success=raw.outcome.success)
    episode = StoredEpisode(
        site=raw.site,
        goal=raw.goal,
        provenance=raw.provenance,
        pages=tuple(pages),
        steps=tuple(steps),
        outcome=outcome,
    )
    return Cleaned(episode, tuple(judged))


def _judge(step: RawStep, action: Action, keep_slow: bool) -> Judged:
    before, after = step.observation, step.next_observation
    if step.problem:
        return Judged(reason=step.problem, detail=step.detail)
    if before is None or after is None or not before.axtree.strip() or not after.axtree.strip():
        return Judged(reason="missing_observation", detail="no page before the action" if before is None else "an empty page")
    if action.name == INVALID_ACTION:
        return Judged(reason="illegal_action", detail=action.error)
    if before.truncated or after.truncated:
        return Judged(reason="truncated_tree", detail=f"{before.dropped_nodes + after.dropped_nodes} nodes dropped")
    a, b = page(before.axtree), page(after.axtree)
    for tree in (a.tree, b.tree):
        if tree.malformed_lines:
            line = next(line for _, line in tree.malformed if line.strip())
            return Judged(
                reason="foreign_tree", detail=f"{tree.malformed_lines} lines cannot be read, such as {line.strip()[:60]!r}"
            )
    absent = [bid for bid in bids_of(action) if bid not in a.tree.by_bid]
    # Where the recorder said "no such element", page and action agree.
    if absent and not step.provenance.get("action_error"):
        return Judged(reason="absent_element", detail=f"no element {absent[0][:40]!r}")
    if step.provenance.get("left_the_sites"):
        return Judged(reason="left_the_sites")
    if not keep_slow and (before.slow or after.slow):
        return Judged(reason="slow_page", detail="before the action" if before.slow else "after the action")
    return Judged(pair=pair_key(a, action), before=a.key, after=b.key)


def _with_target(step: RawStep) -> Action:
    """The action checked against the action space, with a descriptor of what it points at where the page has it."""
    action = step.action
    if action.name != INVALID_ACTION:
        checked = make_action(action.name, action.arguments, action.raw)
        action = checked if checked.name == INVALID_ACTION else action
    bids = bids_of(action)
    if action.target is None and bids and step.observation is not None:
        tree = page(step.observation.axtree).tree
        if bids[0] in tree.by_bid:
            action = action.model_copy(update={"target": describe(tree, bids[0])})
    return action


def _change(before: Observation, after: Observation, provenance: JsonDict) -> JsonDict:
    a, b = page(before.axtree), page(after.axtree)
    lines = changed_lines(a, b)
    change = provenance.get("change")
    if change is None:
        same_place = before.url == after.url and before.open_pages == after.open_pages
        # The full comparison parses both pages again: only where the focus may be all that moved.
        change = "page" if same_place and not only_focus(a, b) else change_of(before, after)
    return {"change": change, "changed": change in ("page", "url"), "changed_lines": lines}
