"""The worker process: builds benchmark, browser and policy once, then plays episodes until it is told to stop.

`python -m harness.worker FD`, started by harness.executors.local; not for people. `serve` is for other kinds of workers, which
play something else in the same browser behind the same messages (audits.replay.worker).
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import NamedTuple

from harness import messages
from harness.assembly import make_benchmark, max_steps
from harness.config import RunConfig
from harness.envs.browser import BrowserEnv
from harness.envs.chromium import find_chromium
from harness.envs.session import BrowserSession
from harness.errors import HarnessError, RolloutError, error_info
from harness.executors.local import connect_to_parent
from harness.policies import make_policy
from harness.rollout import Listener, run_episode
from harness.types import EpisodeSpec, JsonDict, Phase, Step, Trajectory, Verdict


class Player(NamedTuple):
    """What a worker plays with. `env` is recovered after an error, and closed with the policy at the end."""

    env: BrowserEnv
    play: Callable[[EpisodeSpec, Listener], tuple[Trajectory, Verdict]]
    """One episode; never raises a HarnessError (harness.rollout.run_episode)."""
    close: Callable[[], None]
    browser: str


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
    serve(descriptor, build)


def build(setup: JsonDict) -> Player:
    """The player of `harness run`. `setup` is a RunConfig."""
    config = RunConfig.model_validate(setup)
    benchmark = make_benchmark(config)
    chromium = find_chromium(config.browser.executable_path)
    policy = make_policy(config.policy)
    env = BrowserEnv(BrowserSession(config.browser, chromium, on_driver_death=die), benchmark.open)
    steps = max_steps(config)

    def play(spec: EpisodeSpec, listener: Listener) -> tuple[Trajectory, Verdict]:
        return run_episode(policy, env, spec, max_steps=steps, listener=listener)

    return Player(env, play, policy.close, chromium.name)


def serve(descriptor: int, build: Callable[[JsonDict], Player]) -> None:
    """Take the setup from the parent, build the player, play what the parent asks for until it says stop or is gone."""
    connection = connect_to_parent(descriptor)
    setup = connection.recv()
    try:
        player = build(setup.config)
    except HarnessError as error:
        connection.send(messages.Refused(error_info(error), error.exit_code, error.fix))
        return
    ready = messages.Ready({"browser": player.browser})
    connection.send(ready)
    try:
        while isinstance(order := connection.recv(), messages.Run):
            verdict = _play(connection, player, order.spec)
            if verdict.status == "error":
                with contextlib.suppress(RolloutError):  # the next reset reports it, if it lasts
                    player.env.recover()
                connection.send(ready)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone; so are we
    finally:
        player.close()
        player.env.close()


def _play(connection: Connection, player: Player, spec: EpisodeSpec) -> Verdict:
    trajectory, verdict = player.play(spec, _ToParent(connection))
    # Told before any clean-up: should that hang or crash, it must not change what this episode is labelled with.
    connection.send(messages.Finished(trajectory.model_copy(update={"steps": ()}), verdict))
    return verdict


def die() -> None:
    """For a Playwright driver that died: nothing in this process can be trusted to end."""
    print("the Playwright driver died", file=sys.stderr, flush=True)  # noqa: T201  the parent reads the last line of the log
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
