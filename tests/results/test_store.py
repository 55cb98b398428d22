"""The store: what goes in comes out, one writer, clear refusals, and broken files that are named and never counted."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import HarnessError, NotReadyError, UsageError
from harness.types import Exclusion, Observation, Trajectory, Usage
from results.files import LOCK
from results.index import EpisodeRow
from results.manifest import Environment
from results.reader import EPISODE, EPISODES, INDEX, MANIFEST, RunReader, find_run
from results.store import RETRY_ERRORS, RunStore
from tests.results.factory import PNG, episode, make_run, manifest, plan, step, task, usage


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "run-1"


def test_what_goes_in_comes_out(run_dir: Path) -> None:
    specs = plan([task("a", template="7"), task("b", unachievable=True)])
    header = manifest(specs, excluded=(Exclusion(task_id="c", rule="impossible", reason="closed"),))
    stored = episode(specs[0], steps=[step(0, usage=usage()), step(1)])
    with RunStore.create(run_dir, header, specs) as store:
        store.record(stored, {"step-000.png": PNG})
    run = RunStore.open(run_dir)
    assert run.manifest == header
    assert run.plan() == specs
    assert run.episode("a__A__r0__a0") == stored
    assert list(run.episodes()) == [stored]
    assert run.screenshot("a__A__r0__a0", "step-000.png") == PNG
    assert [row.key for row in run.rows()] == ["webarena/a/A/0"]


def test_screenshot_bytes_are_files_not_json(run_dir: Path) -> None:
    specs = plan([task("a")])
    seen = Observation(url="u", axtree="t", screenshot_ref="step-000.png", screenshot=b"SECRETPIXELS")
    with RunStore.create(run_dir, manifest(specs), specs) as store:
        store.record(episode(specs[0], steps=[step(0).model_copy(update={"observation": seen})]), {"step-000.png": PNG})
    data = gzip.decompress((run_dir / EPISODES / "a__A__r0__a0" / EPISODE).read_bytes())
    assert b"SECRETPIXELS" not in data
    assert b'"screenshot_ref":"step-000.png"' in data


def test_a_stored_episode_is_readable_without_our_code(run_dir: Path) -> None:
    make_run(run_dir, plan([task("a")]), ["failure"])
    with gzip.open(run_dir / "episodes" / "a__A__r0__a0" / "episode.json.gz", "rt") as file:
        data = json.load(file)
    assert data["verdict"]["status"] == "failure"
    assert data["schema_version"] == 1


def test_row_counts_what_happened(run_dir: Path) -> None:
    specs = plan([task("a")])
    steps = [
        step(0, usage=usage(cost=None), dropped_lines=3),
        step(1, usage=usage(cost=0.5)),
        step(2).model_copy(update={"observation": Observation(url="", axtree="", slow=True, truncated=True, dropped_nodes=9)}),
    ]
    with RunStore.create(run_dir, manifest(specs), specs) as store:
        store.record(episode(specs[0], steps=steps, verdict={"usage": usage(cost=0.25)}), {})
        (row,) = store.rows()
    assert (row.steps, row.slow_steps, row.capped_steps, row.dropped_nodes) == (3, 1, 1, 9)
    assert (row.cut_steps, row.dropped_lines) == (1, 3)
    assert (row.agent_requests, row.agent_cost_usd) == (2, None), "an unknown price makes the sum unknown, not 0.5"
    assert (row.judge_requests, row.judge_cost_usd) == (1, 0.25)
    assert row.timing == pytest.approx({"check": 0, "execute": 0.3, "observe": 0.3, "policy": 1.5, "settle": 0.6})


def test_finished_and_retry(run_dir: Path) -> None:
    specs = plan([task(name) for name in "abcdef"])
    make_run(run_dir, specs, ["success", "failure", "error", "blocked", "inconclusive", None])
    run = RunReader.open(run_dir)
    keys = [spec.key for spec in specs]
    assert run.finished() == set(keys[:5])
    assert run.finished(RETRY_ERRORS) == set(keys[:2])
    assert [run.next_attempt(spec).attempt for spec in specs] == [1, 1, 1, 1, 1, 0]


def test_the_last_attempt_counts(run_dir: Path) -> None:
    specs = plan([task("a")])
    make_run(run_dir, specs, ["error"])
    with RunStore.resume(run_dir, manifest(specs)) as store:
        again = store.next_attempt(specs[0])
        store.record(episode(again, "failure", finish_index=1), {})
        assert store.latest()[again.key].status == "failure"
    assert len(RunReader.open(run_dir).rows()) == 2


def test_interrupted_episodes_are_played_again(run_dir: Path) -> None:
    specs = plan([task("a")])
    with RunStore.create(run_dir, manifest(specs), specs) as store:
        store.record(episode(specs[0], "error", stop_reason="interrupted"), {})
        assert store.finished() == set()


def test_one_writer_at_a_time_and_the_error_names_it(run_dir: Path) -> None:
    specs = plan([task("a")])
    with (
        RunStore.create(run_dir, manifest(specs), specs),
        pytest.raises(NotReadyError, match=rf"another process \(pid {os.getpid()}\)"),
    ):
        RunStore.resume(run_dir, manifest(specs))
    RunStore.resume(run_dir, manifest(specs)).close()


def test_readers_need_no_lock_and_see_new_episodes(run_dir: Path) -> None:
    specs = plan([task("a"), task("b")])
    with RunStore.create(run_dir, manifest(specs), specs) as store:
        reader = RunReader.open(run_dir)
        for n, spec in enumerate(specs):
            assert len(reader.rows()) == n
            store.record(episode(spec), {})
        assert len(reader.rows()) == 2


def test_a_killed_writer_leaves_no_lock(run_dir: Path) -> None:
    specs = plan([task("a")])
    make_run(run_dir, specs, [None])
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from results.files import lock_file;"
            "lock_file(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()",
            str(run_dir / LOCK),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(NotReadyError, match=f"pid {holder.pid}"):
            RunStore.resume(run_dir, manifest(specs))
        holder.kill()
    RunStore.resume(run_dir, manifest(specs)).close()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"task_set_hash": "other"}, "task_set_hash: sha256:00ff in the run, other asked"),
        ({"policy": "llm"}, "policy: scripted in the run, llm asked"),
        ({"policy_version": "2"}, "policy_version"),
        ({"windows": ("B",)}, "windows"),
        ({"base_seed": 8}, "base_seed: 7 in the run, 8 asked"),
        ({"config": {"limits": {"max_steps": 5}}}, "config.limits.max_steps: 30 in the run, 5 asked"),
        ({"config": {}}, "config.limits.max_steps: 30 in the run, nothing asked"),
        ({"judge": "gpt"}, "judge"),
    ],
)
def test_resume_with_other_settings_is_refused(run_dir: Path, change: dict[str, object], named: str) -> None:
    specs = plan([task("a")])
    config = {"config": {"limits": {"max_steps": 30}}}
    make_run(run_dir, specs, ["success"], **config)
    with pytest.raises(UsageError) as refused:
        RunStore.start(run_dir, manifest(specs, **{**config, **change}), specs)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.fix


def test_resume_keeps_the_stored_plan_and_notes_a_changed_machine(run_dir: Path) -> None:
    specs = plan([task("a", goal="today is 1 May")])
    make_run(run_dir, specs, [None])
    elsewhere = Environment(python="3.12.1", browser="chromium", browser_version="2.0", commit="def")
    later = manifest(specs, environments=(elsewhere,), execution={"workers": 4}, created_at="later")
    with RunStore.start(run_dir, later, plan([task("a", goal="today is 2 May")])) as store:
        assert store.plan() == specs
        assert [e.python for e in store.manifest.environments] == ["3.11.7", "3.12.1"]
        assert store.manifest.execution == {"workers": 4}
        assert store.manifest.created_at == "2024-05-01T10:00:00+00:00"
    assert RunReader.open(run_dir).manifest == store.manifest


def _damage_truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _damage_bytes(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data) + b"x")


def _damage_not_gzip(path: Path) -> None:
    path.write_text("hello")


def _damage_not_json(path: Path) -> None:
    path.write_bytes(gzip.compress(b'{"run_id": '))


def _damage_not_utf8(path: Path) -> None:
    path.write_bytes(gzip.compress(b"\xff\xfe"))


def _damage_newer(path: Path) -> None:
    data = json.loads(gzip.decompress(path.read_bytes()))
    path.write_bytes(gzip.compress(json.dumps({**data, "schema_version": 99, "new_field": 1}).encode()))


def _damage_missing(path: Path) -> None:
    path.unlink()


def _damage_other_episode(path: Path) -> None:
    data = json.loads(gzip.decompress(path.read_bytes()))
    data["spec"]["window"] = "Z"
    path.write_bytes(gzip.compress(json.dumps(data).encode()))


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (_damage_truncate, "truncated"),
        (_damage_bytes, "damaged"),
        (_damage_not_gzip, "not valid gzip"),
        (_damage_not_json, "damaged"),
        (_damage_not_utf8, "UTF-8"),
        (_damage_newer, "newer schema 99"),
        (_damage_missing, "no episode.json.gz"),
        (_damage_other_episode, "holds episode a__Z__r0__a0"),
    ],
)
def test_broken_episodes_are_named_and_played_again(run_dir: Path, damage: object, why: str) -> None:
    specs = plan([task("a"), task("b")])
    make_run(run_dir, specs, ["success", "success"])
    damage(run_dir / EPISODES / "a__A__r0__a0" / EPISODE)  # type: ignore[operator]
    run = RunReader.open(run_dir)
    assert list(run.unreadable()) == ["a__A__r0__a0"]
    assert why in run.unreadable()["a__A__r0__a0"]
    assert [e.spec.key for e in run.episodes()] == [specs[1].key]
    assert run.finished() == {specs[1].key}
    assert run.next_attempt(specs[0]).attempt == 1, "a broken file's name is taken"
    with pytest.raises(UsageError, match="cannot read episode a__A__r0__a0"):
        run.episode("a__A__r0__a0")


def test_a_key_whose_last_attempt_is_broken_is_unknown_not_its_first(run_dir: Path) -> None:
    specs = plan([task("a")])
    make_run(run_dir, specs, ["failure"])
    with RunStore.resume(run_dir, manifest(specs)) as store:
        store.record(episode(store.next_attempt(specs[0]), "success"), {})
    _damage_truncate(run_dir / EPISODES / "a__A__r0__a1" / EPISODE)
    assert RunReader.open(run_dir).latest() == {}
    with RunStore.resume(run_dir, manifest(specs)) as store:
        store.record(episode(store.next_attempt(specs[0]), "success"), {})
    assert RunReader.open(run_dir).latest()[specs[0].key].attempt == 2


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    from results.files import Unreadable, read_gzipped

    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b"\0" * 2_000_000))
    with pytest.raises(Unreadable, match="unpacks to more than 1 MiB"):
        read_gzipped(bomb, limit=2**20)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"run_id": 1}', "\x00"])
def test_a_broken_manifest_is_one_line(run_dir: Path, content: str) -> None:
    make_run(run_dir, plan([task("a")]), ["success"])
    (run_dir / MANIFEST).write_text(content)
    with pytest.raises(UsageError, match="is damaged") as refused:
        RunStore.open(run_dir)
    assert "\n" not in str(refused.value)


def test_a_newer_manifest_says_update(run_dir: Path) -> None:
    make_run(run_dir, plan([task("a")]), ["success"])
    data = json.loads((run_dir / MANIFEST).read_text())
    (run_dir / MANIFEST).write_text(json.dumps({**data, "schema_version": 2, "more": 1}))
    with pytest.raises(UsageError, match="newer schema 2"):
        RunStore.open(run_dir)


def test_names_that_leave_the_directory_are_refused(run_dir: Path) -> None:
    for window in ("../x", "a/b", "a\0b", "a b", "x" * 300):
        specs = plan([task("a")], windows=[window])
        with pytest.raises(UsageError, match="cannot name an episode's directory"):
            RunStore.create(run_dir, manifest(specs), specs)
    specs = plan([task("a")])
    with RunStore.create(run_dir, manifest(specs), specs) as store:
        for name in ("../step.png", "/etc/x.png", "episode.json.gz", ".png", "a/b.png"):
            with pytest.raises(UsageError, match="cannot be called"):
                store.record(episode(specs[0]), {name: PNG})
        with pytest.raises(UsageError, match="no screenshot"):
            store.screenshot("../..", "x.png")
        with pytest.raises(UsageError, match="cannot read episode"):
            store.episode("../../etc")
        assert store.rows() == []


def test_tasks_whose_names_collide_on_disk_are_refused(run_dir: Path) -> None:
    specs = plan([task("a/b"), task("a-b")])
    with pytest.raises(UsageError, match="would share the name"):
        RunStore.create(run_dir, manifest(specs), specs)


def test_programming_errors_are_refused(run_dir: Path) -> None:
    specs = plan([task("a")])
    with pytest.raises(HarnessError, match="plans 5 episodes, the plan has 1"):
        RunStore.create(run_dir, manifest(specs, planned=5), specs)
    with RunStore.create(run_dir, manifest(specs), specs) as store:
        store.record(episode(specs[0]), {})
        with pytest.raises(UsageError, match="stored already"):
            store.record(episode(specs[0]), {})
        with pytest.raises(UsageError, match="belongs to run other"):
            store.record(episode(specs[0], run_id="other"), {})
    with pytest.raises(HarnessError, match="closed"):
        store.record(episode(specs[0]), {})
    with pytest.raises(UsageError, match="a run lies in"):
        RunStore.create(run_dir, manifest(specs), specs)


def test_find_run(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for name in ("miniwob-1", "miniwob-2", "webarena-1"):
        make_run(root / name, plan([task("a")]), ["success"], run_id=name)
    assert find_run(str(root / "miniwob-1"), root) == root / "miniwob-1"
    assert find_run("miniwob-2", root) == root / "miniwob-2"
    assert find_run("web", root) == root / "webarena-1"
    with pytest.raises(UsageError, match="several runs begin with 'mini'") as refused:
        find_run("mini", root)
    assert "miniwob-1, miniwob-2" in refused.value.fix
    with pytest.raises(UsageError, match="no run 'nope'"):
        find_run("nope", root)


def test_non_finite_numbers_and_odd_text_survive(run_dir: Path) -> None:
    specs = plan([task("a")])
    odd = "nul \x00 esc \x1b[31m rtl \u202e emoji 🦉 line\u2028sep"
    stored = episode(
        specs[0], "error", verdict={"reason": odd, "raw_reward": float("inf"), "evidence": {"x": [odd, None, 1e308]}}
    )
    with RunStore.create(run_dir, manifest(specs), specs) as store:
        store.record(stored, {})
    run = RunReader.open(run_dir)
    assert run.episode("a__A__r0__a0") == stored
    (run_dir / INDEX).unlink()
    assert run.rows()[0].raw_reward == float("inf")
    assert EpisodeRow.model_validate_json(run.rows()[0].model_dump_json()) == run.rows()[0]


def test_a_run_directory_can_be_moved_and_read_only(run_dir: Path, tmp_path: Path) -> None:
    make_run(run_dir, plan([task("a")]), ["success"])
    moved = tmp_path / "elsewhere"
    shutil.move(run_dir, moved)
    (moved / INDEX).unlink()
    (moved / LOCK).unlink()
    before = sorted(p.name for p in moved.rglob("*"))
    assert [row.status for row in RunReader.open(moved).rows()] == ["success"]
    assert sorted(p.name for p in moved.rglob("*")) == before, "reading writes nothing"


def test_usage_of_a_run_without_models_is_zero_requests(run_dir: Path) -> None:
    spec = plan([task("a")])[0]
    assert isinstance(episode(spec).trajectory, Trajectory)
    assert episode(spec).usage == Usage()
