"""What a cell's stages wrote, read back: trials, controls, cost; and what is a failed cell rather than a number."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from audits.ablation import Plan, PlannedStage, StageRecord, Stages, assemble, merge_results, write_results
from audits.ablation.harvest import cost_of
from audits.metrics.summarise import summarise
from audits.records import AuditRow
from harness.errors import UsageError
from harness.predictions import Prediction
from harness.types import Status, Usage
from results.ablations import ABLATION, Ablation, Cell, ablation_report, ablation_table, read_ablation
from results.files import gzipped
from results.store import RunStore
from results.training_log import TRAIN_LOG
from tests.audits.ablation.grids import BASE, DREAM, REAL, grid, planned
from tests.audits.metrics.factory import row
from tests.results.factory import episode, make_run, manifest, plan, step, task, usage

AUDIT = {"name": "report", "command": ["write", "{out}", "{dream}"], "gives": "audit"}


@pytest.fixture
def place(tmp_path: Path) -> tuple[Plan, Stages]:
    """Two levels; everything is done: a base model trained, dreams dreamt, real episodes played, dreams replayed."""
    found, stages = planned(grid(BASE, DREAM, REAL, AUDIT), tmp_path / "root")
    stages.directory.mkdir(parents=True)
    for stage in found.stages.values():
        out = stages.out(stage.id)
        if stage.name == "dream":
            dreams(out, ("success", "success", "failure", "error"))
        elif stage.name == "real":
            make_run(out, plan([task(f"r{n}", template=f"tpl{n % 2}") for n in range(4)]), ("success", "failure", "error", None))
        elif stage.name == "report":
            audit(out, [row(0, True, True), row(1, True, False), row(2, True, None), row(3, False, True)])
        else:
            out.mkdir()
            (out / "answer").touch()
            lines = [
                {"step": 1, "tokens": 50},
                {"step": 2, "tokens": 100, "ledger": {"trained_cells": 7, "world_model_tokens": 5}},
            ]
            (out / TRAIN_LOG).write_text("".join(json.dumps(line) + "\n" for line in lines))
        wrote(stages, stage)
    return found, stages


def dreams(directory: Path, statuses: tuple[Status, ...]) -> None:
    specs = plan([task(f"d{n}", template="tpl") for n in range(len(statuses))])
    told = Prediction(world_model="wm", next_observation=None, usage=Usage(requests=1, prompt_tokens=30, completion_tokens=3))
    with RunStore.create(directory, manifest(specs), specs) as store:
        for spec, status in zip(specs, statuses, strict=True):
            one = step(0, usage=usage()).model_copy(update={"metadata": {"prediction": told.model_dump(mode="json")}})
            store.record(episode(spec, status, steps=[one], trajectory={"source": "dream"}), {})


def audit(directory: Path, rows: list[AuditRow], **controls: Any) -> None:
    directory.mkdir()
    (directory / "audit.json").write_text(summarise(rows, **controls).model_dump_json())
    (directory / "rows.jsonl.gz").write_bytes(gzipped("".join(one.model_dump_json() + "\n" for one in rows)))


def wrote(stages: Stages, stage: PlannedStage, state: str = "done", problem: str = "") -> None:
    attempt = {"started_at": "", "began": 0.0, "pid": 1, "born": 0.0, "seconds": 10.0, "exit_code": 0}
    stages.write(
        StageRecord.model_validate(
            {"id": stage.id, "stage": stage.name, "key": stage.key, "command": stage.command, "needs": (), "inputs": {},
             "state": state, "problem": problem, "attempts": [attempt], "environment": {"python": "3", "commit": "abc"}}
        )
    )  # fmt: skip


def stage_of(plan: Plan, name: str, number: int = 0) -> PlannedStage:
    return [stage for stage in plan.stages.values() if stage.name == name][number]


def outcomes(trials: Any) -> list[bool | None]:
    return [trial.success for trial in trials]


def first(found: Ablation) -> Cell:
    return found.cells[0]


def test_a_cell_is_read_from_its_stages(place: tuple[Plan, Stages]) -> None:
    cell = first(assemble(*place))
    assert (cell.state, cell.level, cell.seed, cell.problem) == ("done", "1", 0, "")
    assert outcomes(cell.dreamed) == [True, True, False, None]
    assert outcomes(cell.real) == [True, False, None, None], "a planned episode that is missing is in the denominator"
    assert [trial.cluster for trial in cell.real] == ["tpl0", "tpl1", "tpl0", "tpl1"]
    assert outcomes(cell.replayed) == [True, False, None], "dreamed failures say nothing about dreamed successes"
    assert cell.runs["base"] == f"../stages/{stage_of(place[0], 'base').id}"


def test_an_audit_without_valid_controls_gives_no_ssrf(place: tuple[Plan, Stages]) -> None:
    found = assemble(*place)
    assert first(found).controls_passed is False
    names = [column.name for column in ablation_table(found).columns]
    assert dict(zip(names, ablation_table(found).rows[0], strict=True))["SSRF"] is None


def test_an_audit_with_valid_controls_gives_one(place: tuple[Plan, Stages]) -> None:
    rows = [row(0, True, True), row(1, True, False)]
    for number in (0, 1):
        out = place[1].out(stage_of(place[0], "report", number).id)
        shutil.rmtree(out)
        audit(out, rows, negative=[row(n, True, True) for n in range(200)])
    found = assemble(*place)
    assert first(found).controls_passed is True
    names = [column.name for column in ablation_table(found).columns]
    assert dict(zip(names, ablation_table(found).rows[0], strict=True))["SSRF"] == 0.5


def test_what_an_anchor_claims_counts_only_where_it_is_the_world_model_in_question(place: tuple[Plan, Stages]) -> None:
    """`copy` stands beside others with a known answer, and is a level of a grid itself."""
    copied = [row(n, True, False, anchor="copy") for n in (5, 6)]
    for number, rows in enumerate(([row(0, True, True), *copied], copied)):
        out = place[1].out(stage_of(place[0], "report", number).id)
        shutil.rmtree(out)
        audit(out, rows)
    assert [outcomes(cell.replayed) for cell in assemble(*place).cells] == [[True], [False, False]]


def test_cost_is_charged_once(place: tuple[Plan, Stages]) -> None:
    found = assemble(*place)
    base, real = (cost_of(stage_of(place[0], name).id, place[1]) for name in ("base", "real"))
    assert (base.seconds, base.train_tokens, base.world_model_tokens) == (10, 107, 5)
    assert (real.seconds, real.real_episodes, real.policy_tokens) == (10, 3, 0)
    assert found.shared_cost == base + real
    own = first(found).cost
    assert (own.seconds, own.real_episodes, own.world_model_tokens, own.policy_tokens) == (20, 0, 4 * 33, 4 * 110)


def test_a_failed_stage_fails_its_cells_with_its_own_words(place: tuple[Plan, Stages]) -> None:
    wrote(place[1], stage_of(place[0], "dream"), "failed", "exit code 1: harness: no luck")
    found = assemble(*place)
    assert [cell.state for cell in found.cells] == ["failed", "done"]
    assert first(found).problem == "stage dream: exit code 1: harness: no luck"
    report = ablation_report(found)
    assert "1 failed" in report.summary
    assert any("1, seed 0 failed" in warning for warning in report.warnings)
    assert set(ablation_table(found).rows[0][2:]) == {None}, "dashes"


def test_where_every_dream_broke_real_success_is_told_and_there_is_nothing_to_audit(place: tuple[Plan, Stages]) -> None:
    """As under a frozen world model: the audit's stage has nothing to read, and ends with a word about that."""
    plan, stages = place
    out = stages.out(stage_of(plan, "dream").id)
    shutil.rmtree(out)
    dreams(out, ("error", "error"))
    wrote(stages, stage_of(plan, "report"), "failed", "exit code 2: harness: dreams holds no dream with a verdict to audit")
    found = assemble(plan, stages)
    cell = first(found)
    assert (cell.state, cell.problem) == ("done", "none of 2 dreams has a verdict: nothing to audit")
    assert outcomes(cell.dreamed) == [None, None]
    assert outcomes(cell.real) == [True, False, None, None]
    assert (cell.replayed, cell.controls_passed) == ((), None)
    assert any("1, seed 0: none of 2 dreams has a verdict" in warning for warning in ablation_report(found).warnings)


def test_a_failed_audit_of_dreams_with_verdicts_is_a_failed_cell(place: tuple[Plan, Stages]) -> None:
    wrote(place[1], stage_of(place[0], "report"), "failed", "exit code 1: harness: no luck")
    assert first(assemble(*place)).state == "failed"


def test_no_real_score_at_all_is_a_failed_cell_and_no_zero(place: tuple[Plan, Stages]) -> None:
    out = place[1].out(stage_of(place[0], "real").id)
    shutil.rmtree(out)
    make_run(out, plan([task("r0"), task("r1")]), ("error", "error"))
    cell = first(assemble(*place))
    assert cell.state == "failed"
    assert "none of 2 episodes has a score" in cell.problem


def test_what_is_damaged_is_a_failed_cell(place: tuple[Plan, Stages]) -> None:
    (place[1].out(stage_of(place[0], "report").id) / "audit.json").write_text("{")
    cell = first(assemble(*place))
    assert cell.state == "failed"
    assert "the audit cannot be read" in cell.problem
    assert "\n" not in cell.problem


def test_why_a_cell_failed_names_no_place_of_this_machine(place: tuple[Plan, Stages]) -> None:
    stages, stage = place[1], stage_of(place[0], "dream")
    record = stages.record(stage.id)
    assert record is not None
    stages.write(record.model_copy(update={"state": "failed", "problem": f"harness: {stages.out(stage.id)} holds no dream"}))
    assert first(assemble(*place)).problem == f"stage dream: harness: {stage.id} holds no dream"


def test_a_cell_that_was_not_begun_is_not_there(place: tuple[Plan, Stages]) -> None:
    for path in place[1].directory.glob("*.json"):
        path.unlink()
    assert assemble(*place).cells == ()


def test_a_cell_whose_stages_are_not_all_done_is_running(place: tuple[Plan, Stages]) -> None:
    stage = stage_of(place[0], "report")
    (place[1].directory / f"{stage.id}.json").unlink()
    assert [cell.state for cell in assemble(*place).cells] == ["running", "done"]


def test_all_files_are_written_and_read_back(place: tuple[Plan, Stages], tmp_path: Path) -> None:
    found = write_results(tmp_path / "g", *place)
    assert read_ablation(tmp_path / "g" / ABLATION) == found
    assert found.config["commits"] == ["abc"]
    for name in ("ablation.md", "ablation.csv", "ablation.tex"):
        text = (tmp_path / "g" / name).read_text()
        assert "REAL success" in text
        assert str(tmp_path) not in text, "no place of this machine"


def test_where_numbers_come_from_stands_beside_them(place: tuple[Plan, Stages], tmp_path: Path) -> None:
    write_results(tmp_path / "g", *place)
    text = (tmp_path / "g" / "stages.json").read_text()
    assert str(tmp_path) not in text, "no place of this machine"
    told = json.loads(text)
    plan, _ = place
    assert [one["id"] for one in told["stages"]] == list(plan.stages)
    assert {(one["commit"], one["state"], one["seconds"], one["exit_code"]) for one in told["stages"]} == {
        ("abc", "done", 10.0, 0)
    }
    assert [one["cells"] for one in told["stages"]] == [plan.users()[stage] for stage in plan.stages]
    assert [environment["python"] for environment in told["environments"]] == ["3"], "one machine, told once"
    assert told["grid"]["levels"] == {level: dict(words) for level, words in plan.grid.levels.items()}


def test_episodes_that_a_training_plays_for_real_are_its_cost(place: tuple[Plan, Stages]) -> None:
    """Online rollouts and evaluations: their tokens are in the training's ledger, their episodes are not."""
    base = stage_of(place[0], "base")
    before = cost_of(base.id, place[1])
    for name, statuses in (("rollouts/update-000001-1", ("success", "failure")), ("evaluations/dev-000000", ("success",))):
        make_run(place[1].out(base.id) / name, plan([task(f"r{n}") for n in range(len(statuses))]), statuses)
    after = cost_of(base.id, place[1])
    assert (after.real_episodes, after.policy_tokens) == (before.real_episodes + 3, before.policy_tokens)


def test_parts_on_disk_become_one_grid(place: tuple[Plan, Stages], tmp_path: Path) -> None:
    first = write_results(tmp_path / "here", *place)
    other = json.loads((tmp_path / "here" / ABLATION).read_text())
    other |= {"seeds": [1], "cells": [{**one, "seed": 1} for one in other["cells"]]}
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / ABLATION).write_text(json.dumps(other))
    shutil.copy(tmp_path / "here" / "stages.json", tmp_path / "there")
    found = merge_results([tmp_path / "here", tmp_path / "there"], tmp_path / "all")
    assert read_ablation(tmp_path / "all" / "g" / ABLATION) == found
    assert [(one.seed, one.real) for one in found.cells] == [(seed, one.real) for seed in (0, 1) for one in first.cells]
    assert len(json.loads((tmp_path / "all" / "g" / "stages.json").read_text())["parts"]) == 2
    assert "REAL success" in (tmp_path / "all" / "g" / "ablation.md").read_text()


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("stages.json", None, "cannot read .*stages.json"),
        ("stages.json", "[]", "says nothing of stages"),
        ("ablation.json", "{", "is no ablation"),
        ("ablation.json", '{"name": "../x", "factor": "f", "levels": [], "seeds": []}', "is no ablation: name"),
    ],
)
def test_a_part_that_cannot_be_read_is_named(
    place: tuple[Plan, Stages], tmp_path: Path, name: str, text: str | None, why: str
) -> None:
    write_results(tmp_path / "here", *place)
    (tmp_path / "here" / name).unlink()
    if text is not None:
        (tmp_path / "here" / name).write_text(text)
    with pytest.raises(UsageError, match=why):
        merge_results([tmp_path / "here"], tmp_path / "all")
    assert not (tmp_path / "all").exists()
