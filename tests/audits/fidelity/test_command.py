"""`harness fidelity` from a data set to fidelity.json, twice, without a model, and with what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from audits.fidelity import PageScore, read_asked
from audits.fidelity.comparing import folder_of, read_report
from harness.cli.fidelity import fidelity
from harness.errors import UsageError
from tests.audits.fidelity.dataset import write_dataset

EVERYTHING = ("--samples", 2, "--free-running", "--goal-leak", "--self-assessment")

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(fidelity)


def call(*arguments: object) -> str:
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(a) for a in arguments])
    if result.exception is not None:
        raise result.exception
    return str(result.stdout)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("data") / "shop")


@pytest.fixture(scope="module")
def out(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out") / "fidelity"
    call(f"retrieval:{data}", "copy", "--data", data, "--out", folder, *EVERYTHING)
    return folder


def test_retrieval_beats_copy_where_the_same_elements_were_used_before(out: Path) -> None:
    found = read_report(out)
    assert (found.data, found.split, found.examples, found.available, found.templates) == ("shop", "test", 15, 15, 3)
    retrieval, copy = found.models
    assert copy.spec == "copy"
    assert copy.figures["delta.f1"].value == 0
    assert copy.figures["full.skill"].value == 0
    # Four steps change the page. Edits say "what was typed", so another query is no obstacle.
    assert retrieval.figures["delta.f1"].value == 1
    assert (retrieval.figures["delta.f1"].n, retrieval.figures["change.accuracy"].n) == (12, 15)
    assert retrieval.figures["change.accuracy"].value == 1
    assert copy.figures["change.accuracy"].value == pytest.approx(3 / 15)
    assert retrieval.figures["noise.delta_f1"].value == 1
    assert [d.difference.value for d in found.differences if d.figure == "delta.f1_changed"] == [1]


def test_free_running_goal_leak_and_outcomes_are_in_the_report(out: Path) -> None:
    retrieval, copy = read_report(out).models
    assert [depth.depth for depth in retrieval.depths] == [1, 2, 3, 4, 5]
    assert retrieval.depths[3].figures["kappa.full"].value == 1
    assert retrieval.depths[3].figures["free.full_f1"].n == 3
    assert copy.depths[1].figures["kappa.full"].value is not None
    assert copy.depths[1].figures["kappa.full"].value < 1
    assert retrieval.figures["goal.leak"].value == 0
    assert retrieval.figures["goal.leak"].n == 15
    assert copy.unmeasured == {"outcomes": 3}, "it says nothing about success"


def test_cuts_and_critical_elements(out: Path) -> None:
    retrieval, copy = read_report(out).models
    kinds = {cut.value: cut.figures["full.f1"].n for cut in retrieval.cuts if cut.by == "action"}
    assert kinds == {"click": 9, "fill": 3, "send_msg_to_user": 3}
    assert retrieval.figures["critical.new_recall"].value == 1
    assert copy.figures["critical.new_recall"].value == 0


def test_scores_are_stored_and_tables_written(out: Path) -> None:
    import gzip

    with gzip.open(folder_of(out, "copy") / "scores.jsonl.gz", "rt", encoding="utf-8") as file:
        scores = [PageScore.model_validate_json(line) for line in file]
    assert len(scores) == 15
    text = (out / "fidelity.md").read_text(encoding="utf-8")
    assert "delta F1" in text
    assert "copy's full-page F1" in text


def test_the_same_command_asks_nothing_again_and_gives_the_same_numbers(out: Path, data: Path) -> None:
    stored = {path: path.read_bytes() for path in out.glob("*/predictions.jsonl.gz")}
    before = read_report(out)
    call(f"retrieval:{data}", "copy", "--data", data, "--out", out, *EVERYTHING)
    assert {path: path.read_bytes() for path in stored} == stored
    assert read_report(out) == before


def test_figures_can_be_made_again_without_the_model(out: Path, data: Path) -> None:
    before = read_report(out)
    asked = read_asked(folder_of(out, "copy"))
    assert asked is not None
    assert asked.samples == 2
    text = call("--rescore", "--data", data, "--out", out, "--free-running", "--goal-leak", "--self-assessment")
    again = read_report(out)
    assert {model.spec: model for model in again.models} == {model.spec: model for model in before.models}
    assert "figures:" in text


def test_a_limit_asks_fewer_and_says_of_how_many(data: Path, tmp_path: Path) -> None:
    call("copy", "--data", data, "--out", tmp_path / "few", "--limit", 4)
    found = read_report(tmp_path / "few")
    assert (found.examples, found.available, found.models[0].figures["full.f1"].n) == (4, 15, 4)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["copy", "--split", "dev"], "empty"),
        (["copy", "--split", "held_out_site"], r"no held_out_site\.jsonl\.gz"),
        (["nobody"], "no world model 'nobody'"),
        ([], "no model"),
        (["copy", "--rescore"], "no stored answers"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(data: Path, tmp_path: Path, arguments: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        call(*arguments, "--data", data, "--out", tmp_path / "out")
    assert raised.value.fix
    assert "\n" not in str(raised.value)


def test_other_samples_do_not_mix_with_stored_answers(out: Path, data: Path) -> None:
    with pytest.raises(UsageError, match="samples"):
        call("copy", "--data", data, "--out", out, "--samples", 3)


@pytest.mark.parametrize("content", [b"{", b'{"schema_version": 1}', b"\xff"])
def test_a_damaged_report_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "fidelity.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"fidelity\.json"):
        read_report(tmp_path)
    with pytest.raises(UsageError, match="no fidelity"):
        read_report(tmp_path / "nowhere")
