"""Rules that drag items of a list."""

from __future__ import annotations

import re

from harness.actions import make_action
from harness.policies.heuristic.situation import Situation
from harness.policies.page import Element, whole_number
from harness.types import Action

_NUMBER_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}


def sort_list(s: Situation) -> Action | None:
    """`Sort the numbers in increasing order`: drag the first misplaced item to its place."""
    items = s.page.role("listitem")
    values = [whole_number(s.page.text(item)) for item in items]
    if not s.goal.says("sort") or None in values:
        return None
    ordered = sorted((value for value in values if value is not None), reverse=s.goal.says("decreasing", "descending"))
    for place, value in enumerate(ordered):
        if values[place] != value:
            source = values.index(value, place)
            return _drag(items[source], items[place])
    return None


def move_item(s: Situation) -> Action | None:
    """`Drag Ann down by one position`, `to the 4th position`."""
    match = re.search(r"\bdrag (\w+) (?:(up|down) by (\w+)|to the (\d{1,3})(?:st|nd|rd|th) position)", s.goal.text, re.IGNORECASE)
    items = s.page.role("listitem")
    names = [s.page.text(item) for item in items]
    if match is None or match[1] not in names or s.done:
        return None
    place = names.index(match[1])
    if match[4]:
        target = int(match[4]) - 1
    else:
        distance = _NUMBER_WORDS.get(match[3].lower(), 0) or whole_number(match[3]) or 0
        target = place + (distance if match[2].lower() == "down" else -distance)
    return _drag(items[place], items[target]) if 0 <= target < len(items) else None


def _drag(source: Element, target: Element) -> Action:
    return make_action("drag_and_drop", {"from_bid": source.bid, "to_bid": target.bid})
