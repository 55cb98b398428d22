"""The floor: waits."""

from __future__ import annotations

from harness.actions import make_action
from harness.types import Observation, PolicyOutput, Task


class NoopPolicy:
    """Does nothing at every step."""

    name = "noop"

    def reset(self, goal: str, task: Task, seed: int) -> None: ...

    def act(self, observation: Observation) -> PolicyOutput:
        return PolicyOutput(action=make_action("noop", {"wait_ms": 0}), policy_version="noop-1")

    def close(self) -> None: ...
