"""Our published grids: readable, without a place of a machine, and their tables are those of their trials."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.ablations import ABLATION, ablation_report, read_ablation
from results.published import load_published
from results.render import Format, render
from tests.support.repository import ROOT

GRIDS = sorted((ROOT / "results" / "published" / "ours").glob("*/"))
TABLES = {Format.MD: "ablation.md", Format.CSV: "ablation.csv", Format.LATEX: "ablation.tex"}


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.name)
def test_tables_are_those_of_the_trials(grid: Path) -> None:
    ablation = read_ablation(grid / ABLATION)
    assert ablation.name == grid.name
    report = ablation_report(ablation, load_published())
    for form, name in TABLES.items():
        assert (grid / name).read_text(encoding="utf-8") == render(report, form)
    assert (grid / "stages.json").is_file()


def test_there_are_some() -> None:
    assert GRIDS
