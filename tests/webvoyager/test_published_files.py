"""Facts about the 643 published tasks: golden counts as of one fixed day, and the published filter list."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

from harness.benchmarks.tasksets import task_set_hash
from harness.benchmarks.webvoyager import WebVoyagerBenchmark, WebVoyagerConfig
from harness.benchmarks.webvoyager.data import DATA_FILE, PINNED_SHA256, REFERENCE_FILE, read_references, read_rows
from harness.benchmarks.webvoyager.fetch import fetch
from tests.webvoyager.published import DIRECTORY, needs_published_files

pytestmark = needs_published_files
DAY = date(2026, 11, 29)
IMPOSSIBLE = DIRECTORY / "filters" / "browser-use_impossible.json"
REDATED = DIRECTORY / "filters" / "browser-use_WebVoyager_data.jsonl"


def benchmark(**fields: object) -> WebVoyagerBenchmark:
    return WebVoyagerBenchmark(WebVoyagerConfig.model_validate({"data": DIRECTORY, "run_date": DAY, **fields}))


def test_643_tasks_on_15_sites_with_references_for_all() -> None:
    tasks = benchmark().tasks()
    assert len(tasks) == 643
    sites = Counter(task.sites[0] for task in tasks)
    assert len(sites) == 15
    assert set(sites.values()) <= set(range(41, 47))
    assert all(task.evaluator.spec["reference_type"] in ("golden", "possible") for task in tasks)
    references = read_references(DIRECTORY / REFERENCE_FILE)
    assert Counter(reference.type for reference in references.values()) == {"possible": 500, "golden": 143}


def test_rules_exclude_stated_numbers() -> None:
    selection = benchmark(rules=("past-dates", "past-years", "time-dependent")).selection
    assert Counter(exclusion.rule for exclusion in selection.exclusions) == {
        "past-dates": 65,
        "past-years": 97,
        "time-dependent": 236,
    }
    assert len(benchmark(rules=("past-dates",)).tasks()) == 578


def test_redating_leaves_no_past_stay_or_flight() -> None:
    moved = benchmark(dates="redate", rules=("past-dates",))
    assert len(moved.tasks()) == 643
    assert sum("original_goal" in task.metadata for task in moved.tasks()) == 65
    by_id = {task.task_id: task for task in moved.tasks()}
    assert "a three-night stay from February 28 to March 3, 2027" in by_id["Booking--20"].goal  # 2024 had a 29 February
    assert "June 20, 2023" in by_id["Wolfram Alpha--10"].goal  # history stays


def test_the_published_filter_gives_588() -> None:
    filtered = benchmark(filters=(IMPOSSIBLE,), redated=REDATED)
    assert len(filtered.tasks()) == 588
    assert {exclusion.rule for exclusion in filtered.exclusions()} == {"list:browser-use_impossible"}
    assert sum("original_goal" in task.metadata for task in benchmark(redated=REDATED).tasks()) == 76
    assert sum("original_goal" in task.metadata for task in filtered.tasks()) == 66


def test_its_new_dates_are_past_again() -> None:
    assert len(benchmark(redated=REDATED, rules=("past-dates",)).exclusions()) == 65


def test_hash_tells_task_sets_apart_and_ignores_the_day() -> None:
    hashes = [
        task_set_hash(benchmark(**fields).tasks())
        for fields in (
            {},
            {"rules": ("past-dates",)},
            {"filters": (IMPOSSIBLE,)},
            {"redated": REDATED},
            {"dates": "redate"},
        )
    ]
    assert len(set(hashes)) == len(hashes)
    later = task_set_hash(benchmark(dates="redate", run_date=date(2027, 6, 1)).tasks())
    assert later == hashes[-1]


def test_from_a_local_copy(tmp_path: Path) -> None:
    to = tmp_path / "data"
    report = fetch(to, DIRECTORY)
    assert report.files == {DATA_FILE: "copied", REFERENCE_FILE: "copied"}
    assert len(read_rows(to / DATA_FILE)) == 643
    assert fetch(to, DIRECTORY).files == dict.fromkeys(PINNED_SHA256, "already there")
    assert "643 tasks" in WebVoyagerBenchmark(WebVoyagerConfig(data=to)).checks()[0].detail
