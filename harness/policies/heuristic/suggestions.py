"""Rules for fields that suggest entries while one types."""

from __future__ import annotations

import re
from collections.abc import Callable

from harness.actions import make_action
from harness.policies.heuristic.situation import Situation, click, wait
from harness.policies.page import Element, normal
from harness.types import Action

_ENTRY_ROLES = ("option", "listitem", "menuitem")


def pick_by_ends(s: Situation) -> Action | None:
    """`Enter an item that starts with "Ti" and ends with "este"`."""
    start = re.search(r"starts with \"([^\"]+)\"", s.goal.text)
    end = re.search(r"ends with \"([^\"]+)\"", s.goal.text)
    fields = s.page.fields()
    if start is None or not fields:
        return None

    def fits(text: str) -> bool:
        return text.startswith(start[1]) and text.endswith(end[1] if end else "")

    return (
        None if fits(fields[0].value) and len(fields[0].value) > len(start[1]) else _type_and_pick(s, fields[0], start[1], fits)
    )


def pick_labelled(s: Situation) -> Action | None:
    """`Book a flight from: Thorne Bay, AK to: SHG on …`: the suggestion that holds the value given for a label."""
    for label, value in re.findall(r"\b(\w+): (.+?)(?= \w+: | on \d|\.?$)", s.goal.text):
        for field in s.page.fields():
            if normal(s.page.label(field)) != normal(label) or (value in field.value and field.value != value):
                continue
            action = _type_and_pick(s, field, value, lambda text, value=value: value in text)  # type: ignore[misc]
            if action is not None:
                return action
    return None


def _type_and_pick(s: Situation, field: Element, text: str, fits: Callable[[str], bool]) -> Action | None:
    """Type, wait for the list, click the entry. None once an entry was clicked, or if the list never came."""
    typed = make_action("fill", {"bid": field.bid, "value": text, "enable_autocomplete_menu": True})
    if typed not in s.done:
        return typed
    since = s.done[s.done.index(typed) + 1 :]
    if any(action.name == "click" for action in since[:1]):
        return None
    entry = next((e for e in s.page.role(*_ENTRY_ROLES) if fits(s.page.text(e))), None)
    if entry is not None:
        return click(entry)
    return wait() if not since else None
