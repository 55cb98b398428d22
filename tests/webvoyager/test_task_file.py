"""Task files, rules and filters on a small file of the same schema: hostile lines, wrong files, reasons."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from harness.benchmarks.tasksets import task_set_hash
from harness.benchmarks.webvoyager import WebVoyagerBenchmark, WebVoyagerConfig
from harness.benchmarks.webvoyager.data import DATA_VARIABLE, read_references, read_rows
from harness.benchmarks.webvoyager.filters import FilterManifest, read_filter, write_filter
from harness.benchmarks.webvoyager.rules import RULES
from harness.completions import EndpointConfig
from harness.errors import NotReadyError, UsageError
from harness.types import Exclusion

RUN = date(2026, 11, 29)
ROWS = [
    {"web_name": "Shop", "id": "Shop--0", "ques": "How much is the blue kettle?", "web": "https://shop.example/"},
    {"web_name": "Hotels", "id": "Hotels--0", "ques": "Book a room for March 3-5, 2021.", "web": "https://hotels.example/"},
    {"web_name": "Hotels", "id": "Hotels--1", "ques": "A room from {{today+7d}}", "web": "https://hotels.example/"},
]


@pytest.fixture
def task_file(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    return path


def benchmark(task_file: Path, **fields: object) -> WebVoyagerBenchmark:
    return WebVoyagerBenchmark(WebVoyagerConfig.model_validate({"data": task_file, "run_date": RUN, **fields}))


def test_tasks_keep_their_own_ids_and_say_how_goals_came_about(task_file: Path) -> None:
    shop, past, template = benchmark(task_file).tasks()
    assert (shop.task_id, shop.site, shop.start_url) == ("Shop--0", "Shop", "https://shop.example/")
    assert shop.evaluator.needs == ("judge",)
    assert shop.metadata == {}
    assert any(problem.startswith("past-dates: asks for") for problem in past.known_problems)
    assert template.goal == "A room from December 6, 2026"
    assert template.metadata["goal_template"] == template.metadata["original_goal"] == ROWS[2]["ques"]
    assert template.metadata["run_date"] == "2026-11-29"


def test_windows_a_week_apart_run_the_same_task_set(task_file: Path) -> None:
    first, second = benchmark(task_file), benchmark(task_file, run_date=date(2026, 12, 6))
    assert first.tasks()[2].goal != second.tasks()[2].goal
    assert task_set_hash(first.tasks()) == task_set_hash(second.tasks())
    assert task_set_hash(first.tasks()) == task_set_hash(list(reversed(first.tasks())))
    assert task_set_hash(first.tasks()[:2]) != task_set_hash(first.tasks())


def test_rules_exclude_with_a_reason(task_file: Path) -> None:
    filtered = benchmark(task_file, rules=("past-dates",))
    assert [task.task_id for task in filtered.tasks()] == ["Shop--0", "Hotels--1"]
    (exclusion,) = filtered.exclusions()
    assert exclusion == Exclusion(
        task_id="Hotels--0",
        rule="past-dates",
        rule_version="1",
        reason="asks for 'book' on 5 March 2021, which is past on 2026-11-29",
    )


def test_redating_replaces_exclusion(task_file: Path) -> None:
    moved = benchmark(task_file, rules=("past-dates",), dates="redate")
    assert not moved.exclusions()
    assert moved.tasks()[1].goal == "Book a room for March 3-5, 2027."
    assert moved.tasks()[1].metadata["original_goal"] == ROWS[1]["ques"]


@pytest.mark.parametrize(
    ("goal", "rules"),
    [
        ("Book a flight on January 10, 2024", {"past-dates", "past-years"}),
        ("Book a flight on January 10, 2030", set()),
        ("How many papers were submitted on January 10, 2024? Book it", {"past-years"}),
        ("Give the geomagnetic field on June 20, 2023 in Oslo", {"past-years"}),
        ("Find a recipe for vegetarian lasagna", set()),
        ("What is the latest news?", {"time-dependent"}),
        ("Define the word nowhere", set()),
    ],
)
def test_shipped_rules(goal: str, rules: set[str]) -> None:
    assert {name for name, rule in RULES.items() if rule.find(goal, RUN)} == rules


def test_a_published_list_a_reasoned_list_and_a_manifest(task_file: Path, tmp_path: Path) -> None:
    ids, reasons, manifest = tmp_path / "ids.json", tmp_path / "reasons.json", tmp_path / "manifest.json"
    ids.write_text('["Shop--0", "Elsewhere--9"]')
    reasons.write_text('{"Hotels--0": "closed for good"}')
    base_hash = benchmark(task_file).selection.base_hash
    out = Exclusion(task_id="Hotels--1", rule="reachable", rule_version="1", reason="dns: no such host")
    write_filter(FilterManifest(name="reachable", task_set_hash=base_hash, exclusions=(out,)), manifest)

    filtered = benchmark(task_file, filters=(ids, reasons, manifest))
    assert [task.task_id for task in filtered.tasks()] == []
    assert {e.task_id: (e.rule, e.reason) for e in filtered.exclusions()} == {
        "Shop--0": ("list:ids", "listed in ids.json"),
        "Hotels--0": ("list:reasons", "closed for good"),
        "Hotels--1": ("reachable", "dns: no such host"),
    }
    assert filtered.selection.unknown_ids == ("Elsewhere--9",)
    assert any("1 ids in filters are not in the task file" in check.detail for check in filtered.checks())


def test_a_manifest_of_another_task_set_is_refused(task_file: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    write_filter(FilterManifest(name="reachable", task_set_hash="0" * 64), manifest)
    with pytest.raises(UsageError, match="was made for task set 000000000000"):
        benchmark(task_file, filters=(manifest,)).tasks()


@pytest.mark.parametrize(
    "content",
    ["[1, 2]", '"text"', "{", '{"a": 1}', '{"schema_name": "other"}', '{"schema_name": "dynaweb-harness/filter", "name": 3}'],
)
def test_a_file_that_is_no_filter_is_a_one_line_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "filter.json"
    path.write_text(content)
    with pytest.raises(UsageError) as caught:
        read_filter(path, "")
    assert "\n" not in str(caught.value)
    assert caught.value.fix


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("not json", "line 2 is not JSON"),
        ("[1]", "line 2 is not a task"),
        ('{"web_name": "A", "id": "A--0", "ques": "x"}', "line 2 is not a task"),
        ('{"web_name": "A", "id": 7, "ques": "x", "web": "https://a.example"}', "line 2 is not a task"),
        ('{"web_name": "A", "id": "A--0", "ques": "x", "web": "javascript:alert(1)"}', "not a web address"),
        (json.dumps(ROWS[0]), "'Shop--0' twice"),
        ("[" * 100_000, "line 2 is not JSON"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n" + line)
    with pytest.raises(UsageError, match=complaint):
        read_rows(path)


def test_other_broken_files(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_rows(tmp_path / "latin.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(UsageError, match="holds no task"):
        read_rows(tmp_path / "empty.jsonl")
    (tmp_path / "reference.json").write_text('{"A": {"answers": [{"id": 1}]}}')
    with pytest.raises(UsageError, match="not a WebVoyager reference file"):
        read_references(tmp_path / "reference.json")


def test_without_the_files_the_error_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotReadyError) as caught:
        WebVoyagerBenchmark().tasks()
    assert "harness fetch webvoyager" in caught.value.fix
    first = WebVoyagerBenchmark().checks()[0]
    assert (first.status, first.fix) == ("missing", caught.value.fix)


def test_checks_name_what_would_spoil_a_number(task_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    tasks, judge = benchmark(task_file).checks()
    assert tasks.status == "warning"
    assert "1 ask for something on a day that is past" in tasks.detail
    assert (judge.status, "inconclusive" in judge.detail) == ("warning", True)
    keyed = WebVoyagerBenchmark(WebVoyagerConfig(data=task_file), EndpointConfig(model="m", api_key_env="NO_SUCH_KEY")).checks()
    assert (keyed[-1].status, keyed[-1].detail) == ("missing", "$NO_SUCH_KEY is not set")
    even = WebVoyagerBenchmark(WebVoyagerConfig(data=task_file, judge_votes=2), EndpointConfig(model="m")).checks()
    assert (even[-1].status, "votes must be odd" in even[-1].detail) == ("missing", True)


def test_unknown_rule(task_file: Path) -> None:
    with pytest.raises(UsageError, match="unknown filter rule 'past-date'"):
        benchmark(task_file, rules=("past-date",)).tasks()


def test_a_redated_file_replaces_texts_and_excludes_what_it_leaves_out(task_file: Path, tmp_path: Path) -> None:
    redated = tmp_path / "redated.jsonl"
    redated.write_text(json.dumps({**ROWS[1], "ques": "Book a room for {{today+30d:%B %-d, %Y}}."}))
    changed = benchmark(task_file, redated=redated)
    assert [task.goal for task in changed.tasks()] == ["Book a room for December 29, 2026."]
    assert {e.task_id: e.reason for e in changed.exclusions()} == {
        "Shop--0": "not in redated.jsonl",
        "Hotels--1": "not in redated.jsonl",
    }
