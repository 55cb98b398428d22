"""The plan is the denominator: nothing twice, nothing lost, seeds that pair runs, dependencies in order."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runner.plan import assign_instances, dependency_order, make_plan, parallelism_bound
from harness.types import Task
from tests.runner.strategies import task, task_sets


@given(task_sets(), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**31 - 20_000), st.integers(0, 3))
def test_every_task_window_and_repeat_once_with_its_own_seed(
    tasks: list[Task], windows: int, repeats: int, base_seed: int, instances: int
) -> None:
    names = [f"W{number}" for number in range(windows)]
    plan = make_plan(tasks, windows=names, repeats=repeats, base_seed=base_seed, instances=instances)
    assert len({spec.key for spec in plan}) == len(plan) == len(tasks) * windows * repeats
    assert [spec.order_index for spec in plan] == list(range(len(plan)))
    assert {spec.attempt for spec in plan} == {0}
    assert all(spec.seed == base_seed + spec.repeat for spec in plan), "runs are paired by seed, across windows and policies"
    seeds: dict[tuple[str, str], list[int]] = {}
    for spec in plan:
        seeds.setdefault((spec.task.task_id, spec.window), []).append(spec.seed)
    assert all(len(set(drawn)) == repeats for drawn in seeds.values())
    passes = [(spec.window, spec.repeat) for spec in plan]
    assert passes == sorted(passes, key=passes.index), "one pass over all tasks, then the next"
    assert all(0 <= spec.instance < max(instances, 1) for spec in plan)


@given(task_sets(acyclic=True), st.integers(0, 5))
def test_a_shuffled_plan_is_the_same_plan_in_another_order(tasks: list[Task], seed: int) -> None:
    def planned(shuffle: int | None) -> list[tuple[str, int, int]]:
        plan = make_plan(tasks, windows=["A"], repeats=2, base_seed=3, instances=0, shuffle=shuffle)
        return [(spec.key, spec.seed, spec.repeat) for spec in plan]

    shuffled = planned(seed)
    assert sorted(shuffled) == sorted(planned(None))
    assert shuffled == planned(seed)
    first, second = ([key.split("/")[1] for key, _, repeat in shuffled if repeat == r] for r in (0, 1))
    assert first == second
    place = {task_id: number for number, task_id in enumerate(first)}
    assert all(place[need] < place[t.task_id] for t in tasks for need in t.depends_on if need in place)


def test_two_seeds_give_two_orders() -> None:
    tasks = [task(str(number)) for number in range(50)]
    orders = [
        [spec.task.task_id for spec in make_plan(tasks, windows=["A"], repeats=1, base_seed=0, instances=0, shuffle=shuffle)]
        for shuffle in (0, 1, None)
    ]
    assert orders[0] != orders[1]
    assert orders[2] == [t.task_id for t in tasks]


@given(task_sets())
def test_dependency_order_is_a_permutation_cycles_included(tasks: list[Task]) -> None:
    ordered = dependency_order(tasks)
    assert Counter(t.task_id for t in ordered) == Counter(t.task_id for t in tasks)


@given(task_sets(acyclic=True))
def test_every_task_comes_after_what_it_needs(tasks: list[Task]) -> None:
    place = {t.task_id: number for number, t in enumerate(dependency_order(tasks))}
    for t in tasks:
        assert all(place[need] < place[t.task_id] for need in t.depends_on if need in place)


@given(task_sets(acyclic=True))
def test_an_order_that_is_right_already_is_kept(tasks: list[Task]) -> None:
    right = dependency_order(tasks)
    assert dependency_order(right) == right


def test_a_cycle_keeps_the_given_order_as_far_as_it_can() -> None:
    a, b, c = task("a", depends_on=["b"]), task("b", depends_on=["a"]), task("c")
    assert [t.task_id for t in dependency_order([c, a, b])] == ["c", "b", "a"]
    itself = task("x", depends_on=["x"])
    assert dependency_order([itself]) == [itself]


def test_a_chain_of_thousands_is_ordered_without_recursion() -> None:
    tasks = [task(f"{n}", depends_on=[f"{n + 1}"]) for n in range(5000)]
    assert [t.task_id for t in dependency_order(tasks)] == [f"{n}" for n in reversed(range(5000))]


@given(task_sets(), st.integers(1, 4))
def test_what_depends_on_each_other_shares_an_instance(tasks: list[Task], instances: int) -> None:
    place = assign_instances(tasks, instances)
    assert set(place) == {t.task_id for t in tasks}
    for t in tasks:
        assert all(place[need] == place[t.task_id] for need in t.depends_on if need in place)


@given(task_sets(), st.integers(1, 4))
def test_instances_are_balanced_as_far_as_components_allow(tasks: list[Task], instances: int) -> None:
    load = Counter(assign_instances(tasks, instances).values())
    counts = [load[number] for number in range(instances)]
    largest = max(len(group) for group in _components(tasks))
    assert max(counts) - min(counts) <= largest


def _components(tasks: list[Task]) -> list[set[str]]:
    """By repeated merging, independent of the union-find under test."""
    groups = [{t.task_id} for t in tasks]
    for t in tasks:
        for need in t.depends_on:
            hit = [group for group in groups if t.task_id in group or need in group]
            if any(need in group for group in hit):
                groups = [group for group in groups if group not in hit] + [set().union(*hit)]
    return groups


def test_parallelism_is_bounded_by_the_longest_chain_of_each_pass() -> None:
    tasks = [task("a"), task("b", depends_on=["a"]), task("c", depends_on=["b"]), task("d"), task("e"), task("f")]
    one = make_plan(tasks, windows=["A"], repeats=1, base_seed=0, instances=1)
    three = make_plan(tasks, windows=["A"], repeats=3, base_seed=0, instances=1)
    assert parallelism_bound(one, ordered=True) == 2.0
    assert parallelism_bound(three, ordered=True) == 2.0, "passes follow each other: more of them allow no more workers"
    assert parallelism_bound(three, ordered=False) == 18.0
    assert parallelism_bound([], ordered=True) == 0.0


@pytest.mark.webarena
def test_webarenas_own_graph_allows_three_workers() -> None:
    from harness.benchmarks.webarena import WebArenaBenchmark

    tasks = WebArenaBenchmark().tasks()
    plan = make_plan(tasks, windows=["A"], repeats=1, base_seed=0, instances=1)
    assert len(plan) == 812
    assert parallelism_bound(plan, ordered=True) == pytest.approx(812 / 246)
