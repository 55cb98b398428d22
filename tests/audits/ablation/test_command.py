"""`harness ablate` as it is typed: the dry run, and what is refused in one line before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import UsageError
from tests.support.repository import ROOT

GRID = str(ROOT / "configs" / "ablations" / "dream_length.toml")


def ablate(out: Path, *more: str) -> str:
    found = CliRunner().invoke(app, ["ablate", "--config", GRID, "--out", str(out), *more])
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == 0
    return " ".join(found.output.split())


def test_a_dry_run_shows_cells_and_shared_stages_and_writes_nothing(tmp_path: Path) -> None:
    said = ablate(tmp_path / "grids", "--dry-run", "--input", f"experts={tmp_path / 'nowhere'}", "--seeds", "2")
    assert "7 levels of dream_length × 2 seeds" in said
    assert "10, seed 1 8 0 5" in said, "cell, stages, done, of its own"
    assert "world_model 2 0 7 not run yet" in said, "one for each seed, shared by seven levels"
    assert f"input experts: {tmp_path / 'nowhere'} is not there yet" in said
    assert "time left: not known until one of each is done: agent, base" in said
    assert "online" not in said, "what no cell needs"
    assert not (tmp_path / "grids").exists()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--input", "expert=x"), "has no input expert"),
        (("--input", "experts"), "not NAME="),
        (("--value", "updates"), "not NAME="),
        (("--value", "update=1"), "has no value update"),
        (("--seed", "7"), "the grid has no seed 7"),
        (("--seed", "1", "--seeds", "2"), "both choose seeds"),
        (("--input", "experts=nowhere"), "input experts: cannot read nowhere"),
    ],
)
def test_what_cannot_be_run_is_said(tmp_path: Path, more: tuple[str, ...], why: str) -> None:
    for name in ("data", "controls"):
        (tmp_path / name).mkdir()
    given = ("--input", f"data={tmp_path / 'data'}", "--input", f"controls={tmp_path / 'controls'}")
    with pytest.raises(UsageError, match=why):
        ablate(tmp_path / "grids", *given, *more)
    assert not (tmp_path / "grids").exists()


def test_a_value_changes_what_is_told(tmp_path: Path) -> None:
    """A word that is no value of this grid is refused (above); one that is takes the file's place in every stage."""
    from audits.ablation import make_plan
    from harness.cli.ablate import _grid

    grid = _grid(Path(GRID), [], ["updates=7"], 1, [])
    plan = make_plan(grid, dict.fromkeys(grid.inputs, "0"), tmp_path)
    assert all("updates = 7\n" in stage.config for stage in plan.stages.values() if stage.name == "agent")
    assert grid.seeds == (0,)


def test_one_seed_alone(tmp_path: Path) -> None:
    said = ablate(tmp_path / "grids", "--dry-run", "--seed", "2", "--seed", "1")
    assert "7 levels of dream_length × 2 seeds" in said
    assert "10, seed 1" in said
    assert "10, seed 2" in said
    assert "seed 0" not in said


def test_without_a_grid_it_says_what_it_needs() -> None:
    with pytest.raises(UsageError, match="ablate needs a grid"):
        raise_on_error(["ablate"])


def raise_on_error(arguments: list[str]) -> None:
    found = CliRunner().invoke(app, arguments)
    assert found.exception is not None
    raise found.exception
