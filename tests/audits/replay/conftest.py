"""A run of real MiniWoB++ successes, recorded once per test session with the heuristic policy in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.envs.browser import BrowserEnv
from harness.envs.session import BrowserSession
from harness.policies.heuristic import HeuristicPolicy
from harness.rollout import run_episode
from harness.types import Episode, EpisodeSpec
from results.manifest import RunManifest
from results.store import RunStore

TASKS = ("click-button", "click-checkboxes-large", "enter-password", "enter-text-dynamic")

WriteRun = Callable[[Path, Sequence[Episode]], Path]


def store(directory: Path, episodes: Sequence[Episode], benchmark: str) -> Path:
    """A run directory that holds these episodes."""
    manifest = RunManifest(
        run_id=directory.name,
        created_at="2025-01-01T00:00:00+00:00",
        benchmark=benchmark,
        task_set_hash="x",
        tasks=len({e.spec.task.task_id for e in episodes}),
        planned=len(episodes),
        policy="heuristic",
    )
    with RunStore.create(directory, manifest, [e.spec for e in episodes]) as held:
        for number, episode in enumerate(episodes):
            held.record(episode.model_copy(update={"run_id": directory.name, "finish_index": number}), {})
    return directory


@pytest.fixture(scope="session")
def recorded(browser_session: BrowserSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    benchmark = MiniwobBenchmark()
    tasks = {task.task_id: task for task in benchmark.tasks()}
    env = BrowserEnv(browser_session, benchmark.open)
    episodes = []
    for number, name in enumerate(TASKS):
        spec = EpisodeSpec(task=tasks[name], seed=3, order_index=number)
        trajectory, verdict = run_episode(HeuristicPolicy(), env, spec, max_steps=20)
        assert verdict.status == "success", (name, verdict)
        episodes.append(
            Episode(
                run_id="recorded",
                spec=spec,
                trajectory=trajectory,
                verdict=verdict,
                started_at="2025-01-01T00:00:00+00:00",
                wall_seconds=1.0,
            )
        )
    env.end_episode()
    return store(tmp_path_factory.mktemp("runs") / "recorded", episodes, "miniwob")
