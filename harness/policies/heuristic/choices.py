"""Rules for checkboxes, radio buttons, lists and tables of choices."""

from __future__ import annotations

from harness.actions import make_action
from harness.policies.heuristic.situation import Situation, click
from harness.policies.page import Element, normal, whole_number
from harness.types import Action

_TICKED = ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio")


def tick_listed(s: Situation) -> Action | None:
    """`Select a, b and click Submit`: tick what the goal lists, untick what it does not."""
    if not s.goal.listed:
        return None
    wanted = {normal(item) for item in s.goal.listed}
    boxes = s.page.role(*_TICKED)
    if not any(normal(box.name) in wanted for box in boxes):
        return None
    for box in boxes:
        if box.name and (normal(box.name) in wanted) != box.is_on("checked") and not _given_up(s, box):
            return click(box)
    return None


def tick_ordinal(s: Situation) -> Action | None:
    """`Click the 3rd checkbox`, `check the 1st radio button`."""
    for role, nouns in (("checkbox", ("checkbox",)), ("radio", ("radio", "radio button"))):
        ordinal = s.goal.ordinal_of(*nouns)
        boxes = s.page.role(role)
        if ordinal and ordinal <= len(boxes):
            box = boxes[ordinal - 1]
            if not box.is_on("checked") and not _given_up(s, box):
                return click(box)
    return None


def select_options(s: Situation) -> Action | None:
    """`Select Ann, Bo from the scroll list`, `choose 6 ft from the dropdown`."""
    if not s.goal.listed:
        return None
    wanted = {normal(item) for item in s.goal.listed}
    for box in s.page.role("combobox", "listbox"):
        options = [e for e in s.page.below(box) if e.role == "option"]
        named = [option for option in options if normal(option.name) in wanted]
        if named and not all(option.is_on("selected") for option in named) and not s.times("select_option", box):
            names = [option.name for option in named]
            return make_action("select_option", {"bid": box.bid, "options": names if len(names) > 1 else names[0]})
    return None


def mark_odd_or_even(s: Situation) -> Action | None:
    """`Mark the numbers below as odd or even`: the matching button beside each number."""
    if not (s.goal.says("odd") and s.goal.says("even")):
        return None
    buttons = s.page.role("button")
    for text in s.page.texts():
        number = whole_number(text.name)
        if number is None:
            continue
        word = "even" if number % 2 == 0 else "odd"
        beside = [b for b in buttons if normal(b.name) == word]
        nearest = min(beside, key=lambda b: abs(b.index - text.index), default=None)
        if nearest and not s.clicked(nearest):
            return click(nearest)
    return None


def _given_up(s: Situation, box: Element) -> bool:
    """Clicked twice and still not as wanted: leave it."""
    return s.times("click", box) >= 2
