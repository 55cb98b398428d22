"""`harness probe`: writes the filter and says what it found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from harness.cli.probe import probe
from harness.errors import UsageError
from tests.webvoyager.sites import LocalSite

app = typer.Typer()
app.command()(probe)


def test_the_command_writes_a_filter_and_counts_reasons(tmp_path: Path) -> None:
    with LocalSite() as site:
        rows = [
            {"web_name": "Shop", "id": f"Shop--{i}", "ques": "Find it.", "web": site.url(path)}
            for i, path in enumerate(["", "akamai", "akamai"])
        ]
        (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
        (tmp_path / "run.toml").write_text(f'[webvoyager]\ndata = "{tmp_path / "tasks.jsonl"}"\n')
        out = tmp_path / "filters" / "reachable.json"
        result = CliRunner().invoke(app, ["webvoyager", "--config", str(tmp_path / "run.toml"), "--out", str(out), "--http-only"])
    assert result.exit_code == 0, result.output
    assert "2 tasks: access_denied: Akamai's Access Denied" in result.output
    assert "2 of 3 tasks cannot be reached" in result.output
    assert [e["task_id"] for e in json.loads(out.read_text())["exclusions"]] == ["Shop--1", "Shop--2"]


def test_other_benchmarks_have_nothing_to_probe() -> None:
    with pytest.raises(UsageError, match="nothing to probe for 'miniwob'"):
        CliRunner().invoke(app, ["miniwob"], catch_exceptions=False)
    assert "Example: harness probe webvoyager" in CliRunner().invoke(app, ["--help"]).output
