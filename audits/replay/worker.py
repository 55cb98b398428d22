"""A worker process that replays dreams: `harness.worker.serve` with another player. `python -m audits.replay.worker FD`.

Setup: {"run": RunConfig, "replay": ReplaySettings}. An episode's task names its dream in `metadata["dream"]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from audits.replay.assess import assess
from audits.replay.config import ACTION_SECONDS, ReplaySettings
from audits.replay.evidence import dream_of, today, with_evidence
from audits.replay.safety import Guard, guarded
from audits.replay.script import Script, script_of
from audits.replay.stage import WAITS, DreamPolicy, ReplayEnv, Stage
from harness.assembly import make_benchmark
from harness.config import RunConfig
from harness.envs.browser import BrowserEnv
from harness.envs.chromium import find_chromium
from harness.envs.config import BrowserConfig
from harness.envs.session import BrowserSession
from harness.errors import UsageError
from harness.policies import make_policy
from harness.protocols import Policy
from harness.rollout import NO_SCORER, Listener, run_episode
from harness.types import Episode, EpisodeSpec, JsonDict, Start, Trajectory, Verdict
from harness.worker import Player, die, serve
from results.reader import RunReader

UNREADABLE = "unreadable_dream"


def build(setup: JsonDict) -> Player:
    """The player of `harness audit replay`."""
    config = RunConfig.model_validate(setup["run"])
    settings = ReplaySettings.model_validate(setup["replay"])
    benchmark = make_benchmark(config)
    chromium = find_chromium(config.browser.executable_path)
    successor: Policy | None = make_policy(config.policy) if settings.arm == "handover" else None
    guard = Guard(settings.safety)
    browser = BrowserEnv(
        BrowserSession(browser_config(config.browser), chromium, on_driver_death=die), guarded(benchmark.open, guard)
    )
    replayer = Replayer(browser, settings, guard, successor)
    return Player(browser, replayer.play, replayer.close, chromium.name)


def browser_config(config: BrowserConfig) -> BrowserConfig:
    """The run's, with the audit's patience: a slow element is not a false dream."""
    return config.model_copy(update={"action_timeout_seconds": max(config.action_timeout_seconds, ACTION_SECONDS)})


class Replayer:
    """Replays one dream after the other in one browser."""

    def __init__(self, browser: BrowserEnv, settings: ReplaySettings, guard: Guard, successor: Policy | None = None) -> None:
        self._settings, self._guard = settings, guard
        self._stage = Stage()
        self._policy = DreamPolicy(self._stage, settings, successor)
        self._env = ReplayEnv(browser, self._stage, settings, guard)
        self._dreams: RunReader | None = None

    def play(self, spec: EpisodeSpec, listener: Listener) -> tuple[Trajectory, Verdict]:
        """One replay. What goes wrong is in the verdict; the assessment and the dream are in its evidence."""
        try:
            dream = self._dream(spec)
        except UsageError as error:
            return _unplayed(spec, UNREADABLE, str(error))
        script = script_of(dream.trajectory, today(spec))
        har = None
        if script.problem:
            trajectory, verdict = _unplayed(spec, script.problem, script.detail)
        else:
            trajectory, verdict = self._replay(script, spec, listener)
            har = self._guard.traffic.har()
        found = assess(script, trajectory, verdict, self._settings.calibration, self._settings.arm)
        return trajectory, with_evidence(verdict, dream, found, har)

    def close(self) -> None:
        self._policy.close()

    def _replay(self, script: Script, spec: EpisodeSpec, listener: Listener) -> tuple[Trajectory, Verdict]:
        self._stage.begin(script)
        more = self._settings.max_handover_steps if self._settings.arm == "handover" else 0
        steps = (len(script.prefix) + len(script.cues)) * (2 + WAITS) + more
        trajectory, verdict = run_episode(self._policy, self._env, spec, max_steps=steps, source="replay", listener=listener)
        start = Start(task_id=spec.task.task_id, prefix_actions=tuple(cue.action for cue in script.prefix))
        return trajectory.model_copy(update={"start": start}), verdict

    def _dream(self, spec: EpisodeSpec) -> Episode:
        if self._dreams is None:
            self._dreams = RunReader.open(Path(self._settings.dreams))
        return self._dreams.episode(dream_of(spec))


def _unplayed(spec: EpisodeSpec, cause: str, detail: str) -> tuple[Trajectory, Verdict]:
    trajectory = Trajectory(
        task=spec.task,
        source="replay",
        start=Start(task_id=spec.task.task_id),
        goal=spec.task.goal,
        seed=spec.seed,
        stop_reason="error",
    )
    return trajectory, Verdict(status="inconclusive", scorer=NO_SCORER, scorer_version="", reason=f"{cause}: {detail}")


def main(descriptor: int) -> None:
    serve(descriptor, build)


if __name__ == "__main__":
    main(int(sys.argv[1]))
