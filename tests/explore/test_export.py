"""Exports come back as what was stored, say where it comes from, and hold one episode at a time."""

from __future__ import annotations

import gzip
import json
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.types import Episode, Observation, Record, Transition
from results.hindsight import RULES, label_walk
from results.labels import write_labels
from results.reader import RunReader
from results.store import RunStore
from results.transitions import TrajectoryRow, change_of, hindsight, pairs, played, trajectories, transitions, write_lines
from tests.explore.test_hindsight import ADDED, HOME, LAMP
from tests.explore.walks import stored, walk
from tests.results.factory import episode, manifest, plan, step, task

SCRIPT = (HOME, "scroll(0, 10)", HOME, 'click("4")', LAMP, '!click("99")', LAMP, 'click("6")', ADDED)


@pytest.fixture
def run(tmp_path: Path) -> RunReader:
    """Two walks; the second starts at a task of the held-out site."""
    tasks = [
        task("t1", template="put", site="shop", metadata={"split": "train", "held_out_site": False}),
        task("t2", template="see", site="wiki", metadata={"split": "train", "held_out_site": True}),
    ]
    stored(tmp_path / "run", [walk(*SCRIPT, spec=spec) for spec in plan(tasks)])
    return RunReader.open(tmp_path / "run")


def lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def test_transitions_come_back_from_the_file_as_they_were_stored(run: RunReader, tmp_path: Path) -> None:
    path = tmp_path / "out" / "t.jsonl.gz"
    assert write_lines(path, transitions(run)) == 8
    back = [Transition.model_validate_json(line) for line in lines(path)]
    expected = [(s.observation, s.output.action, after) for found in played(run) for s, after in pairs(found.trajectory)]
    assert [(t.observation, t.action, t.next_observation) for t in back] == expected
    again = tmp_path / "again.jsonl.gz"
    write_lines(again, transitions(run))
    assert again.read_bytes() == path.read_bytes()


def test_provenance_says_where_a_transition_comes_from_and_what_became_of_it(run: RunReader) -> None:
    found = [t.provenance for t in transitions(run)]
    assert [p["change"] for p in found[:4]] == ["none", "url", "none", "page"]
    assert [p["changed"] for p in found[:4]] == [False, True, False, True]
    assert [p["action_error"] for p in found[:4]] == ["", "", "stale", ""]
    assert [(p["episode"], p["step"]) for p in found[:2]] == [("t1__A__r0__a0", 0), ("t1__A__r0__a0", 1)]
    expected = {"run": "run-1", "task_id": "t2", "template": "see", "site": "wiki", "split": "train", "held_out_site": True}
    assert expected.items() <= found[4].items()
    assert found[0] | {"source": "real", "why": "why 0", "action": "scroll"} == found[0]


def test_the_goal_of_a_walk_is_what_it_did_not_the_task_it_began_at(run: RunReader) -> None:
    labels = [label for found in played(run) for label in label_walk(found)]
    goals = [t.goal for t in transitions(run, labels=labels)][:4]
    assert goals == ["", "Open the page 'Brass Lamp'", "", "Add 'Brass Lamp' to the basket"]
    assert {t.goal for t in transitions(run)} == {""}


def test_an_agents_transitions_keep_its_goal(tmp_path: Path) -> None:
    (spec,) = plan([task("t1")])
    stored(tmp_path / "run", [walk(*SCRIPT, spec=spec)], policy="llm")
    found = list(transitions(RunReader.open(tmp_path / "run")))
    assert {t.goal for t in found} == {"goal of t1"}
    assert all("why" not in t.provenance for t in found)


def test_hindsight_cuts_a_walk_where_the_goal_was_reached(run: RunReader) -> None:
    labels = [label for found in played(run) for label in label_walk(found)]
    rows = list(hindsight(run, labels))
    assert [(row.trajectory.goal, len(row.trajectory.steps)) for row in rows[:2]] == [
        ("Open the page 'Brass Lamp'", 2),
        ("Add 'Brass Lamp' to the basket", 4),
    ]
    first = rows[0].trajectory
    assert first.final_observation is not None and first.final_observation.url == LAMP.url
    assert (rows[0].status, rows[0].reward, first.stop_reason) == ("inconclusive", None, "stop")
    assert first.producers["labeler"] == RULES and rows[0].label is not None
    assert TrajectoryRow.model_validate_json(rows[0].model_dump_json()) == rows[0]


@pytest.mark.parametrize(
    ("policy", "stated", "source"),
    [("oracle", None, "expert"), ("oracle", "real", "real"), ("llm", None, "real"), ("llm", "expert", "expert")],
)
def test_an_oracles_run_is_expert_data_unless_stated_otherwise(
    tmp_path: Path, policy: str, stated: str | None, source: str
) -> None:
    good, bad = plan([task("t1"), task("t2")])
    found = [episode(good, "success", steps=[step(0)]), episode(bad, "failure", steps=[step(0)])]
    stored(tmp_path / "run", found, policy=policy)
    options = ["--source", stated] if stated else []
    out = tmp_path / "x.jsonl"
    result = CliRunner().invoke(
        app, ["export", str(tmp_path / "run"), "--format", "trajectories", "--only", "success", "--out", str(out), *options]
    )
    assert result.exit_code == 0, result.output
    (row,) = [TrajectoryRow.model_validate_json(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert (row.trajectory.source, row.status, row.trajectory.task.task_id) == (source, "success", "t1")


def test_only_the_last_attempt_counts_and_nothing_interrupted(tmp_path: Path) -> None:
    spec, other = plan([task("t1"), task("t2")])
    second = spec.model_copy(update={"attempt": 1})
    with RunStore.create(tmp_path / "run", manifest([spec, other]), [spec, other]) as store:
        store.record(episode(spec, "error", steps=[step(0)]), {})
        store.record(episode(second, "success", steps=[step(0), step(1)]), {})
        store.record(episode(other, "error", steps=[step(0)], stop_reason="interrupted"), {})
    found = list(trajectories(RunReader.open(tmp_path / "run")))
    assert [row.episode_id for row in found] == ["t1__A__r0__a1"]
    # The last step has no page after it: nothing was recorded, so it is no transition.
    assert len(list(transitions(RunReader.open(tmp_path / "run")))) == 1


def test_one_episode_is_in_memory_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    specs = plan([task(f"t{n}") for n in range(30)])
    stored(tmp_path / "run", [episode(spec, "success", steps=[step(0), step(1)]) for spec in specs])
    read = RunReader.episode
    alive: list[weakref.ref[Episode]] = []
    most = 0

    def counted(self: RunReader, episode_id: str) -> Episode:
        nonlocal most
        most = max(most, sum(ref() is not None for ref in alive))
        found = read(self, episode_id)
        alive.append(weakref.ref(found))
        return found

    monkeypatch.setattr(RunReader, "episode", counted)
    assert write_lines(tmp_path / "t.jsonl.gz", transitions(RunReader.open(tmp_path / "run"))) == 30
    assert (len(alive), most) == (30, 1)  # the one before goes when the next has come
    rows = transitions(RunReader.open(tmp_path / "run"))
    next(rows)
    assert len(alive) == 31, "the first line came after one episode was read"


def test_a_failed_export_leaves_the_old_file(tmp_path: Path, run: RunReader) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(b"old")

    def broken() -> Iterator[Record]:
        yield from transitions(run)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        write_lines(path, broken())
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".tmp")] == []


def test_the_command_exports_labels_by_confidence_and_says_what_is_missing(run: RunReader) -> None:
    directory = str(run.directory)
    runner = CliRunner()
    missing = runner.invoke(app, ["export", directory, "--format", "hindsight"])
    assert missing.exit_code != 0 and "no labels" in str(missing.exception)
    write_labels(run.directory, RULES, [label for found in played(run) for label in label_walk(found)])
    assert "4 hindsight in" in runner.invoke(app, ["export", directory, "--format", "hindsight"]).output
    assert "no labels" in str(runner.invoke(app, ["export", directory, "-f", "hindsight", "--confidence", "1"]).exception)
    assert "8 transitions in" in runner.invoke(app, ["export", directory]).output
    goals = [json.loads(line)["goal"] for line in lines(run.directory / "exports" / "transitions.jsonl.gz")]
    assert "Add 'Brass Lamp' to the basket" in goals


def test_changes_are_told_apart() -> None:
    def seen(tree: str, url: str = "http://a.test/") -> Observation:
        return Observation(url=url, axtree=tree)

    page = seen("RootWebArea 'P', focused\n\t[1] button 'b'")
    assert change_of(page, page) == "none"
    assert change_of(page, seen("RootWebArea 'P', focused\n\t[7] button 'b'")) == "none"
    assert change_of(page, seen("RootWebArea 'P'\n\t[1] button 'b', focused")) == "focus"
    assert change_of(page, seen("RootWebArea 'P', focused\n\t[1] button 'c'")) == "page"
    assert change_of(page, seen(page.axtree, "http://a.test/#x")) == "url"
