"""A worker process without a browser: speaks harness.messages as harness.worker does, and breaks as an episode's goal orders.

`python -m tests.support.plain_worker FD`. Setup: {"starts": folder with a file per start, "broken": starts that die,
"company": how many must have started before this one says that it is ready}.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import struct
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path

from harness import messages
from harness.executors.local import connect_to_parent
from harness.rollout import run_episode
from harness.testing import ScriptedEnv, ScriptedPolicy
from harness.types import EpisodeSpec, Phase, Step


class Odd:
    """Pickled by reference to this module's `__main__`, which the parent's is not."""


class _ToParent:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def phase(self, name: Phase) -> None:
        self._connection.send(messages.PhaseBegun(name))

    def goal(self, goal: str) -> None:
        self._connection.send(messages.GoalKnown(goal))

    def step(self, step: Step) -> None:
        self._connection.send(messages.StepDone(step))


def main(descriptor: int) -> None:
    connection = connect_to_parent(descriptor)
    setup = connection.recv()
    starts = Path(str(setup.config["starts"]))
    number = _take_number(starts)
    if number in setup.config["broken"]:
        sys.exit(f"start {number} is broken")
    while len(list(starts.iterdir())) < setup.config["company"]:
        threading.Event().wait(0.01)
    connection.send(messages.Ready({}))
    while isinstance(order := connection.recv(), messages.Run):
        while order.spec.task.goal == "waits for the pause" and not (starts.parent / "pause").exists():
            threading.Event().wait(0.01)
        _play(connection, order.spec)


def _take_number(starts: Path) -> int:
    """The first that nobody has: two workers that start at once must not take the same one."""
    for number in itertools.count():
        with contextlib.suppress(FileExistsError):
            (starts / str(number)).touch(exist_ok=False)
            return number
    raise AssertionError


def _play(connection: Connection, spec: EpisodeSpec) -> None:
    goal = spec.task.goal if spec.attempt == 0 else "good"
    if goal == "dies at once":
        os._exit(9)
    pages = ["RootWebArea 'One'", "RootWebArea 'Two'", "RootWebArea 'Three'"]
    actions: list[str | Exception] = ["noop()", ValueError("no idea")] if goal.startswith("errs") else ["noop()"]
    trajectory, verdict = run_episode(
        ScriptedPolicy(actions), ScriptedEnv(pages), spec, max_steps=5, listener=_ToParent(connection)
    )
    if goal == "sends rubbish":
        connection.send_bytes(b"this is no message")
    if goal == "sends an unknown class":
        connection.send(Odd())
    if goal == "freezes in mid-message":
        os.write(connection.fileno(), struct.pack("!i", 1000) + b"the beginning of a message")
        threading.Event().wait()
    if goal == "is stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    connection.send(messages.Finished(trajectory.model_copy(update={"steps": ()}), verdict))
    if goal == "errs and cleans up":
        connection.send(messages.Ready({}))
    if goal in ("errs and dies cleaning up", "dies when idle"):
        os._exit(8)


if __name__ == "__main__":
    main(int(sys.argv[1]))
