"""Fixed action scripts: what every contender of throughput.py plays, found once by a rehearsal of the heuristic policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.actions import make_action, parse_action, print_action
from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.envs.browser import BrowserEnv
from harness.envs.chromium import find_chromium
from harness.envs.config import BrowserConfig
from harness.envs.session import BrowserSession
from harness.policies.heuristic import HeuristicPolicy
from harness.rollout import run_episode
from harness.types import EpisodeSpec, Observation, PolicyOutput, Task

TASKS = (
    "click-test",
    "click-tab",
    "login-user",
    "choose-list",
    "enter-text",
    "click-checkboxes",
    "click-dialog",
    "click-option",
)
"""One to about five steps each; no task whose page changes by itself, so that all contenders see the same pages."""
MAX_STEPS = 8


@dataclass(frozen=True)
class Script:
    """One episode: BrowserGym calls that end the task, the reward they earn, and the tree that was seen first."""

    task_id: str
    seed: int
    actions: tuple[str, ...]
    reward: float
    first_tree: str


def rehearse(tasks: Sequence[str], seeds: Sequence[int], browser: str) -> dict[int, list[Script]]:
    """seed → scripts, made by the heuristic policy in our environment. Runs in a process of its own."""
    by_id = {task.task_id: task for task in MiniwobBenchmark().tasks()}
    config = BrowserConfig(executable_path=browser)
    env = BrowserEnv(BrowserSession(config, find_chromium(browser)), MiniwobBenchmark().open)
    try:
        return {seed: [_rehearse_one(env, by_id[name], seed) for name in tasks] for seed in seeds}
    finally:
        env.close()


def _rehearse_one(env: BrowserEnv, task: Task, seed: int) -> Script:
    trajectory, _verdict = run_episode(
        HeuristicPolicy(), env, EpisodeSpec(task=task, seed=seed, order_index=0), max_steps=MAX_STEPS
    )
    if trajectory.stop_reason != "terminated":
        raise SystemExit(f"the rehearsal of {task.task_id}, seed {seed}, did not end the task: {trajectory.stop_reason}")
    return Script(
        task_id=task.task_id,
        seed=seed,
        actions=tuple(print_action(step.output.action) for step in trajectory.steps),
        reward=trajectory.steps[-1].reward,
        first_tree=trajectory.steps[0].observation.axtree,
    )


class ScriptedPolicy:
    """For `harness run --policy scripted:ScriptedPolicy`: the script of the episode's task and seed."""

    name = "scripted"

    def __init__(self, scripts: dict[str, list[str]]) -> None:
        self._scripts = scripts
        self._actions: Iterator[str] = iter([])

    def reset(self, goal: str, task: Task, seed: int) -> None:
        self._actions = iter(self._scripts[script_key(task.task_id, seed)])

    def act(self, observation: Observation) -> PolicyOutput:
        text = next(self._actions, None)
        action = parse_action(text) if text is not None else make_action("report_infeasible", {"reason": "script is over"})
        return PolicyOutput(action=action, text=action.raw, policy_version="1")

    def close(self) -> None: ...


def script_key(task_id: str, seed: int) -> str:
    return f"{task_id} {seed}"
