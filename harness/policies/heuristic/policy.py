"""`HeuristicPolicy`: the first rule with an answer, unless that answer was just tried on the same page."""

from __future__ import annotations

import re

from harness.actions import make_action
from harness.policies.heuristic.goal import Goal
from harness.policies.heuristic.rules import RULES
from harness.policies.heuristic.situation import Situation, wait
from harness.policies.page import Page, read_page
from harness.types import INVALID_ACTION, Action, Observation, PolicyOutput, Task

VERSION = "heuristic-1"
MAX_REPEATS = 3
"""How often one action may be taken on the very same tree: it evidently changes nothing that can be seen."""


_BID = re.compile(r"^\t*\[\w+\]", re.MULTILINE)
"""Ids may change where a page redraws the same content: they say nothing about progress."""


class HeuristicPolicy:
    """No model: matches the goal's words with the names of elements. `PolicyOutput.text` names the rule that spoke."""

    name = "heuristic"

    def __init__(self) -> None:
        self._goal = Goal("")
        self._done: list[Action] = []
        self._pages: list[Page] = []
        self._trees: list[str] = []

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._goal = Goal(goal)
        self._done, self._pages, self._trees = [], [], []

    def act(self, observation: Observation) -> PolicyOutput:
        page = read_page(observation.axtree)
        situation = Situation(self._goal, page, tuple(self._done), tuple(self._pages))
        shown = _BID.sub("", observation.axtree)
        action, rule = self._decide(situation, shown)
        self._done.append(action)
        self._pages.append(page)
        self._trees.append(shown)
        return PolicyOutput(action=action, text=f"rule: {rule}", policy_version=VERSION)

    def close(self) -> None: ...

    def _decide(self, situation: Situation, tree: str) -> tuple[Action, str]:
        for rule in RULES:
            action = rule(situation)
            if action is None or action.name == INVALID_ACTION:
                continue
            tried = sum(a == action and t == tree for a, t in zip(self._done, self._trees, strict=True))
            if tried < MAX_REPEATS:
                return action, rule.__name__
        if self._done and self._done[-1] == wait():
            return make_action("report_infeasible", {"reason": "no rule applies"}), "give_up"
        return wait(), "none"
