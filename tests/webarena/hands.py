"""A scripted policy for `harness run --policy tests.webarena.hands:Hands`: knows the right hand movements of a few tasks.

It reads the accessibility tree like any policy does. With an even seed it does its tasks wrongly, with an odd one rightly: in
this order, because what a right one leaves behind would make a wrong one right.
"""

from __future__ import annotations

import json
import re

from harness.actions import parse_action
from harness.types import Observation, PolicyOutput, Task

CLICK, FILL = "click", "fill"
ANSWERS = {"0": ("Quest Lumaflex™ Band", "Sprite Foam Roller"), "11": ("6 reviews", "16 reviews"), "335": ("16 Jan", "x")}
MOVES: dict[str, tuple[tuple[str, ...], ...]] = {
    "44": ((CLICK, "To-Do List"),),
    "389": ((CLICK, "Octovisuals"), (FILL, "Write a comment", "Thanks, working on reviews"), (CLICK, "Comment")),
}


class Hands:
    name = "hands"

    def __init__(self, json_answers: bool = False) -> None:
        self._json_answers = json_answers

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._task_id = task.task_id
        self._wrong = seed % 2 == 0
        self._task_type = str(task.metadata.get("task_type", ""))
        self._moves = list(() if self._wrong else MOVES.get(task.task_id, ()))

    def act(self, observation: Observation) -> PolicyOutput:
        return PolicyOutput(action=parse_action(self._next(observation.axtree)), policy_version="1")

    def _next(self, axtree: str) -> str:
        if self._moves:
            kind, name, *value = self._moves.pop(0)
            found = re.search(rf"\[(\w+)\] (?:link|textbox|button) '{re.escape(name)}'", axtree)
            bid = found.group(1) if found else "missing"
            return f"click({bid!r})" if kind == CLICK else f"fill({bid!r}, {value[0]!r})"
        if self._json_answers:
            data = [ANSWERS[self._task_id][self._wrong]] if self._task_id in ANSWERS else None
            answer = json.dumps({"task_type": self._task_type, "status": "SUCCESS", "retrieved_data": data})
            return f"send_msg_to_user({answer!r})"
        if self._task_id == "22":
            return "send_msg_to_user('everybody')" if self._wrong else "report_infeasible('no such review')"
        right, wrong = ANSWERS.get(self._task_id, ("done", "done"))
        return f"send_msg_to_user({(wrong if self._wrong else right)!r})"

    def close(self) -> None: ...
