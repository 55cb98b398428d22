"""One grid from parts of it that were run apart: seeds on other machines, or on other days.

    harness ablate --config GRID --seed 0 --out A        here
    harness ablate --config GRID --seed 1 --out B        there
    harness ablate merge A/NAME B/NAME --out ALL         one table

Parts must be told the same: levels, values, stages. Inputs and commits may differ (each machine may have played experts of its
own); the merged file lists them part by part, and its report says so. Pairs are of one training seed, so no difference is
ever taken between two parts that hold different seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

from harness.errors import UsageError
from harness.types import JsonDict
from results.ablations import PARTS, Ablation, Cell, Cost

_SAME = ("name", "factor", "levels", "reference")
_TOLD = ("values", "levels", "stages")
_OWN = ("inputs", "shared", "commits")


def merged(parts: Sequence[Ablation]) -> Ablation:
    """The grid with every part's cells and seeds; a finished cell stands over the same one unfinished.

    Raises `UsageError` where two are not parts of one grid, or finished the same cell with different outcomes.
    """
    first, *others = parts
    for other in others:
        _check(first, other)
    cells: dict[tuple[int, str], Cell] = {}
    for part in parts:
        for cell in part.cells:
            place = (cell.seed, cell.level)
            cells[place] = _better(cells.get(place), cell)
    seeds = tuple(sorted({seed for part in parts for seed in part.seeds}))
    order = {level: number for number, level in enumerate(first.levels)}
    shared = Cost()
    for part in parts:
        shared = shared + part.shared_cost
    listed = [about for part in parts for about in _about(part)]
    config: JsonDict = {name: first.config[name] for name in _TOLD if name in first.config}
    return first.model_copy(
        update={
            "seeds": seeds,
            "cells": tuple(cells[place] for place in sorted(cells, key=lambda p: (p[0], order[p[1]]))),
            "shared_cost": shared,
            "config": {**config, PARTS: {str(n): about for n, about in enumerate(listed, start=1)}},
            "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
    )


def _check(first: Ablation, other: Ablation) -> None:
    for field in _SAME:
        if (a := getattr(first, field)) != (b := getattr(other, field)):
            raise UsageError(f"not parts of one grid: {field} is {a} in one, {b} in another")
    for name in _TOLD:
        a, b = first.config.get(name), other.config.get(name)
        if a != b:
            raise UsageError(
                f"not parts of one grid: {_where(name, a, b)} differs", fix="run both with the same file and --value"
            )


def _where(name: str, a: Any, b: Any) -> str:
    """The first entry in which two tables differ."""
    if not (isinstance(a, dict) and isinstance(b, dict)):
        return name
    return next(f"{name}.{key}" for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key))


def _better(known: Cell | None, cell: Cell) -> Cell:
    """The finished one of two, without its runs: they lie beside the part that made it."""
    cell = cell.model_copy(update={"runs": {}})
    if known is None or known.state != "done":
        return cell
    if cell.state == "done" and (known.dreamed, known.real, known.replayed) != (cell.dreamed, cell.real, cell.replayed):
        raise UsageError(
            f"{cell.level}, seed {cell.seed} is finished in two parts with different outcomes",
            fix="choose one of them beforehand",
        )
    return known


def _about(part: Ablation) -> list[JsonDict]:
    """What a part does not share with the others; a part that was itself merged brings all of its own."""
    if PARTS in part.config:
        return list(cast("dict[str, JsonDict]", part.config[PARTS]).values())
    done = sum(cell.state == "done" for cell in part.cells)
    return [{"seeds": list(part.seeds), "cells_done": done, **{name: part.config.get(name) for name in _OWN}}]
