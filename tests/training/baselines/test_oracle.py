"""A real browser as a world model: it gets to the page of a query again and shows what really follows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from audits.fidelity import delta_f1, score
from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.config import RunConfig
from harness.envs.browser import BrowserEnv
from harness.envs.session import BrowserSession
from harness.errors import UsageError
from harness.policies import PolicyConfig, make_policy
from harness.predictions import PastStep, WorldModelQuery
from harness.rollout import run_episode
from harness.types import Episode, EpisodeSpec, Observation
from results.reader import RunReader
from results.store import RunStore
from tests.audits.fidelity.factory import Row
from tests.results.factory import manifest
from training.world_model.model import load
from training.world_model.model.loading import judge_of
from training.world_model.model.oracle import OracleWorldModel
from training.world_model.model.program import ProgramWorldModel
from training.world_model.model.recorded import RecordedEpisodes, digest

UNKNOWN = Observation(url="http://a.example/", axtree="RootWebArea 'x'")
TASKS = ("click-checkboxes", "click-collapsible", "enter-text")


@pytest.fixture(scope="module")
def run(browser_session: BrowserSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three MiniWoB++ episodes of the heuristic policy, stored as `harness run` stores them."""
    by_id = {task.task_id: task for task in MiniwobBenchmark().tasks()}
    specs = [EpisodeSpec(task=by_id[name], seed=3, order_index=number) for number, name in enumerate(TASKS)]
    directory = tmp_path_factory.mktemp("runs") / "miniwob"
    env = BrowserEnv(browser_session, MiniwobBenchmark().open)
    policy = make_policy(PolicyConfig(name="heuristic"))
    config = RunConfig().model_dump(mode="json")
    with RunStore.create(directory, manifest(specs, run_id="miniwob", config=config), specs) as store:
        for number, spec in enumerate(specs):
            trajectory, verdict = run_episode(policy, env, spec, max_steps=8)
            played = Episode(
                run_id="miniwob", spec=spec, trajectory=trajectory, verdict=verdict, finish_index=number,
                started_at="2024-05-01T10:00:01+00:00", wall_seconds=1.0,
            )  # fmt: skip
            store.record(played, {})
    env.end_episode()
    return directory


@pytest.fixture(scope="module")
def rows(run: Path) -> list[Row]:
    from results.transitions import pairs

    found: list[Row] = []
    for episode in RunReader.open(run).episodes():
        past: list[PastStep] = []
        for step, then in pairs(episode.trajectory):
            action = step.output.action
            query = WorldModelQuery(
                goal=episode.trajectory.goal, observation=step.observation, action=action, history=tuple(past), site="miniwob"
            )
            found.append(Row(query, then, {"run": "miniwob", "episode": episode.spec.episode_id, "step": step.index}))
            past.append(PastStep(observation=step.observation, action=action))
    return found


@pytest.mark.browser
def test_the_oracle_shows_what_really_follows_from_a_reset_each_time(
    run: Path, rows: list[Row], browser_session: BrowserSession
) -> None:
    oracle = OracleWorldModel([run], browser_session)
    answers = oracle.predict([row.query for row in rows])
    scores = [score(row, found) for row, found in zip(rows, answers, strict=True)]
    assert len(rows) >= 5
    assert [s.malformed for s in scores] == [""] * len(rows)
    assert all(s.right for s in scores)
    assert any(delta_f1(s) == 1 for s in scores)
    assert oracle.replayer.resets == len(rows)
    last = [found[0] for row, found in zip(rows, answers, strict=True) if found[0].terminal]
    assert [found.self_assessed_reward for found in last] == [1.0] * len(last)
    assert last
    oracle.close()


@pytest.mark.browser
def test_the_program_gives_the_same_answers_with_one_reset_per_episode(
    run: Path, rows: list[Row], browser_session: BrowserSession
) -> None:
    program = ProgramWorldModel([run], browser_session)
    backwards = rows[::-1]
    answers = program.predict([row.query for row in backwards])
    assert all(score(row, found).right for row, found in zip(backwards, answers, strict=True))
    assert program.replayer.resets == len(TASKS)
    program.close()


@pytest.mark.browser
def test_what_cannot_be_reached_or_played_is_malformed(run: Path, rows: list[Row], browser_session: BrowserSession) -> None:
    oracle = OracleWorldModel([run], browser_session)
    unknown = rows[0].query.model_copy(update={"observation": UNKNOWN})
    target = next(row.query.action.target for row in rows if row.query.action.target)
    action = rows[0].query.action.model_copy(update={"target": target.model_copy(update={"name": "Nobody"})})
    gone = rows[0].query.model_copy(update={"action": action})
    found = oracle.predict([unknown, gone])
    assert [each[0].next_observation for each in found] == [None, None]
    assert found[0][0].malformed == "no recorded episode shows this page"
    assert "Nobody" in found[1][0].malformed
    oracle.close()


@pytest.mark.browser
def test_a_page_is_found_by_what_it_shows_and_by_what_came_before(run: Path, rows: list[Row]) -> None:
    index = RecordedEpisodes([run])
    for row in rows:
        prefix = index.locate(row.query)
        assert prefix is not None
        assert (prefix.spec.episode_id, len(prefix.actions)) == (row.provenance["episode"], row.provenance["step"])
    second = next(row for row in rows if row.provenance["step"] == 1)
    dreamt = Observation(url=second.query.observation.url, axtree="RootWebArea 'dreamt'")
    prefix = index.locate(second.query.model_copy(update={"observation": dreamt}))
    assert prefix is not None
    assert prefix.actions == (second.query.history[0].action,), "found by its history, and played on from there"


@pytest.mark.browser
def test_dreams_in_a_real_browser_are_judged_by_the_benchmark(run: Path, rows: list[Row]) -> None:
    """From any thread, in a browser of its own; a dream that goes on from where it stands resets nothing."""
    world = load(f"program:{run}")
    assert isinstance(world, ProgramWorldModel)
    judge = judge_of(world)
    stored = {e.spec.task.task_id: e for e in RunReader.open(run).episodes()}
    whole = stored["click-checkboxes"].trajectory
    half = whole.model_copy(update={"steps": whole.steps[:1], "final_observation": whole.steps[1].observation})
    elsewhere = whole.model_copy(update={"steps": (whole.steps[0].model_copy(update={"observation": UNKNOWN}),)})
    try:
        with ThreadPoolExecutor(3) as pool:
            for row in [row for row in rows if row.provenance["episode"].startswith("click-checkboxes")]:
                assert pool.submit(world.predict, [row.query]).result()[0][0].next_observation is not None
            told = [pool.submit(judge.judge, made).result() for made in (whole, half, elsewhere)]
    finally:
        world.close()
    assert [verdict.status for verdict in told] == ["success", "failure", "error"]
    assert world.replayer.resets == 2, "the whole episode had just been played; the half one began anew"
    assert told[2].error is not None and told[2].error.boundary == "judge"
    assert "no recorded episode shows this page" in told[2].reason


def test_pages_are_compared_without_bids_focus_and_ports() -> None:
    one = Observation(url="http://shop.localhost:8110/a?b=1", axtree="RootWebArea 'x', focused\n\t[1] button 'OK'")
    other = Observation(url="http://shop.localhost:8210/a?b=1", axtree="RootWebArea 'x'\n\t[9] button 'OK', focused")
    assert digest(one) == digest(other)
    assert digest(one) != digest(one.model_copy(update={"url": "http://shop.localhost:8110/a?b=2"}))
    assert digest(one) != digest(one.model_copy(update={"axtree": "RootWebArea 'x'\n\t[1] button 'No'"}))


def test_runs_that_cannot_be_played_again_are_refused(tmp_path: Path) -> None:
    from tests.results.factory import plan, task

    specs = plan([task("t1")])
    with RunStore.create(tmp_path / "live", manifest(specs, benchmark="webvoyager"), specs):
        pass
    with pytest.raises(UsageError, match="cannot be played again"):
        OracleWorldModel([tmp_path / "live"])
    with pytest.raises(UsageError, match="no run"):
        OracleWorldModel([tmp_path / "nowhere"])
