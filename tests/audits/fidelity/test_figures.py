"""Figures: values by hand, denominators, intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest

from audits.fidelity.figures import difference, mean, ratio, share


def test_what_does_not_exist_is_not_in_the_denominator() -> None:
    found = mean([1.0, None, 0.0, None], ["a", "b", "c", "d"])
    assert (found.value, found.n, found.clusters) == (0.5, 2, 2)
    assert share([True, None, False, True], list("abcd")).n == 3
    assert ratio([(1, 2), None, (1, 4)], list("abc")).value == pytest.approx(1 / 3)


@pytest.mark.parametrize("found", [mean([], []), mean([None], ["a"]), share([], []), ratio([(0, 0)], ["a"])])
def test_nothing_to_measure_is_no_number(found: object) -> None:
    assert (found.value, found.low, found.high) == (None, None, None)  # type: ignore[attr-defined]


def test_one_template_or_no_spread_has_no_interval() -> None:
    assert mean([0.2, 0.4], ["a", "a"]).low is None
    assert mean([0.4, 0.4], ["a", "b"]).method == ""


@pytest.mark.parametrize("templates", [4, 12, 45])
def test_intervals_cover_the_truth_with_few_and_many_templates(templates: int) -> None:
    """Pages of a template share an effect, so that an interval over pages would be far too narrow."""
    generator = np.random.default_rng(templates)
    inside = 0
    rounds = 150
    by = [f"t{number // 8}" for number in range(templates * 8)]
    for _ in range(rounds):
        effects = np.repeat(generator.normal(0.5, 0.1, templates), 8)
        found = mean(list(effects + generator.normal(0, 0.05, len(by))), by)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 0.5 <= found.high
    assert 0.88 <= inside / rounds <= 1.0


def test_intervals_stay_where_the_figure_can_be() -> None:
    found = mean([1.0, 1.0, 0.2], ["a", "b", "c"], high=1.0)
    assert (found.low, found.high) == (0.0, 1.0)
    gap = difference([0.0, 0.1, 0.0], [1.0, 0.9, 0.6], ["a", "b", "c"])
    assert gap.value == pytest.approx(-0.8)
    assert gap.low is not None
    assert gap.low < -0.8


def test_pairing_removes_what_is_hard_for_both() -> None:
    generator = np.random.default_rng(0)
    hard = generator.uniform(0, 1, 40)
    by = [str(number) for number in range(40)]
    gap = difference(list(hard + 0.1 + generator.normal(0, 0.01, 40)), list(hard), by)
    alone = mean(list(hard), by)
    assert gap.low is not None
    assert gap.high is not None
    assert alone.low is not None
    assert alone.high is not None
    assert gap.low > 0.09
    assert gap.high - gap.low < (alone.high - alone.low) / 10
