"""The other floor: any legal action on any interactive element, with equal chances."""

from __future__ import annotations

import random
import re

from harness.actions import make_action
from harness.policies.page import FIELD_ROLES, Page, read_page
from harness.types import Action, Observation, PolicyOutput, Task


class RandomPolicy:
    """Uniform over `legal_actions`; the same seed gives the same choices on the same pages."""

    name = "random"

    def __init__(self) -> None:
        self._random = random.Random(0)
        self._words: list[str] = []

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = re.findall(r"\w+", goal) or ["text"]

    def act(self, observation: Observation) -> PolicyOutput:
        actions = legal_actions(read_page(observation.axtree), self._words)
        return PolicyOutput(action=self._random.choice(actions), policy_version="random-1")

    def close(self) -> None: ...


def legal_actions(page: Page, words: list[str]) -> list[Action]:
    """Every click on an interactive element, every fill of a field with a word, every choice of an option; else noop."""
    found: list[Action] = []
    for element in page.elements:
        if not element.bid or not element.enabled:
            continue
        if element.role in FIELD_ROLES - {"combobox"}:
            found.extend(make_action("fill", {"bid": element.bid, "value": word}) for word in words)
        if element.role in ("combobox", "listbox"):
            options = [child.name for child in page.below(element) if child.role == "option" and child.name]
            found.extend(make_action("select_option", {"bid": element.bid, "options": name}) for name in options)
        if element.clickable or element.role in FIELD_ROLES:
            found.append(make_action("click", {"bid": element.bid}))
    return found or [make_action("noop", {"wait_ms": 0})]
