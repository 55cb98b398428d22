"""What a command line means: which tasks, which directory, how many workers; and what it keeps of a run made before."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.cli.launch import _keep_logs
from harness.cli.prepare import Request, default_name, prepare, worker_count
from harness.cli.selection import select
from harness.config import build_config, merge, read_config
from harness.errors import NotReadyError, UsageError
from harness.types import EvaluatorSpec, Task
from results.redact import Redactor


def request(tmp_path: Path, *, policy: str = "noop", workers: str = "auto", **sections: dict[str, object]) -> Request:
    return Request(None, sections, policy, workers, tmp_path / "run")


def test_the_same_request_gets_the_same_directory_and_another_one_another() -> None:
    def name(**run: object) -> str:
        return default_name(build_config({"run": run}, source="test"))

    assert name(benchmark="miniwob") == name(benchmark="miniwob")
    names = {name(), name(repeats=2), name(base_seed=1), name(window="B"), name(tasks=("a*",))}
    assert len(names) == 5
    assert all("/" not in n for n in names)


def test_a_resume_keeps_what_the_run_was_made_with(tmp_path: Path) -> None:
    """A default that depends on the day (the run date of WebVoyager) must not change when a run is resumed."""
    first = prepare(request(tmp_path, run={"tasks": ("click-test",)}, webvoyager={"run_date": "2026-01-31"}))
    first.open_store().close()
    again = prepare(request(tmp_path, run={"tasks": ("click-test",)}))
    assert again.config.webvoyager.run_date.isoformat() == "2026-01-31"
    again.open_store().close()


def test_a_run_directory_with_other_settings_is_refused(tmp_path: Path) -> None:
    prepare(request(tmp_path, run={"tasks": ("click-test",)})).open_store().close()
    with pytest.raises(UsageError, match="base_seed"):
        prepare(request(tmp_path, run={"tasks": ("click-test",), "base_seed": 7})).open_store()


def test_sites_that_do_not_answer_or_are_not_configured_are_not_ready(tmp_path: Path) -> None:
    pytest.importorskip("webarena")
    sites = {"instances": [{"gitlab": "http://127.0.0.1:9"}], "probe_timeout_seconds": 0.2}
    with pytest.raises(NotReadyError, match=r"127\.0\.0\.1"):
        prepare(request(tmp_path, run={"benchmark": "webarena", "sites": ("gitlab",)}, webarena=sites))
    with pytest.raises(NotReadyError, match="none of the"):
        prepare(request(tmp_path, run={"benchmark": "webarena", "sites": ("shopping",)}, webarena=sites))


@pytest.mark.parametrize("workers", ["0", "-1", "many", "1.5"])
def test_worker_counts_that_mean_nothing(tmp_path: Path, workers: str) -> None:
    with pytest.raises(UsageError, match="--workers"):
        prepare(request(tmp_path, workers=workers, run={"tasks": ("click-test",)}))


def test_a_run_directory_of_another_policy_is_refused_by_name(tmp_path: Path) -> None:
    prepare(request(tmp_path, run={"tasks": ("click-test",)}, policy="examples.my_policy:MyPolicy")).open_store().close()
    with pytest.raises(UsageError, match=r"policy.*MyPolicy in the run, noop asked"):
        prepare(request(tmp_path, run={"tasks": ("click-test",)})).open_store()


def test_more_workers_than_site_instances_are_refused_unless_sharing_is_asked_for() -> None:
    class TwoSets(MiniwobBenchmark):
        def instances(self) -> int:
            return 2

    def count(asked: str, *, share: bool) -> int:
        return worker_count(asked, TwoSets(), build_config({"webarena": {"share_instances": share}}, source="test"), 100)

    assert count("auto", share=False) == 2
    with pytest.raises(UsageError, match="see each other's changes"):
        count("3", share=False)
    assert count("3", share=True) == 3


def test_never_more_workers_than_episodes(tmp_path: Path) -> None:
    assert prepare(request(tmp_path, workers="8", run={"tasks": ("click-test",), "repeats": 3})).workers == 3


def test_a_glob_or_site_that_matches_nothing_is_an_error_with_a_hint() -> None:
    tasks = [Task(benchmark="b", task_id=i, sites=("s",), evaluator=EvaluatorSpec(kind="k")) for i in ("click-test", "login")]
    assert [t.task_id for t in select(tasks, ["click-*"], [])] == ["click-test"]
    with pytest.raises(UsageError) as caught:
        select(tasks, ["click-tst"], [])
    assert "click-test" in caught.value.fix
    with pytest.raises(UsageError, match="site"):
        select(tasks, [], ["moon"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[run]\nrepeats = 0", "run.repeats"),
        ("[run]\nunknown = 1", "run.unknown"),
        ("[limits]\nstep_seconds = -1", "limits.step_seconds"),
        ("[run\n", "not TOML"),
        ("[run]\nwindow = 'A/../B'", "run.window"),
    ],
)
def test_a_bad_config_is_one_line_that_names_the_field(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=complaint) as caught:
        read_config(path, {})
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="no config file"):
        read_config(tmp_path / "none.toml", {})


def test_options_win_over_the_file_section_by_section() -> None:
    assert merge({"run": {"a": 1, "b": 2}}, {"run": {"b": 3}, "x": {"y": 1}}) == {"run": {"a": 1, "b": 3}, "x": {"y": 1}}


def test_worker_logs_come_into_the_run_without_secrets(tmp_path: Path) -> None:
    source, target = tmp_path / "aside", tmp_path / "run" / "logs"
    source.mkdir()
    (source / "worker-0.log").write_text("Traceback: login failed for hunter2-hunter2\n")
    (source / "worker-1.log").write_text("\n")
    _keep_logs(source, target, Redactor(["hunter2-hunter2"]))
    assert [log.name for log in target.iterdir()] == ["worker-0.log"], "an empty log is no log"
    assert "hunter2" not in (target / "worker-0.log").read_text()
