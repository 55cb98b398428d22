"""A user's own policy for the end-to-end test: opens the kettle's page and says what stands there."""

from __future__ import annotations

import re

from harness.actions import parse_action
from harness.types import Observation, PolicyOutput, Task


class Answerer:
    name = "answerer"

    def reset(self, goal: str, task: Task, seed: int) -> None: ...

    def act(self, observation: Observation) -> PolicyOutput:
        if price := re.search(r"Price: (\d+ euros)", observation.axtree):
            text = f'send_msg_to_user("It costs {price[1]}.")'
        elif link := re.search(r"\[(\w+)\] link 'Blue kettle'", observation.axtree):
            text = f'click("{link[1]}")'
        else:
            text = "noop()"
        return PolicyOutput(action=parse_action(text), text=text, policy_version="1")

    def close(self) -> None: ...
