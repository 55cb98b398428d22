"""What parent and worker tell each other. Pickled on a socket between two processes of this program, never stored."""

from __future__ import annotations

from typing import NamedTuple

from harness.types import EpisodeSpec, ErrorInfo, JsonDict, Phase, Step, Trajectory, Verdict


class Setup(NamedTuple):
    """First message to a worker: everything it needs to build its benchmark, browser and policy, as JSON data."""

    config: JsonDict
    """A RunConfig (harness.config)."""


class Run(NamedTuple):
    spec: EpisodeSpec


class Stop(NamedTuple):
    pass


class Ready(NamedTuple):
    """The worker is up, or has cleaned up after an error. `versions`: browser and policy as this worker sees them."""

    versions: dict[str, str]


class Refused(NamedTuple):
    """The worker cannot be built; another one could not either."""

    error: ErrorInfo
    exit_code: int
    fix: str


class PhaseBegun(NamedTuple):
    phase: Phase


class GoalKnown(NamedTuple):
    goal: str


class StepDone(NamedTuple):
    step: Step


class Finished(NamedTuple):
    """The end of an episode. `trajectory` comes without its steps: the parent has them already.

    After an `error` the worker cleans up and then says Ready: it gets nothing to play before.
    """

    trajectory: Trajectory
    verdict: Verdict


Message = Ready | Refused | PhaseBegun | GoalKnown | StepDone | Finished
