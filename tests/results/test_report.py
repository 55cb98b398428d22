"""Reports: what a reader must see is there, in every format, and hostile text is only ever text."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from harness.errors import UsageError
from harness.types import Action, ActionError, Exclusion, Score
from results.intervals import Interval
from results.manifest import Environment
from results.pair_report import pair_report
from results.reader import EPISODE, EPISODES, RunReader
from results.render import Format, render
from results.report import run_report
from results.store import RunStore
from results.tables import DASH, Report, Table, columns, written
from results.terminal import print_report
from tests.results.factory import episode, make_run, manifest, plan, step, task, usage

HOSTILE = (
    "[red]x[/red] **b** <img src=http://evil> | a\\b $x$ \x1b[2J\x1b]0;pwn\x07 \u202egnp\u202c =HYPERLINK(1) _u_ `c` "
    "& #1 {y}~^\r\nnext"
)


def table(report: Report, name: str) -> Table:
    return next(t for t in report.tables if t.name == name)


def names(report: Report) -> set[str]:
    return {t.name for t in report.tables}


def cell(found: Table, row: str, column: str) -> object:
    index = [c.name for c in found.columns].index(column)
    return next(r for r in found.rows if r[0] == row)[index]


@pytest.fixture
def webarena(tmp_path: Path) -> RunReader:
    """A run with everything in it: two sites, N/A tasks, errata, errors, an exclusion, a broken file, shared state."""
    specs = plan([task(str(i), template=str(i // 2), site=("shopping", "map")[i % 2], unachievable=i == 3) for i in range(8)])
    header = manifest(
        specs,
        instances=1,
        judge="gpt-x",
        judge_prompt_hash="0123456789abcdef",
        config={"limits": {"max_steps": 30}},
        excluded=(Exclusion(task_id="99", rule="known broken", reason="407", site="map"),),
        environments=(Environment(python="3.11.7", commit="a" * 40, dirty=True, cpu="CPU", cores=2, ram_gib=8),),
    )
    errata = {"other_scores": (Score(profile="errata", version="1", status="success"),)}
    with RunStore.create(tmp_path / "wa", header, specs) as store:
        statuses = ["success", "failure", "error", "blocked", "inconclusive", "success", "failure"]
        for spec, status in zip(specs, statuses, strict=False):
            steps = [step(0, usage=usage(cost=None), error=ActionError(kind="stale", message="")), step(1, usage=usage())]
            store.record(
                episode(
                    spec, status, steps=steps, reset_epoch=spec.order_index // 4, verdict=errata if status == "failure" else {}
                ),  # type: ignore[arg-type]
                {},
            )
    (tmp_path / "wa" / EPISODES / "6__A__r0__a0" / EPISODE).write_bytes(b"broken")
    return RunReader.open(tmp_path / "wa")


def test_the_main_table_counts_every_planned_episode(webarena: RunReader) -> None:
    report = run_report(webarena)
    sites = table(report, "sites")
    row = dict(zip([c.name for c in sites.columns], sites.rows[-1], strict=True))
    assert row["site"] == "all"
    counted = [row[state] for state in ("success", "failure", "error", "blocked", "inconclusive", "missing")]
    assert counted == [2, 1, 1, 1, 1, 2]
    assert row["planned"] == sum(counted) == 8
    assert row["of planned"] == 2 / 8
    assert (row["of scored"], row["n scored"]) == (2 / 3, 3)
    assert row["errata: of planned"] == 1 / 8
    assert row["excluded tasks"] == 1
    assert cell(sites, "map", "excluded tasks") == 1
    assert isinstance(row["95% interval"], Interval)
    assert report.summary.startswith("Success 25.0% of 8 planned episodes")


def test_a_reader_is_told_what_matters(webarena: RunReader) -> None:
    report = run_report(webarena)
    text = "\n".join(report.warnings)
    assert "not finished: 6 of 8" in text
    assert "1 episode files cannot be read" in text
    assert "3 of 8 episodes have no score" in text
    assert "1 tasks were excluded" in text
    assert "uncommitted changes" in text
    assert cell(table(report, "floors"), "always answer that it cannot be done (N/A)", "of planned") == 1 / 8
    assert cell(table(report, "action_errors"), "stale", "of all steps") == 0.5
    assert table(report, "unreadable").rows == (("6__A__r0__a0", "damaged: not valid gzip data"),)
    assert table(report, "excluded").rows == (("99", "known broken", "407"),)
    assert cell(table(report, "shared_state"), "reset epochs", "value") == "0 to 1"
    assert cell(table(report, "model_use"), "policy", "cost") == "unknown"
    assert cell(table(report, "settings"), "limits.max_steps", "value") == "30"
    assert cell(table(report, "run"), "commit", "value") == "aaaaaaaaaaaa (modified)"
    assert cell(table(report, "run"), "judge", "value") == "gpt-x (prompt 0123456789ab)"


def test_a_partly_known_cost_says_how_much_it_covers(tmp_path: Path) -> None:
    specs = plan([task("a"), task("b")])
    with RunStore.create(tmp_path / "r", manifest(specs), specs) as store:
        store.record(episode(specs[0], steps=[step(0, usage=usage(cost=0.5))]), {})
        store.record(episode(specs[1], steps=[step(0, usage=usage(cost=None))]), {})
        found = table(run_report(store), "model_use")
    assert cell(found, "policy", "cost") == 0.5
    assert "covers 1 of 2 episodes" in found.notes[0]


def test_an_empty_run_reports_dashes_and_no_numbers(tmp_path: Path) -> None:
    make_run(tmp_path / "r", plan([task("a")]), [None])
    report = run_report(RunReader.open(tmp_path / "r"))
    assert cell(table(report, "sites"), "shopping", "of scored") is None
    assert f"| {DASH} |" in render(report, Format.MD)
    assert "action_errors" not in names(report)


def test_miniwob_shows_threshold_beside_raw_reward(tmp_path: Path) -> None:
    specs = plan([task("find-greatest", site="miniwob", benchmark="miniwob")])
    with RunStore.create(tmp_path / "r", manifest(specs), specs) as store:
        store.record(episode(specs[0], "failure", verdict={"raw_reward": 0.1, "threshold": 0.99}), {})
        found = table(run_report(store), "sites")
    assert (cell(found, "miniwob", "raw reward"), cell(found, "miniwob", "threshold")) == (0.1, 0.99)


@pytest.fixture
def hostile(tmp_path: Path) -> Report:
    """A run whose every free text is hostile."""
    specs = plan([task("a", template=HOSTILE, site=HOSTILE), task("b", template="2", site="=cmd()")])
    header = manifest(specs, policy=HOSTILE, excluded=(Exclusion(task_id=HOSTILE, rule=HOSTILE, reason=HOSTILE),))
    with RunStore.create(tmp_path / "r", header, specs) as store:
        store.record(
            episode(
                specs[0],
                "blocked",
                steps=[step(0, action=Action(name="invalid", error=HOSTILE))],
                verdict={"reason": HOSTILE, "other_scores": (Score(profile=HOSTILE, version="", status="failure"),)},
            ),
            {},
        )
        return run_report(store)


@pytest.mark.parametrize("form", [Format.MD, Format.CSV, Format.LATEX])
def test_no_format_lets_control_characters_through(hostile: Report, form: Format) -> None:
    text = render(hostile, form)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", text)
    assert "]0;pwn" not in text


def test_markdown_text_is_escaped_and_rows_stay_rows(hostile: Report) -> None:
    text = render(hostile, Format.MD)
    assert not re.search(r"(?<!\\)<img", text)
    assert not re.search(r"(?<!\\)\*\*b", text)
    bare = [re.sub(r"\\.", "", line) for line in text.splitlines()]
    headers = [line for line, below in pairwise(bare) if below.startswith("| ---")]
    assert [line.count("|") - 1 for line in headers] == [len(t.columns) for t in hostile.tables]
    widths = {line.count("|") for line in bare if line.startswith("|")}
    assert widths == {len(t.columns) + 1 for t in hostile.tables}


def test_latex_text_is_escaped(hostile: Report) -> None:
    body = [line for line in render(hostile, Format.LATEX).splitlines() if not line.startswith("%")]
    for line in body:
        bare = re.sub(r"\\[&%$#_{}]", "", line)
        assert "#" not in bare
        assert "^" not in bare
        assert bare.count("{") == bare.count("}")
    rows = [re.sub(r"\\[&%$#_{}]", "", line) for line in body if line.endswith(r"\\")]
    assert {row.count("&") + 1 for row in rows} == {len(t.columns) for t in hostile.tables}


def test_csv_is_one_tidy_table_and_no_formula(hostile: Report) -> None:
    lines = list(csv.reader(io.StringIO(render(hostile, Format.CSV))))
    assert lines[0] == ["table", "row", "column", "value"]
    assert all(len(line) == 4 for line in lines)
    assert not [line for line in lines[1:] if line[3][:1] in ("=", "@")]
    assert ["sites", "1", "planned", "1"] in lines


def test_json_holds_raw_values(webarena: RunReader) -> None:
    data = json.loads(render(run_report(webarena), Format.JSON))
    sites = next(t for t in data["tables"] if t["name"] == "sites")
    row = dict(zip([c["name"] for c in sites["columns"]], sites["rows"][-1], strict=True))
    assert row["of planned"] == 0.25
    low, high = row["95% interval"]
    assert 0 < low < 0.25 < high < 1
    assert data["warnings"]


def test_every_format_shows_the_same_rate(webarena: RunReader) -> None:
    report = run_report(webarena)
    assert "| all | 8 |" in render(report, Format.MD)
    assert "| 25.0% |" in render(report, Format.MD)
    assert r"25.0\%" in render(report, Format.LATEX)
    assert "of planned,0.25" in render(report, Format.CSV)


def test_two_equal_runs_have_a_difference_and_no_interval(tmp_path: Path) -> None:
    specs = plan([task(f"t{n}", template=f"tpl{n}") for n in range(4)])
    for name in ("a", "b"):
        make_run(tmp_path / name, specs, ("success", "failure", "success", "failure"))
    summary = pair_report(RunReader.open(tmp_path / "a"), RunReader.open(tmp_path / "b")).summary
    assert summary.startswith("B − A = +0.0 points over 4 pairs scored in both")


def test_two_runs_are_paired(tmp_path: Path) -> None:
    specs = plan([task(f"t{i}") for i in range(6)])
    make_run(tmp_path / "a", specs, ["success", "success", "failure", "failure", "error", "failure"], run_id="a")
    other = Environment(python="3.11.7", browser="chromium", browser_version="2.0", commit="abc1234")
    make_run(
        tmp_path / "b",
        specs,
        ["success", "failure", "success", "success", "success", None],
        run_id="b",
        task_set_hash="sha256:other",
        judge="someone",
        base_seed=8,
        config={"limits": {"max_steps": 5}},
        environments=(other,),
    )
    report = pair_report(RunReader.open(tmp_path / "a"), RunReader.open(tmp_path / "b"))
    assert [row[1] for row in table(report, "paired").rows] == [1, 1, 2, 0]
    assert table(report, "difference").rows[0][2] == pytest.approx(0.25)
    assert set(table(report, "not_scored").rows) == {("error", "success", 1), ("failure", "missing", 1)}
    assert [row[0] for row in table(report, "task_differences").rows] == ["t1", "t2", "t3"]
    assert table(report, "config").rows == (("limits.max_steps", None, "5"),)
    text = "\n".join(report.warnings)
    for what in (
        "task sets: sha256:00ff and sha256:other",
        "judges: none and someone",
        "seeds: 7 and 8",
        "browsers: chromium 1.0",
    ):
        assert f"Different {what}" in text
    assert "B: The run is not finished" in text
    assert report.summary.startswith("B − A = +25.0 points [")


def test_equal_runs_have_no_comparability_warning(tmp_path: Path) -> None:
    specs = plan([task("a"), task("b")])
    for name in ("a", "b"):
        make_run(tmp_path / name, specs, ["success", "failure"], run_id=name)
    assert pair_report(RunReader.open(tmp_path / "a"), RunReader.open(tmp_path / "b")).warnings == ()


def test_runs_without_a_common_task_are_refused(tmp_path: Path) -> None:
    make_run(tmp_path / "a", plan([task("a")]), ["success"], run_id="a")
    make_run(tmp_path / "b", plan([task("b")]), ["success"], run_id="b")
    with pytest.raises(UsageError, match="no task in common"):
        pair_report(RunReader.open(tmp_path / "a"), RunReader.open(tmp_path / "b"))


def test_two_windows_in_one_run_or_in_two_say_the_same(tmp_path: Path) -> None:
    tasks = [task(name) for name in "abcd"]
    first, second = ["success", "failure", "blocked", "success"], ["failure", "failure", "blocked", "success"]
    make_run(tmp_path / "both", plan(tasks, windows=["A", "B"]), [*first, *second], run_id="both")
    make_run(tmp_path / "a", plan(tasks, windows=["A"]), first, run_id="a")
    make_run(tmp_path / "b", plan(tasks, windows=["B"]), second, run_id="b")
    one = table(run_report(RunReader.open(tmp_path / "both")), "windows A B")
    two = table(pair_report(RunReader.open(tmp_path / "a"), RunReader.open(tmp_path / "b")), "windows A B")
    assert one == two
    assert (one.rows[0][2], one.rows[0][4], one.rows[0][6]) == (0.5, 0.25, 0.375)
    assert (one.rows[1][2], one.rows[1][4]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    notes = "\n".join(one.notes)
    assert "Gap B − A: -25.0 points" in notes
    assert "Flip rate: 33.3% (1 of 3 scored pairs)" in notes
    assert "excluded c: because blocked" in notes


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "percent", DASH),
        (0.30791, "percent", "30.8%"),
        (0, "percent", "0.0%"),
        (0.1, "points", "+10.0"),
        (Interval(0.1, 0.25), "interval", "[10.0, 25.0]"),
        (Interval(-0.1, 0.25), "points interval", "[-10.0, +25.0]"),
        (12345, "int", "12,345"),
        (0.0000001, "p", "< 0.001"),
        (0.0459, "usd", "$0.0459"),
        (1234.5, "usd", "$1,234.50"),
        ("a\nb\x1b[0m", "text", "a b"),
        ("", "text", DASH),
    ],
)
def test_how_cells_are_written(value: object, kind: str, text: str) -> None:
    assert written(value, kind) == text  # type: ignore[arg-type]


def test_rows_must_fit_their_columns() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells under 2 columns"):
        Table("t", "T", columns("a", "b"), (("x",),))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_terminal_numbers_are_whole_at_any_width(webarena: RunReader, width: int) -> None:
    out = io.StringIO()
    print_report(run_report(webarena), Console(file=out, width=width), max_rows=2)
    text = out.getvalue()
    assert "25.0%" in text
    assert "…" not in text.replace("… 1 more rows: --full", "").replace("… 2 more rows: --full", "").replace(
        "… 10 more rows: --full", ""
    )


def test_terminal_prints_hostile_text_literally(hostile: Report) -> None:
    out = io.StringIO()
    print_report(hostile, Console(file=out, width=200, force_terminal=True, color_system="truecolor"))
    text = out.getvalue()
    assert "[red]x[/red]" in text
    assert "\x1b[2J" not in text and "\x1b]" not in text and "\u202e" not in text
