"""A policy of your own, whole: click the element whose name the goal quotes ("Click on the "Ok" button.").

    harness run --bench miniwob --tasks click-button --policy examples.my_policy:MyPolicy
    harness run --config examples/run.toml

A policy is any class with `name`, `reset`, `act` and `close` (harness.protocols.Policy). It gets the page as text and returns
one action. It is built in each worker process, from the keyword arguments in `[policy.options]`. See docs/policies.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.actions import make_action
from harness.axtree import parse
from harness.types import Action, Observation, PolicyOutput, Task


class MyPolicy:
    name = "my-policy"

    def __init__(self, roles: Sequence[str] = ("button", "link", "tab")) -> None:
        """`roles`: what may be clicked."""
        self._roles = frozenset(roles)
        self._wanted = ""

    def reset(self, goal: str, task: Task, seed: int) -> None:
        quoted = re.search(r'"([^"]+)"', goal)
        self._wanted = quoted[1] if quoted else ""

    def act(self, observation: Observation) -> PolicyOutput:
        for node in parse(observation.axtree).nodes:
            if node.bid and node.role in self._roles and node.name == self._wanted:
                return _output(make_action("click", {"bid": node.bid}), f"{node.role} {node.name!r} is what the goal quotes")
        return _output(make_action("report_infeasible", {"reason": "nothing has the quoted name"}), "not found")

    def close(self) -> None: ...


def _output(action: Action, thought: str) -> PolicyOutput:
    return PolicyOutput(action=action, text=thought, policy_version="my-policy-1")
