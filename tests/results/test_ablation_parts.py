"""Parts of one grid that were run apart become one table; what is no part of it, or contradicts it, is refused."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import UsageError
from results.ablation_parts import merged
from results.ablations import Ablation, Cell, Cost, Trial, ablation_report, ablation_table, difference_table

TOLD = {"values": {"updates": 30}, "levels": {"1": {}, "5": {}}, "stages": {"real": "harness run"}}


def cell(level: str, seed: int, outcomes: str, **fields: Any) -> Cell:
    """`outcomes`: a letter per episode, `+` for success."""
    real = tuple(Trial(task_id=f"t{n}", cluster=f"c{n}", success=one == "+", key=f"k{n}") for n, one in enumerate(outcomes))
    return Cell(**{"level": level, "seed": seed, "state": "done", "real": real, "cost": Cost(seconds=10), **fields})


def part(*cells: Cell, experts: str = "e0", told: dict[str, Any] | None = None, **fields: Any) -> Ablation:
    config = {**(told or TOLD), "inputs": {"experts": {"path": "experts", "sha256": experts}}, "commits": ["abc"], "shared": []}
    about: dict[str, Any] = {
        "name": "g",
        "factor": "dream_length",
        "levels": ("1", "5"),
        "seeds": tuple(sorted({one.seed for one in cells})),
        "reference": "1",
        "config": config,
        "shared_cost": Cost(seconds=100),
    }
    return Ablation(**{**about, "cells": cells, **fields})


FIRST = part(cell("1", 0, "+--"), cell("5", 0, "++-"))
SECOND = part(cell("5", 1, "+++"), cell("1", 1, "++-"), experts="e1")


def row(found: Ablation, level: str) -> dict[str, Any]:
    table = ablation_table(found)
    return dict(zip([c.name for c in table.columns], next(r for r in table.rows if r[0] == level), strict=True))


def test_seeds_that_were_run_apart_are_pooled() -> None:
    found = merged([SECOND, FIRST])
    assert found.seeds == (0, 1)
    assert [(one.seed, one.level) for one in found.cells] == [(0, "1"), (0, "5"), (1, "1"), (1, "5")]
    assert (row(found, "5")["REAL success"], row(found, "5")["n real"]) == (5 / 6, 6)
    assert row(found, "5")["seconds"] == 20
    assert found.shared_cost.seconds == 200


def test_pairs_are_taken_within_a_seed() -> None:
    (table,) = difference_table(merged([FIRST, SECOND]))
    line = dict(zip([c.name for c in table.columns], table.rows[0], strict=True))
    assert line["difference, points"] == pytest.approx(1 / 3)
    assert line["pairs"] == 6
    assert line["by seed"] == "+33.3, +33.3"


def test_the_same_whatever_the_order_and_when_merged_in_two_steps() -> None:
    third = part(cell("1", 2, "---"), experts="e2")
    once = merged([FIRST, SECOND, third])
    twice = merged([merged([FIRST, SECOND]), third])
    turned = merged([third, SECOND, FIRST])
    assert once.cells == twice.cells == turned.cells
    assert once.config == twice.config
    assert once.shared_cost == twice.shared_cost == turned.shared_cost


def test_levels_that_were_run_apart_are_joined_and_a_finished_cell_stands_over_an_unfinished_one() -> None:
    begun = Cell(level="5", seed=0, state="running")
    here, there = part(cell("1", 0, "+--"), begun), part(cell("5", 0, "++-"))
    for parts in ([here, there], [there, here]):
        assert [(one.level, one.state) for one in merged(parts).cells] == [("1", "done"), ("5", "done")]


def test_it_says_what_parts_do_not_share() -> None:
    found = merged([FIRST, SECOND])
    assert [(one["seeds"], one["cells_done"], one["commits"]) for one in found.config["parts"].values()] == [
        ([0], 2, ["abc"]), ([1], 2, ["abc"]),
    ]  # fmt: skip
    assert [w for w in ablation_report(found).warnings if "2 different sets of inputs" in w]
    same = merged([FIRST, part(cell("1", 1, "+++"))])
    assert not [w for w in ablation_report(same).warnings if "sets of inputs" in w]


def test_the_same_part_twice_changes_no_trial() -> None:
    assert [one.real for one in merged([FIRST, FIRST]).cells] == [one.real for one in FIRST.cells]


def test_runs_are_not_pointed_at_where_they_are_not() -> None:
    assert merged([part(cell("1", 0, "+", runs={"real": "../stages/real-1"}))]).cells[0].runs == {}


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (part(name="h"), "name is g in one, h in another"),
        (part(reference="5"), "reference is 1 in one, 5 in another"),
        (part(told={**TOLD, "values": {"updates": 15}}), r"values\.updates differs"),
        (part(told={**TOLD, "stages": {"real": "harness run --seeds 3"}}), r"stages\.real differs"),
        (part(cell("1", 0, "++-")), "1, seed 0 is finished in two parts with different outcomes"),
    ],
)
def test_what_is_no_part_of_it_is_refused(other: Ablation, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        merged([FIRST, other])
