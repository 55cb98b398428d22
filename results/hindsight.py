"""What did a walk achieve? Rules that read a trajectory and name the goals it reached, in the manner of NNetNav without a model.

    steps of a walk ──► moments: an action that worked and changed the page, and the fields written since the last sending
                          │
                          ├─ fields, then a button or Enter      Search for 'bread' · Fill in 'Title' with 'X' and press 'Save'
                          ├─ a button by its verb                Add 'Brass Lamp' to the basket · Press 'Follow' on 'Topic'
                          ├─ a link that led elsewhere           Open the ticket #12 'Printer jams'
                          └─ boxes, menus, tabs                  Tick 'Express' · Choose 'Price' in 'Sort by'
                          ▼
    HindsightLabel: goal, the steps that it needs, confidence (falls with detours, and where the page complains)

A goal is named once per walk, where it was first reached. Words come from the page; they are quoted, never obeyed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from harness.axtree import diff, normalise, parse, summary
from harness.types import Action, Episode, Observation, Step, TargetDescriptor
from results.hindsight_words import (
    adds,
    complaints,
    heading_of,
    is_search,
    opened_goal,
    opens,
    pressed_goal,
    quoted,
    short,
)
from results.labels import MAX_GOAL_CHARS, HindsightLabel, Kind
from results.transitions import Change, change_of, pairs

RULES: Final = "rules-1"
MAX_EVIDENCE: Final = 3
DETOUR_COST: Final = 0.01
MAX_DETOUR_COST: Final = 0.2
"""Confidence lost per step of the prefix that the goal does not need, and at most."""

PAGES: Final = ("http:", "https:", "file:")
"""Addresses of pages; the browser's own (a page that could not be reached) are no achievement."""
_CLICKS = frozenset({"click", "dblclick", "press", "type", "check", "uncheck"})


class Goal(NamedTuple):
    """A goal in words, before the walk around it is looked at."""

    kind: Kind
    text: str
    confidence: float


@dataclass(frozen=True)
class Moment:
    """One step that worked, with what is known of it and of the steps before it."""

    step: Step
    after: Observation
    change: Change
    written: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Field → (what stands in it now, the step that put it there); since the form was last sent."""

    @property
    def action(self) -> Action:
        return self.step.output.action

    @property
    def target(self) -> TargetDescriptor | None:
        return self.action.target


def label_walk(episode: Episode) -> list[HindsightLabel]:
    """The goals that an episode reached, in the order in which it reached them, each once."""
    found: dict[str, HindsightLabel] = {}
    visited: set[str] = set()
    written: dict[str, tuple[str, int]] = {}
    for step, after in pairs(episode.trajectory):
        visited.add(step.observation.url)
        if step.action_error is not None or not after.url.startswith(PAGES):
            continue
        moment = Moment(step, after, change_of(step.observation, after), dict(written))
        if goal := goal_of(moment, known=after.url in visited):
            needed = _needed(goal, moment)
            label = _label(episode, goal, moment, needed)
            found.setdefault(label.goal, label)
        written = _written(written, moment)
    return list(found.values())


def goal_of(moment: Moment, *, known: bool) -> Goal | None:
    """What this step achieved, if it is worth a name. `known`: the page it led to had been seen before."""
    target, action = moment.target, moment.action
    if target is None or moment.change in ("none", "focus"):
        return None
    if action.name == "select_option":
        option = action.arguments.get("options")
        return Goal("choose", f"Choose {quoted(str(option))} in {quoted(name)}", 0.8) if (name := _named(target)) else None
    if action.name == "fill":
        value = str(action.arguments.get("value", ""))
        return Goal("write", f"Write {quoted(value)} into {quoted(name)}", 0.5) if value and (name := _named(target)) else None
    if action.name not in _CLICKS:
        return None
    if action.name in ("type", "press") or target.role == "button" or adds(target.name):
        return _sent(moment) or _pressed(moment)
    if target.role in ("checkbox", "radio", "switch", "option", "menuitemradio", "menuitemcheckbox"):
        on = _is_on(moment)
        if on is None or not target.name:
            return None
        return Goal("tick", f"{'Tick' if on else 'Untick'} {quoted(target.name)}", 0.8)
    if moment.change == "url" and moment.after.url != moment.step.observation.url:
        text = None if known else opened_goal(target, moment.after)
        return Goal("open", text, 0.9) if text else None
    if target.role in ("tab", "link", "treeitem", "menuitem") and target.name:
        return Goal("open", f"Open {quoted(target.name)} on the page {quoted(heading_of(moment.step.observation))}", 0.6)
    return None


def _sent(moment: Moment) -> Goal | None:
    """A form was filled in and sent. Searching is told from other forms by its words."""
    target, fields = moment.target, _with_own_text(moment)
    assert target is not None
    if not fields:
        return None
    trouble = complaints(moment.step.observation, moment.after)
    if len(fields) == 1 and is_search(next(iter(fields)), target):
        value = next(iter(fields.values()))[0]
        where = heading_of(moment.step.observation)
        return Goal("search", f"Search for {quoted(value)}", 0.9 if moment.change == "url" or where else 0.7) if value else None
    parts = [f"{quoted(name)} with {quoted(value)}" if name else quoted(value) for name, (value, _) in fields.items() if value]
    if not parts:
        return None
    how = f"press {quoted(target.name or 'the button')}" if target.role == "button" else "press Enter"
    shown = ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
    return Goal("send", f"Fill in {shown}, then {how}", 0.3 if trouble else 0.8)


def _pressed(moment: Moment) -> Goal | None:
    target = moment.target
    if target is None or not target.name or not (target.role == "button" or adds(target.name)):
        return None
    if moment.change == "url" and opens(target.name) and (text := opened_goal(target, moment.after)):
        return Goal("open", text, 0.8)
    trouble = complaints(moment.step.observation, moment.after)
    kind, text = pressed_goal(target, moment.step.observation)
    return Goal(kind, text, 0.3 if trouble else {"add": 0.9}.get(kind, 0.6))


def _with_own_text(moment: Moment) -> dict[str, tuple[str, int]]:
    """The fields written before, and the one that this step writes itself (`type` writes and sends)."""
    fields = dict(moment.written)
    if moment.action.name == "type" and moment.target is not None:
        fields[_field_name(moment.target)] = (str(moment.action.arguments.get("text", "")), moment.step.index)
    return fields


def _written(before: dict[str, tuple[str, int]], moment: Moment) -> dict[str, tuple[str, int]]:
    """What stands in the page's fields after a step; nothing after a form was sent or the page left."""
    action, target = moment.action, moment.target
    if moment.after.url != moment.step.observation.url or action.name in ("press", "type"):
        return {}
    if target is not None and target.role == "button" and moment.change == "page":
        return {}
    if target is not None and action.name in ("fill", "select_option"):
        value = action.arguments.get("value", action.arguments.get("options", ""))
        return {**before, _field_name(target): (str(value), moment.step.index)}
    return before


def _field_name(target: TargetDescriptor) -> str:
    """Empty for a field that nobody can name."""
    return short(_named(target))


def _named(target: TargetDescriptor) -> str:
    """An element's own name, else the text before it if it reads like a label (`Name:`)."""
    before = target.neighbours[0].strip() if target.neighbours else ""
    return (target.name.strip() or (before if before.endswith(":") else "")).rstrip(":")


def _needed(goal: Goal, moment: Moment) -> tuple[int, ...]:
    steps = {moment.step.index}
    if goal.kind in ("send", "search"):
        steps |= {index for _, index in moment.written.values()}
    return tuple(sorted(steps))


def _is_on(moment: Moment) -> bool | None:
    """Is a box on after the step? None where the page does not say. Bids last as long as the document does."""
    bid = str(moment.action.arguments.get("bid", ""))
    tree = parse(moment.after.axtree)
    if bid not in tree.by_bid:
        return None
    node = tree.nodes[tree.by_bid[bid]]
    state = node.get("checked") if node.get("checked") is not None else node.get("selected")
    return None if state is None else str(state).lower() == "true"


def _label(episode: Episode, goal: Goal, moment: Moment, needed: tuple[int, ...]) -> HindsightLabel:
    steps = moment.step.index + 1
    cost = min(MAX_DETOUR_COST, DETOUR_COST * (steps - len(needed)))
    return HindsightLabel(
        run_id=episode.run_id,
        episode_id=episode.spec.episode_id,
        labeler=RULES,
        goal=goal.text[:MAX_GOAL_CHARS],
        kind=goal.kind,
        steps=steps,
        needed_steps=needed,
        confidence=round(max(0.1, goal.confidence - cost), 2),
        evidence=evidence(moment.step.observation, moment.after),
    )


def evidence(before: Observation, after: Observation) -> tuple[str, ...]:
    """The first changes in sentences; of another page only that it is another."""
    if before.url != after.url:
        return (f"The page became {quoted(after.title or after.url)}.",)
    return tuple(summary(diff(normalise(parse(before.axtree)), normalise(parse(after.axtree))))[:MAX_EVIDENCE])
