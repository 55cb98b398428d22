"""What a rule sees: the goal, the page, and what was done before. A rule answers with an action, or passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.actions import make_action
from harness.policies.heuristic.goal import Goal
from harness.policies.page import Element, Page
from harness.types import Action


@dataclass(frozen=True)
class Situation:
    """`pages[i]` is the page on which `done[i]` was taken; `page` is the one now."""

    goal: Goal
    page: Page
    done: tuple[Action, ...] = ()
    pages: tuple[Page, ...] = ()

    def clicked(self, element: Element) -> bool:
        return self.times("click", element) > 0

    def times(self, name: str, element: Element) -> int:
        """How often this action was taken on this element. Bids change with navigation; within a page they stay."""
        return sum(action.name == name and action.arguments.get("bid") == element.bid for action in self.done)


Rule = Callable[[Situation], Action | None]


def click(element: Element) -> Action:
    return make_action("click", {"bid": element.bid})


def fill(element: Element, value: str) -> Action:
    return make_action("fill", {"bid": element.bid, "value": value})


def press_key(key: str) -> Action:
    return make_action("keyboard_press", {"key": key})


def wait() -> Action:
    """Long enough for a menu to open or a list to load."""
    return make_action("noop", {"wait_ms": 500})
