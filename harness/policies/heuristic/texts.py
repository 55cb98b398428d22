"""Rules for long texts and command lines."""

from __future__ import annotations

import re

from harness.actions import make_action
from harness.policies.heuristic.situation import Situation
from harness.types import Action

_FAR = 20_000
"""Pixels: longer than any text area."""


def scroll_text(s: Situation) -> Action | None:
    """`Scroll the textarea to the top`: the mouse over it, then the wheel."""
    match = re.search(r"\bscroll .*?\b(top|bottom)\b", s.goal.text, re.IGNORECASE)
    longest = max(s.page.role("textbox"), key=lambda e: len(e.value), default=None)
    if match is None or longest is None or not longest.value:
        return None
    if not s.times("hover", longest):
        return make_action("hover", {"bid": longest.bid})
    wheel = make_action("scroll", {"delta_x": 0, "delta_y": _FAR if match[1].lower() == "bottom" else -_FAR})
    return wheel if wheel not in s.done else None


def delete_file(s: Situation) -> Action | None:
    """`Use the terminal to delete a file ending with .html`, `that has no file extension`: ls, then rm."""
    boxes = s.page.role("textbox")
    if not (s.goal.says("terminal") and s.goal.says("delete")) or not boxes:
        return None
    if not any(action.name == "type" for action in s.done):
        return _command(boxes[0].bid, "ls")
    suffix = re.search(r"\bextension (\.\w+)", s.goal.text)
    names = [word for text in s.page.texts() for word in text.name.split()]
    for name in names[::-1]:
        if name.endswith(suffix[1]) if suffix else re.fullmatch(r"[a-z_-]+", name):
            return _command(boxes[0].bid, f"rm {name}")
    return None


def _command(bid: str, text: str) -> Action:
    return make_action("type", {"bid": bid, "text": text})
