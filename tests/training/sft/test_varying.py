"""Rows with other names: the same name everywhere, the site's own words untouched."""

from __future__ import annotations

import re

from training.world_model.sft.rows import Row
from training.world_model.sft.varying import varied

PEOPLE = ("Imogen", "Felix", "Ramona", "Casper", "Ursula", "Silas", "Otto", "Juno")


def rows() -> list[Row]:
    return [
        Row(
            "transition",
            f'at shop/orders/N/ "Order 1001{number:02d}"\ndo click it\nit link "Edit {PEOPLE[number % 8]}{number // 8 * "a"}"\n'
            f'goal "Change order 1001{number:02d} of {PEOPLE[number % 8]}{number // 8 * "a"}"',
            f'open /orders/N/edit "Order 1001{number:02d} of {PEOPLE[number % 8]}{number // 8 * "a"}"\nend',
        )
        for number in range(80)
    ]


def test_a_name_changes_everywhere_or_nowhere() -> None:
    known = rows()
    found = list(varied(known, 3, seed=0))
    assert len(found) == 240
    for number, row in enumerate(found):
        before = known[number // 3]
        order, person = re.search(r'"Order (\d+) of (\w+)"', row.completion).groups()  # type: ignore[union-attr]
        assert len(order) == 6 and order[0] != "0"
        assert row.prompt.count(order) == before.prompt.count("1001") == 2
        assert len(re.findall(rf"\b{person}\b", row.prompt)) == 2
        assert row.kind == "transition"
        assert row.prompt.startswith('at shop/orders/N/ "Order ') and "Change order" in row.prompt, "words of the site stay"
    assert sum(row.prompt != known[n // 3].prompt for n, row in enumerate(found)) > 200
    assert len({row.prompt for row in found[:3]}) == 3


def test_it_is_a_function_of_the_seed_and_leaves_rows_without_names_alone() -> None:
    assert list(varied(rows(), 2, seed=1)) == list(varied(rows(), 2, seed=1)) != list(varied(rows(), 2, seed=2))
    assert list(varied([Row("assessment", "at shop/", "success")], 5, seed=0)) == []
    assert list(varied(rows(), 0, seed=0)) == []
