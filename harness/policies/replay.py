"""Act as a stored episode did, or as a list of actions says, whatever the page shows."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from pydantic import ValidationError

from harness.actions import make_action, parse_action
from harness.errors import UsageError
from harness.policies.config import ReplayConfig
from harness.types import INVALID_ACTION, Action, Episode, Observation, PolicyOutput, Task

MAX_EPISODE_BYTES = 1024 * 1024 * 1024
"""Longest episode read, unpacked: a small hostile gzip file can hold any amount of zeros."""


class ReplayPolicy:
    """Gives the actions in order, then `at_end`. Actions keep their target descriptors, so an env may re-ground them."""

    name = "replay"

    def __init__(self, config: ReplayConfig) -> None:
        self._config = config
        self._actions = stored_actions(config.episode) if config.episode else listed_actions(config.actions)
        self._next = 0

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._next = 0

    def act(self, observation: Observation) -> PolicyOutput:
        if self._next < len(self._actions):
            action = self._actions[self._next]
            self._next += 1
        elif self._config.at_end == "stop":
            action = make_action("send_msg_to_user", {"text": ""})
        else:
            action = make_action("noop", {"wait_ms": 0})
        return PolicyOutput(action=action, text=action.raw, policy_version="replay-1")

    def close(self) -> None: ...


def stored_actions(path: str) -> tuple[Action, ...]:
    """The actions of an `episode.json.gz`, invalid ones included: they took a step then, they take one now."""
    fix = "give the episode.json.gz of a finished episode"
    try:
        with gzip.open(Path(path)) as file:
            body = file.read(MAX_EPISODE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "not a gzip file, or cut off"
        raise UsageError(f"cannot read the episode {path}: {reason}", fix=fix) from None
    if len(body) > MAX_EPISODE_BYTES:
        raise UsageError(f"the episode {path} is larger than {MAX_EPISODE_BYTES} bytes", fix=fix)
    try:
        episode = Episode.model_validate_json(body)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"]) or "the file"
        raise UsageError(f"{path} is not an episode this version can read (at {where})", fix=fix) from None
    return tuple(step.output.action for step in episode.trajectory.steps)


def listed_actions(texts: tuple[str, ...]) -> tuple[Action, ...]:
    """Parsed actions; one that cannot be read is a mistake in the config, not a step."""
    actions = tuple(parse_action(text) for text in texts)
    for number, action in enumerate(actions, start=1):
        if action.name == INVALID_ACTION:
            raise UsageError(f"action {number} of the replay cannot be read: {action.error}", fix='write it as click("12")')
    return actions
