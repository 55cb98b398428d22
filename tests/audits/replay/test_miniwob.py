"""Replays in a real browser: recorded successes succeed again, planted faults are found, arms do what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from audits.controls.faults import plant
from audits.replay.assess import NOTE
from audits.replay.config import ReplaySettings
from audits.replay.evidence import Replay, judge, same
from audits.replay.plan import draw
from audits.replay.rescore import rescore
from audits.replay.safety import Guard, guarded
from audits.replay.worker import Replayer
from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.envs.browser import BrowserEnv
from harness.envs.session import BrowserSession
from harness.policies.heuristic import HeuristicPolicy
from harness.rollout import Silent
from harness.types import Episode, EpisodeSpec, Step
from results.reader import RunReader
from tests.audits.replay.conftest import TASKS, store

pytestmark = pytest.mark.browser

ReplayAll = Callable[..., list[Replay]]


@pytest.fixture
def replay_all(browser_session: BrowserSession) -> Iterator[ReplayAll]:
    envs: list[BrowserEnv] = []

    def play(dreams: Path, arm: str = "stop", listener: Silent | None = None) -> list[Replay]:
        settings = ReplaySettings(dreams=str(dreams), arm=arm)  # type: ignore[arg-type]
        guard = Guard(settings.safety)
        browser = BrowserEnv(browser_session, guarded(MiniwobBenchmark().open, guard))
        envs.append(browser)
        successor = HeuristicPolicy() if arm == "handover" else None
        replayer = Replayer(browser, settings, guard, successor)
        found = []
        for spec in specs(dreams):
            trajectory, verdict = replayer.play(spec, listener or Silent())
            found.append(judge(as_episode(spec, trajectory, verdict), settings))
        return found

    yield play
    for env in envs:
        env.end_episode()


def specs(dreams: Path) -> tuple[EpisodeSpec, ...]:
    return draw(RunReader.open(dreams), {task.task_id: task for task in MiniwobBenchmark().tasks()}).specs


def as_episode(spec: EpisodeSpec, trajectory: object, verdict: object) -> Episode:
    data = {"run_id": "r", "spec": spec, "trajectory": trajectory, "verdict": verdict, "started_at": "", "wall_seconds": 1.0}
    return Episode.model_validate_json(Episode.model_validate(data).model_dump_json())  # as a reader of the store sees it


def planted(recorded: Path, tmp_path: Path, fault: str, task: str) -> Path:
    episode = RunReader.open(recorded).episode(f"{task}__A__r0__a0")
    found = plant(episode.trajectory, fault, Random(1))
    assert found is not None
    return store(tmp_path / fault, [episode.model_copy(update={"trajectory": found.trajectory})], "miniwob")


def test_real_successes_succeed_again_by_descriptor_alone(recorded: Path, replay_all: ReplayAll) -> None:
    replays = replay_all(recorded)
    assert [r.assessment.outcome for r in replays] == ["success"] * len(TASKS)
    assert all(r.assessment.finished for r in replays)
    assert [d for r in replays for d in r.assessment.divergences] == []
    assert all(same(r) for r in replays), "judged again from the stored bytes: the same to the bit"
    assert {g.kind for r in replays for g in r.assessment.groundings} <= {"exact", "no_element"}
    bundles = [r.episode.verdict.evidence[NOTE] for r in replays]
    assert all(isinstance(bundle, dict) and set(bundle) == {"dream", "claim", "assessment", "har"} for bundle in bundles)


@pytest.mark.parametrize(
    ("fault", "cause"), [("phantom_target", "exec"), ("renamed_target", "exec"), ("wrong_url", "url"), ("fake_success", "any")]
)
def test_a_planted_fault_is_found_at_its_page(
    recorded: Path, tmp_path: Path, replay_all: ReplayAll, fault: str, cause: str
) -> None:
    episode = RunReader.open(recorded).episode("click-checkboxes-large__A__r0__a0")
    known = plant(episode.trajectory, fault, Random(1))
    assert known is not None
    (found,) = replay_all(planted(recorded, tmp_path, fault, "click-checkboxes-large"))
    first = found.assessment.first
    assert first is not None and (first.page, first.cause) == (known.page, cause)
    assert found.assessment.outcome == ("failure" if cause == "exec" else "success")


def test_skipping_goes_on_and_handing_over_lets_the_policy_finish(recorded: Path, tmp_path: Path, replay_all: ReplayAll) -> None:
    dreams = planted(recorded, tmp_path, "phantom_target", "click-checkboxes-large")
    (stopped,), (skipped,), (handed,) = replay_all(dreams), replay_all(dreams, "skip"), replay_all(dreams, "handover")
    assert stopped.assessment.outcome == "failure"
    assert stopped.assessment.compared < skipped.assessment.compared == skipped.assessment.length + 1
    assert [note["move"] for s in skipped.episode.trajectory.steps if (note := s.metadata["replay"])].count("skipped") == 1  # type: ignore[index,call-overload]
    assert handed.assessment.outcome == "success", "the policy could still do it: E3 is not E1"
    assert len({r.assessment.first.page for r in (stopped, skipped, handed) if r.assessment.first}) == 1


def test_a_browser_that_dies_says_nothing_about_the_dream(
    recorded: Path, replay_all: ReplayAll, browser_session: BrowserSession
) -> None:
    class Kills(Silent):
        def step(self, step: Step) -> None:
            if step.index == 0:
                browser_session.restart()

    replays = replay_all(recorded, listener=Kills())
    long = [r for r in replays if r.assessment.length > 1]
    assert long and {(r.assessment.outcome, r.assessment.cause) for r in long} == {("inconclusive", "infrastructure")}


def test_dreams_that_cannot_be_replayed_cost_no_browser_and_are_counted(
    recorded: Path, tmp_path: Path, replay_all: ReplayAll
) -> None:
    episode = RunReader.open(recorded).episode("click-button__A__r0__a0")
    other = episode.spec.task.model_copy(update={"goal": "another goal than today's"})
    gone = episode.spec.task.model_copy(update={"task_id": "no-such-task"})
    step = episode.trajectory.steps[0]
    blind = step.output.action.model_copy(update={"arguments": {"bid": "9999"}, "target": None})
    without = step.model_copy(update={"output": step.output.model_copy(update={"action": blind})})
    episodes = [
        episode.model_copy(
            update={
                "spec": episode.spec.model_copy(update={"task": task, "window": window}),
                "trajectory": episode.trajectory.model_copy(update={"task": task, "steps": steps}),
            }
        )
        for window, task, steps in (
            ("A", other, episode.trajectory.steps),
            ("B", gone, episode.trajectory.steps),
            ("C", episode.spec.task, (without,)),
            ("D", episode.spec.task, ()),
        )
    ]
    replays = replay_all(store(tmp_path / "bad", episodes, "miniwob"))
    causes = [(r.assessment.outcome, r.assessment.cause) for r in replays]
    assert causes == [
        ("inconclusive", "site_version"),
        ("inconclusive", "unknown_task"),
        ("inconclusive", "missing_descriptor"),
        ("inconclusive", "empty_dream"),
    ]
    assert all(not r.episode.trajectory.steps for r in replays)


def test_judging_again_notices_evidence_that_was_tampered_with(recorded: Path, tmp_path: Path, replay_all: ReplayAll) -> None:
    replays = replay_all(recorded)
    settings = ReplaySettings(dreams=str(recorded)).model_dump(mode="json")
    first = replays[0].episode
    forged = first.model_copy(
        update={"verdict": first.verdict.model_copy(update={"status": "failure", "reward": 0.0}), "run_id": "forged"}
    )
    for name, kept in (("honest", first), ("forged", forged)):
        directory = store(tmp_path / name, [kept], "miniwob")
        reader = RunReader.open(directory)
        reader.manifest = reader.manifest.model_copy(update={"benchmark_options": {"replay": settings}})
        assert rescore(reader).equal == (name == "honest")
