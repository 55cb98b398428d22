"""Walks begin at training tasks, evenly over sites and templates, as many as asked for."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.arena import ArenaBenchmark
from harness.cli.starting_points import allowed, starting_points
from tests.results.factory import task

TASKS = [task(f"{site}-{n}", template=f"{site}-{n % 3}", site=site) for site in ("shop", "forum") for n in range(9)]


@given(st.integers(1, 200), st.integers(0, 5))
def test_as_many_walks_as_asked_for_and_hardly_more(walks: int, seed: int) -> None:
    points, passes = starting_points(TASKS, walks, seed)
    assert walks <= len(points) * passes < walks + passes
    assert len({point.task_id for point in points}) == len(points)


@pytest.mark.parametrize("walks", [2, 6, 12])
def test_sites_and_templates_take_turns(walks: int) -> None:
    points, _ = starting_points(TASKS, walks, 0)
    assert set(Counter(point.site for point in points).values()) == {walks // 2}
    per_template = Counter(point.cluster for point in points).values()
    assert max(per_template) - min(per_template) <= 1


def test_the_seed_decides_which() -> None:
    assert starting_points(TASKS, 4, 0) == starting_points(TASKS[::-1], 4, 0)
    assert starting_points(TASKS, 4, 0) != starting_points(TASKS, 4, 1)
    assert starting_points([], 4, 0) == ([], 1)


def test_no_walk_begins_where_a_model_is_tested() -> None:
    tasks = ArenaBenchmark().tasks()
    found = [found for found in tasks if allowed(found, ())]
    assert {found.metadata["split"] for found in found} == {"train"}
    assert not any(found.metadata["held_out_site"] for found in found)
    held_out = next(found for found in tasks if found.metadata["held_out_site"] and found.metadata["split"] == "train")
    assert not allowed(held_out, ()) and allowed(held_out, held_out.sites)
