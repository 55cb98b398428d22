"""The worker process: builds benchmark, browser and policy once, then plays episodes until it is told to stop.

`python -m harness.worker FD`, started by harness.executors.local; not for people.
"""

from __future__ import annotations

import contextlib
import os
import sys
from multiprocessing.connection import Connection

from harness import messages
from harness.assembly import make_benchmark, max_steps
from harness.config import RunConfig
from harness.envs.browser import BrowserEnv
from harness.envs.chromium import find_chromium
from harness.envs.session import BrowserSession
from harness.errors import HarnessError, RolloutError, error_info
from harness.executors.local import connect_to_parent
from harness.policies import make_policy
from harness.protocols import Policy
from harness.rollout import run_episode
from harness.types import EpisodeSpec, Phase, Step, Verdict


class _ToParent:
    """A rollout listener that tells the parent, so that a kill loses no finished step."""

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
    try:
        config = RunConfig.model_validate(setup.config)
        benchmark = make_benchmark(config)
        chromium = find_chromium(config.browser.executable_path)
        policy = make_policy(config.policy)
    except HarnessError as error:
        connection.send(messages.Refused(error_info(error), error.exit_code, error.fix))
        return
    env = BrowserEnv(BrowserSession(config.browser, chromium, on_driver_death=_die), benchmark.open)
    ready = messages.Ready({"browser": chromium.name})
    connection.send(ready)
    try:
        while isinstance(order := connection.recv(), messages.Run):
            verdict = _play(connection, policy, env, order.spec, max_steps(config))
            if verdict.status == "error":
                with contextlib.suppress(RolloutError):  # the next reset reports it, if it lasts
                    env.recover()
                connection.send(ready)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone; so are we
    finally:
        policy.close()
        env.close()


def _play(connection: Connection, policy: Policy, env: BrowserEnv, spec: EpisodeSpec, steps: int) -> Verdict:
    trajectory, verdict = run_episode(policy, env, spec, max_steps=steps, listener=_ToParent(connection))
    # Told before any clean-up: should that hang or crash, it must not change what this episode is labelled with.
    connection.send(messages.Finished(trajectory.model_copy(update={"steps": ()}), verdict))
    return verdict


def _die() -> None:
    print("the Playwright driver died", file=sys.stderr, flush=True)  # noqa: T201  the parent reads the last line of the log
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
