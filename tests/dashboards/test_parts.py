"""The small parts: grids, exports, cache, the server's port, the command's errors."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dashboards import server, tables
from dashboards.cache import Latest
from dashboards.rates import of_table
from harness.cli.main import app
from harness.errors import UsageError
from results.intervals import Interval
from results.render import Format, render
from results.report import sites
from results.tables import Report, Table, columns
from tests.results.factory import plan, task


def test_cells_are_scaled_and_what_was_not_measured_is_missing() -> None:
    cols = columns("site", ("rate", "percent"), ("95%", "interval"), ("cost", "usd"), ("n", "int"))
    table = Table("t", "T", cols, (("a", 0.123, Interval(0.1, 0.2), None, 1234), ("b", None, None, "unknown", 0)))
    frame = tables.frame(table)
    assert [frame.iloc[0][column] for column in ("site", "rate", "95%", "n")] == ["a", 12.3, "[10.0, 20.0]", 1234]
    assert frame["rate"].isna().tolist() == [False, True]
    assert frame["cost"].isna().tolist() == [True, False]
    assert frame.iloc[1]["cost"] == "unknown"
    assert frame.iloc[1]["n"] == 0


def test_a_small_p_is_written_as_in_the_reports() -> None:
    """The grid's own format made 0.001 of 0.0001."""
    table = Table("t", "T", columns(("p", "p")), ((0.0001,), (0.0364,), (None,)))
    assert tables.frame(table)["p"].tolist()[:2] == ["< 0.001", "0.036"]
    assert tables.frame(table)["p"].isna().tolist() == [False, False, True]
    assert "format" not in tables.configuration(table)["p"]["type_config"]


def test_columns_of_one_name_are_kept_apart() -> None:
    assert tables.unique(["n", "n", "", "n", ""]) == ["n", "n (2)", "–", "n (3)", "– (2)"]


def test_exports_hold_the_numbers_of_the_table_and_run_no_formula() -> None:
    table = Table("t", "T", columns("task", ("rate", "percent")), (("=1+1", 0.5),))
    for form, _, _, _ in tables.EXPORTS:
        written = render(Report("T", "", (), (table,)), form)
        assert "50.0%" in written or "0.5" in written or r"50.0\%" in written
    assert "'=1+1" in render(Report("T", "", (), (table,)), Format.CSV)


def test_lines_of_a_chart_are_those_of_the_table() -> None:
    from results.outcomes import outcomes

    table = sites(outcomes(plan([task("a"), task("b", site="forum")]), {}))
    assert [(line.name, line.value, line.n) for line in of_table(table)] == [
        ("forum", 0.0, 1),
        ("shopping", 0.0, 1),
        ("all", 0.0, 2),
    ]


def test_the_cache_makes_a_value_once_per_stamp_and_forgets_the_oldest() -> None:
    kept: Latest[int] = Latest(2)
    made: list[str] = []

    def make(name: str) -> int:
        made.append(name)
        return len(made)

    assert kept.get("a", 1, lambda: make("a")) == kept.get("a", 1, lambda: make("a")) == 1
    assert kept.get("a", 2, lambda: make("a")) == 2
    kept.get("b", 1, lambda: make("b"))
    kept.get("c", 1, lambda: make("c"))
    kept.get("a", 2, lambda: make("a"))
    assert made == ["a", "a", "b", "c", "a"]


def test_threads_that_want_the_same_value_make_it_once() -> None:
    kept: Latest[object] = Latest(2)
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    threads = [threading.Thread(target=lambda: kept.get("a", 1, make)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_a_port_in_use_is_one_line_and_another_is_found() -> None:
    with socket.socket() as taken:
        taken.bind((server.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} is in use"):
            server.free_port(port)
    assert server.free_port(0) > 0


def test_the_server_listens_on_this_machine_only_and_answers_no_other_name() -> None:
    assert server.OPTIONS["server.address"] == "127.0.0.1"
    assert set(server.OPTIONS["server.allowedHosts"]) == {"localhost", "127.0.0.1"}
    assert server.OPTIONS["browser.gatherUsageStats"] is False
    assert server.OPTIONS["logger.hideWelcomeMessage"] is True  # or Streamlit offers to write files


def test_a_file_is_no_directory_of_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    result = CliRunner().invoke(app, ["dashboard", "--runs", str(tmp_path / "file")])
    assert isinstance(result.exception, UsageError)
    assert "is not a directory" in str(result.exception)
