"""Episodes on the real applications in a real browser: who wins, who loses, and what is nobody's fault."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from harness.actions import parse_action
from harness.benchmarks.arena import ArenaBenchmark
from harness.benchmarks.arena.data import definitions
from harness.benchmarks.arena.oracle import NearlyPolicy, OraclePolicy
from harness.envs.browser import BrowserEnv
from harness.envs.session import BrowserSession
from harness.policies import NoopPolicy
from harness.protocols import Policy
from harness.rollout import run_episode
from harness.sites import catalog
from harness.sites.instances import Sites, reset
from harness.sites.records import InstanceSet
from harness.types import EpisodeSpec, Observation, PolicyOutput, Task, Trajectory, Verdict

pytestmark = [pytest.mark.sites, pytest.mark.browser, pytest.mark.webarena]


class Scripted:
    """Plays action texts; a callable among them is called and counts as a noop."""

    name = "scripted"

    def __init__(self, *actions: Any) -> None:
        self._actions: Iterator[Any] = iter(actions)

    def reset(self, goal: str, task: Task, seed: int) -> None: ...

    def act(self, observation: Observation) -> PolicyOutput:
        action = next(self._actions, "noop(0)")
        if callable(action):
            action()
            action = "noop(0)"
        return PolicyOutput(action=parse_action(action))

    def close(self) -> None: ...


@pytest.fixture
def env(browser_session: BrowserSession, arena: ArenaBenchmark) -> Iterator[BrowserEnv]:
    env = BrowserEnv(browser_session, arena.open)
    yield env
    env.end_episode()


def play(
    env: BrowserEnv, arena: ArenaBenchmark, policy: Policy, task_id: str, *, seed: int = 0, max_steps: int = 25
) -> tuple[Trajectory, Verdict]:
    task = next(task for task in arena.tasks() if task.task_id == task_id)
    return run_episode(policy, env, EpisodeSpec(task=task, seed=seed, order_index=0), max_steps=max_steps)


def first(kind: str, *sites: str) -> str:
    """A task of these sites that is scored by `kind`, alone if there is one."""
    kinds = {t: row["eval"]["eval_types"] for t, row in definitions().items() if row["sites"] == list(sites)}  # type: ignore[index,call-overload]
    return min((task_id for task_id, types in kinds.items() if kind in types), key=lambda task_id: len(kinds[task_id]))  # type: ignore[arg-type]


@pytest.mark.parametrize("site", ["shop", "shop_admin", "forum", "tracker", "wiki"])
def test_the_oracle_wins_and_the_nearly_right_oracle_loses(env: BrowserEnv, arena: ArenaBenchmark, site: str) -> None:
    task_id = first("state", site)
    trajectory, verdict = play(env, arena, OraclePolicy(), task_id)
    assert (verdict.status, verdict.reward, verdict.reason) == ("success", 1.0, "all evaluators agree"), task_id
    assert trajectory.stop_reason == "stop"
    assert verdict.other_scores[-1].profile == "arena-state"
    _, verdict = play(env, arena, NearlyPolicy(), task_id)
    assert (verdict.status, verdict.reward) == ("failure", 0.0), task_id
    assert verdict.reason != "all evaluators agree"


def test_doing_nothing_loses(env: BrowserEnv, arena: ArenaBenchmark) -> None:
    _, verdict = play(env, arena, NoopPolicy(), first("string_match", "tracker"), max_steps=2)
    assert (verdict.status, verdict.reason) == ("failure", "official evaluators gave 0; the agent gave no answer")
    assert [score.profile for score in verdict.other_scores] == ["webarena-official"]


def test_equal_actions_give_equal_trees(env: BrowserEnv, arena: ArenaBenchmark) -> None:
    for site in ("shop", "forum", "tracker"):
        task_id = first("state", site)
        one, other = (play(env, arena, OraclePolicy(), task_id, seed=7)[0] for _ in range(2))
        assert [step.output.text for step in one.steps] == [step.output.text for step in other.steps]
        assert [step.observation.axtree for step in one.steps] == [step.observation.axtree for step in other.steps]


def test_a_page_elsewhere_ends_the_episode_and_is_reported(env: BrowserEnv, arena: ArenaBenchmark) -> None:
    task_id = first("string_match", "tracker")
    trajectory, verdict = play(env, arena, Scripted('goto("http://example.com/secret?q=1")'), task_id)
    assert trajectory.stop_reason == "terminated"
    assert verdict.status == "failure"
    assert verdict.reason.startswith("left the sites for http://example.com/secret?q=1")
    assert verdict.evidence["blocked_hosts"] == {"example.com": 1}


def test_the_fence_knows_the_port(env: BrowserEnv, arena: ArenaBenchmark, instance_set: InstanceSet) -> None:
    """Another service of this machine is as foreign as the Internet; an address that only looks like ours too."""
    app = instance_set.app("tracker")
    address = f"http://{app.app.hostname}"
    for url in (f"{address}:1/", f"{address}/", f"{address}:{app.port}@example.com/", f"{address}.example.com:{app.port}/"):
        _, verdict = play(env, arena, Scripted(f'goto("{url}")'), first("string_match", "tracker"))
        assert verdict.reason.startswith("left the sites for "), url
        assert verdict.reward == 0.0


def test_sites_set_back_by_somebody_else_are_an_error_of_the_site(
    env: BrowserEnv, arena: ArenaBenchmark, instance_set: InstanceSet
) -> None:
    policy = Scripted(lambda: reset(instance_set, ["tracker"]), 'send_msg_to_user("5")')
    _, verdict = play(env, arena, policy, first("string_match", "tracker"))
    assert verdict.status == "error" and verdict.error is not None
    assert (verdict.error.boundary, verdict.error.kind) == ("site", "foreign_reset")


def test_a_site_that_dies_is_an_error_and_not_a_failure(
    env: BrowserEnv, arena: ArenaBenchmark, instance_set: InstanceSet
) -> None:
    pid = instance_set.app("tracker").pid
    try:
        policy = Scripted(lambda: os.kill(pid, signal.SIGSTOP), 'send_msg_to_user("5")')
        _, verdict = play(env, arena, policy, first("string_match", "tracker"))
    finally:
        os.kill(pid, signal.SIGCONT)
    assert verdict.status == "error" and verdict.error is not None
    assert (verdict.error.boundary, verdict.error.kind) == ("site", "unreachable")


def test_what_an_episode_did_is_gone_in_the_next(env: BrowserEnv, arena: ArenaBenchmark) -> None:
    """The same writing task in any order, with itself and others: the verdict is that of a fresh site."""
    writing, reading = first("state", "tracker"), first("string_match", "tracker")
    for task_id in (writing, reading, writing, writing):
        assert play(env, arena, OraclePolicy(), task_id)[1].status == "success"


def test_doctor_sees_the_sites(arena: ArenaBenchmark, instance_set: InstanceSet) -> None:
    checks = {check.name: check for check in arena.checks()}
    assert {checks[site].status for site in catalog.SITES} == {"ok"}
    assert checks["wiki"].detail == f"{instance_set.app('wiki').url} answers"
    assert Sites(instance_set.state_dir).status()[0].condition == "up"


def test_doctor_refuses_sites_of_other_contents(arena: ArenaBenchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site that was brought up before its world was changed is not the one that the answers were computed from."""
    monkeypatch.setattr("harness.benchmarks.arena.benchmark.current_name", lambda app: f"{app}-of-tomorrow")
    missing = [check for check in arena.checks() if check.status == "missing"]
    assert {check.site for check in missing} == set(catalog.SITES)
    assert all(check.fix == f"harness sites up {check.site}" and "another version" in check.detail for check in missing)
