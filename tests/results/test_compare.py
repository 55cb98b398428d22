"""Paired comparisons and windows: hand-worked tables, textbook tests, and what must stay out of them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from results.compare import paired, windows
from results.index import row_of
from results.outcomes import STATES, Outcome, outcomes
from tests.results.factory import episode, plan, task


def side(states: list[str], *, window: str = "A", repeats: int = 1, template: str = "", first: int = 0) -> list[Outcome]:
    """Outcomes of tasks t<first>… in plan order."""
    tasks = [task(f"t{first + i}", template=template) for i in range(len(states) // repeats)]
    specs = plan(tasks, windows=[window], repeats=repeats)
    latest = {
        spec.key: row_of(episode(spec, state), 1)  # type: ignore[arg-type]
        for spec, state in zip(specs, states, strict=True)
        if state != "missing"
    }
    return outcomes(specs, latest)


S, F, E, B = "success", "failure", "error", "blocked"


def test_two_by_two_and_mcnemar() -> None:
    a = [S] * 10 + [S] * 2 + [F] * 9 + [F] * 4
    b = [S] * 10 + [F] * 2 + [S] * 9 + [F] * 4
    result = paired(side(a), side(b))
    assert (result.both, result.first_only, result.second_only, result.neither) == (10, 2, 9, 4)
    assert result.difference == pytest.approx(7 / 25)
    assert result.p_value == pytest.approx(stats.binomtest(2, 11).pvalue), "exact McNemar is a sign test"
    assert result.interval is not None and result.interval.low < 7 / 25 < result.interval.high
    assert [d.task_id for d in result.differing][:2] == ["t10", "t11"]


def test_only_pairs_scored_on_both_sides_are_tested() -> None:
    result = paired(side([S, S, E, "missing", F]), side([F, E, S, S, F]))
    assert (result.planned, result.pairs) == (5, 2)
    assert result.not_scored == {(S, E): 1, (E, S): 1, ("missing", S): 1}
    assert (result.first_rate, result.second_rate) == (0.5, 0.0)


def test_different_task_sets_are_compared_on_their_intersection() -> None:
    result = paired(side([S, S, S]), side([F, F], first=2))
    assert (result.planned, result.only_first_planned, result.only_second_planned) == (1, 2, 1)
    assert result.difference == -1.0


def test_nothing_to_compare_gives_no_numbers() -> None:
    result = paired(side([E]), side([S]))
    assert (result.pairs, result.difference, result.p_value, result.interval) == (0, None, None, None)


def test_repeats_are_pairs_and_tasks_are_listed_once() -> None:
    result = paired(side([S, S, F, F], repeats=2), side([S, F, S, S], repeats=2))
    assert result.pairs == 4
    (t0, t1) = result.differing
    assert (t0.task_id, t0.first, t0.second, t0.difference) == ("t0", 1, 2, 0.5)
    assert (t1.task_id, t1.first, t1.second, t1.difference) == ("t1", 1, 1, 0.0)


def test_the_interval_is_wide_where_all_pairs_share_a_template() -> None:
    states = [S, F] * 20
    independent = paired(side(states), side([F, S] * 15 + [F, F] * 5)).interval
    grouped = paired(side(states, template="one"), side([F, S] * 15 + [F, F] * 5, template="one"))
    assert grouped.clusters == 1
    assert independent is not None and independent.high > independent.low


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(STATES), st.sampled_from(STATES)), min_size=1, max_size=20), st.integers())
def test_swapping_runs_mirrors_and_order_is_nothing(drawn: list[tuple[str, str]], seed: int) -> None:
    a, b = side([x for x, _ in drawn]), side([y for _, y in drawn])
    forth, back = paired(a, b), paired(b, a)
    assert forth.both + forth.first_only + forth.second_only + forth.neither == forth.pairs
    assert forth.pairs + sum(forth.not_scored.values()) == forth.planned
    assert (forth.first_only, forth.second_only) == (back.second_only, back.first_only)
    assert forth.p_value == pytest.approx(back.p_value)
    if forth.difference is not None and back.difference is not None:
        assert forth.difference == pytest.approx(-back.difference)
    shuffled = list(a)
    random.Random(seed).shuffle(shuffled)
    again = paired(shuffled, b)
    assert (again.interval, again.differing, again.p_value) == (forth.interval, forth.differing, forth.p_value)


def test_windows_both_rates_mean_gap_and_flips() -> None:
    a = side([S, S, F, F, B, E], window="A")
    b = side([S, F, S, F, S, F], window="B")
    result = windows(a, b)
    assert (result.first.value, result.second.value) == (pytest.approx(2 / 6), pytest.approx(3 / 6))
    assert result.mean == pytest.approx(2.5 / 6)
    assert result.gap == pytest.approx(1 / 6)
    assert (result.flips, result.pairs, result.flip_rate) == (2, 4, 0.5)
    assert result.excluded == (), "blocked once is no exclusion"
    assert result.first_kept == result.first


def test_only_tasks_blocked_in_both_windows_are_left_out_and_both_rates_are_kept() -> None:
    result = windows(side([S, B, B, F], window="A"), side([S, B, S, F], window="B"))
    assert [task_id for task_id, _ in result.excluded] == ["t1"]
    assert result.excluded[0][1] == "because blocked"
    assert (result.first.value, result.first_kept.value) == (1 / 4, pytest.approx(1 / 3))
    assert (result.second.value, result.second_kept.value) == (2 / 4, pytest.approx(2 / 3))


def test_errors_in_both_windows_are_no_exclusion() -> None:
    assert windows(side([E, S], window="A"), side([E, S], window="B")).excluded == ()


def test_a_repeat_that_was_not_blocked_keeps_its_task() -> None:
    assert windows(side([B, F], repeats=2), side([B, B], window="B", repeats=2)).excluded == ()
