"""Grids of ablations: denominators, what is withheld, what was not run, and the papers' points kept apart."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from harness.errors import UsageError
from results.ablations import (
    Ablation,
    Cell,
    Cost,
    Trial,
    ablation_report,
    ablation_table,
    difference_table,
    read_ablation,
    ssrf,
    success,
    write_ablation,
)
from results.intervals import paired_interval
from results.published import load_published
from results.render import Format, render
from results.terminal import print_table


def trials(*outcomes: bool | None) -> tuple[Trial, ...]:
    return tuple(Trial(task_id=f"t{n}", cluster=f"c{n}", success=outcome) for n, outcome in enumerate(outcomes))


def grid(*cells: Cell, factor: str = "dream_length", reference: str = "") -> Ablation:
    return Ablation(name="g", factor=factor, levels=("1", "5"), seeds=(0, 1), cells=cells, reference=reference)


def done(level: str, seed: int, **fields: object) -> Cell:
    return Cell(level=level, seed=seed, state="done", **fields)


def value(ablation: Ablation, level: str, column: str) -> object:
    table = ablation_table(ablation)
    row = next(row for row in table.rows if row[0] == level)
    return row[[c.name for c in table.columns].index(column)]


def test_a_trial_without_a_score_is_in_n_and_is_no_success() -> None:
    found = success(trials(True, False, None, True))
    assert (found.value, found.n) == (0.5, 4)


def test_ssrf_is_failures_over_replays_with_a_verdict() -> None:
    found = ssrf(trials(True, False, False, None))
    assert (found.k, found.n) == (2, 3)


def test_seeds_are_pooled_and_their_cost_adds_up() -> None:
    ablation = grid(
        done("1", 0, real=trials(True, False), cost=Cost(seconds=10)), done("1", 1, real=trials(True, True), cost=Cost(seconds=5))
    )
    assert value(ablation, "1", "REAL success") == 0.75
    assert value(ablation, "1", "n real") == 4
    assert value(ablation, "1", "seconds") == 15
    assert value(ablation, "1", "seeds") == "2 of 2"


def test_what_was_not_run_is_a_dash_and_never_a_zero() -> None:
    ablation = grid(done("1", 0, real=trials(False)))
    assert value(ablation, "1", "REAL success") == 0
    assert [value(ablation, "5", name) for name in ("REAL success", "n real", "SSRF", "seconds")] == [None] * 4
    assert value(ablation, "5", "seeds") == "0 of 2"


def test_dreams_without_a_verdict_are_a_dash_and_never_a_zero() -> None:
    ablation = grid(done("1", 0, dreamed=trials(None, None), real=trials(True)), done("5", 0, dreamed=trials(None, False)))
    assert [value(ablation, "1", name) for name in ("dreamed success", "n dreams", "unscored", "REAL success")] == [None, 2, 2, 1]
    assert value(ablation, "5", "dreamed success") == 0, "one of two was judged"


def test_ssrf_is_withheld_where_controls_failed_or_were_not_run() -> None:
    replayed = {"replayed": trials(False, False)}
    assert value(grid(done("1", 0, controls_passed=True, **replayed)), "1", "SSRF") == 1
    assert value(grid(done("1", 0, controls_passed=False, **replayed)), "1", "SSRF") is None
    assert value(grid(done("1", 0, **replayed)), "1", "SSRF") is None


def test_a_failed_cell_is_named_and_in_no_rate() -> None:
    ablation = grid(Cell(level="1", seed=0, state="failed", problem="no memory", real=trials(True)))
    assert value(ablation, "1", "n real") is None
    report = ablation_report(ablation)
    assert "1, seed 0 failed: no memory" in report.warnings
    assert report.warnings[0] == "Not finished: 0 of 4 cells."


def test_published_points_have_a_table_of_their_own_with_their_source() -> None:
    report = ablation_report(grid(done("1", 0), factor="world_model"), load_published())
    ours, theirs = report.tables
    assert {row[0] for row in ours.rows} == {"1", "5"}
    assert ("trained", "webarena", 0.31, "§5.4") in {(row[0], row[2], row[3], row[5]) for row in theirs.rows}
    assert all(row[-1] for row in theirs.rows)


@pytest.mark.parametrize("form", list(Format))
def test_every_format(form: Format) -> None:
    text = render(ablation_report(grid(done("1", 0, real=trials(True, False))), load_published()), form)
    assert "REAL success" in text


def test_a_grid_survives_the_disk_and_a_damaged_one_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "ablation.json"
    ablation = grid(done("1", 0, real=trials(True)))
    write_ablation(path, ablation)
    assert read_ablation(path) == ablation
    newer = ablation.model_dump_json().replace('"schema_version":1', '"schema_version":9')
    for content, said in (("{", "is no ablation"), (newer, "newer")):
        path.write_text(content)
        with pytest.raises(UsageError, match=said):
            read_ablation(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_ablation(tmp_path / "nowhere.json")


def test_a_narrow_terminal_does_not_call_a_dash_a_zero() -> None:
    console = Console(width=60, file=io.StringIO())
    print_table(ablation_table(grid(done("1", 0, real=trials(True)))), console)
    assert isinstance(console.file, io.StringIO)
    said = " ".join(console.file.getvalue().split())
    assert "Zero or not measured: n dreams," in said
    assert "Zero everywhere" not in said


def keyed(*outcomes: bool | None, clusters: int = 100) -> tuple[Trial, ...]:
    return tuple(Trial(task_id=f"t{n}", cluster=f"c{n % clusters}", success=s, key=f"b/t{n}/A/0") for n, s in enumerate(outcomes))


def differences(ablation: Ablation) -> dict[str, dict[str, object]]:
    (table,) = difference_table(ablation)
    return {str(row[0]): dict(zip([c.name for c in table.columns], row, strict=True)) for row in table.rows}


def test_levels_are_compared_on_the_same_episodes_of_the_same_training_seed() -> None:
    cells = (
        done("1", 0, real=keyed(True, False, False, False, None)),
        done("5", 0, real=keyed(True, True, True, False, True)),
        done("1", 1, real=keyed(True, True, False, False)),
        done("5", 1, real=keyed(True, False, False, False)),
    )
    found = differences(grid(*cells, reference="1"))["5"]
    assert (found["pairs"], found["templates"]) == (8, 4), "what has no score on one side is in no pair"
    assert (found["reference"], found["REAL success"], found["difference, points"]) == (3 / 8, 4 / 8, 1 / 8)
    assert found["by seed"] == "+50.0, -25.0"
    assert found["McNemar p"] == 1.0, "two against one"


def test_the_paired_interval_is_that_of_comparing_runs() -> None:
    first, second = keyed(*[False] * 9, True, clusters=5), keyed(*[True] * 5, *[False] * 5, clusters=5)
    found = differences(grid(done("1", 0, real=first), done("5", 0, real=second), reference="1"))["5"]
    assert found["difference 95%"] == paired_interval(
        [float(t.success or 0) for t in first], [float(t.success or 0) for t in second], [t.cluster for t in first]
    )


def test_without_a_reference_or_its_cells_nothing_is_compared() -> None:
    cell = done("5", 0, real=keyed(True, False))
    assert difference_table(grid(cell)) == []
    found = differences(grid(cell, done("1", 1, real=keyed(True, True)), reference="1"))["5"]
    assert set(found.values()) == {"5", None}, "another seed is no pair"
    old = differences(grid(done("5", 0, real=trials(True)), done("1", 0, real=trials(False)), reference="1"))["5"]
    assert old["pairs"] is None, "files of before do not say which episodes are the same"


def test_what_has_no_score_is_counted() -> None:
    ablation = grid(done("1", 0, dreamed=trials(True, None), real=trials(None, False)))
    assert value(ablation, "1", "unscored") == 2
    assert value(ablation, "5", "unscored") is None
