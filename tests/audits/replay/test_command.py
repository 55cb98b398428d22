"""`harness audit` as a user starts it, on MiniWoB++: controls, replay, report, rescore, and what it says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audits.metrics.summary import AuditSummary
from audits.report.controls import load_controls
from harness.cli.audit import app
from harness.errors import NotReadyError, UsageError
from harness.types import EvaluatorSpec, Task
from results.reader import RunReader
from tests.audits.replay.conftest import TASKS, store
from tests.audits.replay.dreams import episode, page, trajectory
from tests.support.disk import small_disk


def harness(*arguments: str) -> str:
    """What it printed; it must have gone well."""
    ended = CliRunner().invoke(app, list(arguments))
    assert ended.exit_code == 0, (ended.output, ended.exception)
    return ended.output


@pytest.mark.browser
@pytest.mark.slow
def test_from_controls_to_report(recorded: Path, tmp_path: Path) -> None:
    controls, replays = tmp_path / "controls", tmp_path / "replays"
    common = ("--env", "miniwob", "--workers", "1")
    harness("controls", str(recorded), *common, "--per-fault", "1", "--out", str(controls))
    known = load_controls(controls)
    assert [row.outcome for row in known.negative] == ["success"] * len(TASKS)
    assert known.planted and all(row.found_at == row.planted_at for row in known.planted)
    assert known.resolver is not None and known.resolver.precision.value == 1.0
    assert known.start_parity[0] == 0

    replay = ("replay", str(recorded), *common, "--calibration", str(controls), "--run-dir", str(replays))
    assert "policy replay, workers: 1" in harness(*replay), "and not the policy that `harness run` would have taken"
    report = ("report", str(replays), "--controls", str(controls))
    told = harness(*report)
    assert told.startswith("# Audit\n\n**INVALID**"), "four controls are too few, and it says so"
    assert "SSRF is withheld" in told and "## Rates" not in told
    shown = harness(*report, "--show-invalid", "--format", "latex")
    assert r"\begin{tabular}" in shown and "SSRF" in shown
    summary = AuditSummary.model_validate_json((replays / "audit.json").read_text())
    assert (summary.status, summary.headline, summary.counts.success) == ("INVALID", None, len(TASKS))
    assert "equal to the bit" in harness("rescore", str(replays))
    harness(*replay)
    assert len(RunReader.open(replays).rows()) == len(TASKS), "the same command again replays nothing twice"


def test_controls_of_another_resolver_say_nothing(recorded_controls: tuple[Path, Path]) -> None:
    replays, controls = recorded_controls
    data = json.loads((controls / "controls.json").read_text())
    data["grounding"]["threshold"] = 0.5
    (controls / "controls.json").write_text(json.dumps(data))
    reported = CliRunner().invoke(app, ["report", str(replays), "--controls", str(controls)])
    assert "the controls were made with another resolver" in reported.output


@pytest.fixture
def recorded_controls(tmp_path: Path) -> tuple[Path, Path]:
    """A run of replays and controls without any row: enough for what is checked before a number is made."""
    from audits.grounding import GroundingConfig
    from audits.replay.calibration import Calibration
    from audits.replay.config import ReplaySettings
    from audits.report.controls import ControlsFile

    replays = store(tmp_path / "replays", [], "miniwob")
    manifest = json.loads((replays / "manifest.json").read_text())
    manifest["benchmark_options"] = {"replay": ReplaySettings(dreams="x").model_dump(mode="json")}
    (replays / "manifest.json").write_text(json.dumps(manifest))
    controls = tmp_path / "controls"
    controls.mkdir()
    known = ControlsFile(benchmark="miniwob", grounding=GroundingConfig(), calibration=Calibration().digest, masked=0)
    (controls / "controls.json").write_text(known.model_dump_json())
    return replays, controls


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (["replay", "nothing-here", "--env", "miniwob"], UsageError, "no run in"),
        (["replay", "RUN", "--env", "miniwob"], UsageError, "holds dreams of arena"),
        (["replay", "RUN", "--env", "arena", "--arm", "handover"], UsageError, "hand over to"),
        (["replay", "RUN", "--env", "arena", "--calibration", "no.json"], UsageError, "cannot read the calibration"),
        (["replay", "RUN", "--env", "arena", "--config", "NO_SITES"], NotReadyError, "not up"),
        (["rescore", "RUN"], UsageError, "no run of replays"),
        (["report", "RUN", "--controls", "nothing-here"], UsageError, "cannot read the controls"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(tmp_path: Path, arguments: list[str], error: type[Exception], says: str) -> None:
    task = Task(benchmark="arena", task_id="shop-price-0", sites=("shop",), evaluator=EvaluatorSpec(kind="string_match"))
    run = store(tmp_path / "run", [episode(trajectory([(page("RootWebArea 'A'"), "noop()")], task=task))], "arena")
    no_sites = tmp_path / "no-sites.toml"
    no_sites.write_text(f'[arena]\nstate_dir = "{tmp_path / "none"}"\n')
    told = [{"RUN": str(run), "NO_SITES": str(no_sites)}.get(word, word) for word in arguments]
    ended = CliRunner().invoke(app, [*told, *(["--run-dir", str(tmp_path / "out")] if told[0] == "replay" else [])])
    assert isinstance(ended.exception, error), ended.output
    assert says in str(ended.exception) and ended.exception.fix  # type: ignore[attr-defined]
    assert not (tmp_path / "out").exists(), "nothing is begun"


def test_a_full_disk_is_one_line_and_leaves_no_half_a_report(tmp_path: Path, recorded_controls: tuple[Path, Path]) -> None:
    with small_disk(tmp_path, "8k") as disk:
        ended = CliRunner().invoke(app, ["report", str(recorded_controls[0]), "--out", str(disk / "out")])
        assert isinstance(ended.exception, NotReadyError) and "the disk is full" in str(ended.exception)
        assert list((disk / "out").glob("audit.json")) == []
