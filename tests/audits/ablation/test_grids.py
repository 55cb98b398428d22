"""The project's own grids say what the program understands: every command line, every configuration, every level."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from audits.ablation import Plan, PlannedStage, make_plan, read_grid
from harness.config import build_config
from results.published import load_published
from tests.support.command_lines import parse
from tests.support.repository import ROOT
from training.agent.config import AgentConfig

FILES = sorted((ROOT / "configs" / "ablations").glob("*.toml"))


def planned(path: Path) -> Plan:
    grid = read_grid(path)
    return make_plan(grid, dict.fromkeys(grid.inputs, "0" * 64), Path("stages"))


def config_of(stage: PlannedStage) -> str:
    return dict(zip(stage.command, stage.command[1:], strict=False))["--config"]


def test_there_are_six() -> None:
    assert [path.stem for path in FILES] == ["dream_length", "methods", "micro", "real_ratio", "truncation", "world_model"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_stage_is_a_command_that_parses(path: Path) -> None:
    for stage in planned(path).stages.values():
        parse(shlex.join(["harness", *stage.command, *stage.stage.resume]))
        if stage.config:
            assert config_of(stage) == f"stages/{stage.id}.toml"
            data = tomllib.loads(stage.config)
            if stage.name in ("agent", "online"):
                AgentConfig.model_validate(data)
            else:
                build_config(data, source=stage.id)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_levels_become_what_the_trainer_is_told(path: Path) -> None:
    plan = planned(path)
    agents = [stage for stage in plan.stages.values() if stage.name == "agent"]
    trained = [level for level, words in plan.grid.levels.items() if "learner" not in words]
    assert len(agents) == len(trained) * len(plan.grid.seeds)
    words = [dict(zip(stage.command, stage.command[1:], strict=False)) for stage in agents[: len(trained)]]
    told = {(stage.config, said["--policy"], said["--world-model"]) for stage, said in zip(agents, words, strict=False)}
    assert len(told) == len(trained), "no two levels are told the same, seeds apart"


def test_the_supervised_agent_is_a_level_that_is_trained_no_further() -> None:
    plan = planned(ROOT / "configs" / "ablations" / "real_ratio.toml")
    cell = plan.cells[0]
    assert (cell.level, [plan.stages[one].name for one in cell.stages]) == (
        "supervised", ["world_model", "base", "held", "dream", "real", "replay", "report"]
    )  # fmt: skip


def test_the_grids_meet_where_they_say_the_same() -> None:
    """Models are trained once for all, and one level has one cell under all its names."""
    plans = {path.stem: planned(path) for path in FILES}

    def cell(grid: str, level: str) -> set[str]:
        return set(next(cell for cell in plans[grid].cells if cell.level == level).stages)

    same = {
        ("dream_length", "5"): [("world_model", "trained"), ("real_ratio", "0.4"), ("methods", "dynaweb")],
        ("real_ratio", "supervised"): [(grid, "supervised") for grid in ("dream_length", "world_model", "methods")],
        ("real_ratio", "0.0"): [("methods", "dreams alone")],
        ("world_model", "copy"): [("methods", "nothing changes")],
        ("world_model", "frozen"): [("methods", "frozen world model")],
    }
    for one, others in same.items():
        assert [cell(*other) for other in others] == [cell(*one)] * len(others), one
    del plans["micro"]  # another policy
    everywhere = set.intersection(*(set(plan.stages) for plan in plans.values()))
    assert {stage_id.partition("-")[0] for stage_id in everywhere} == {"world_model", "base", "held"}


def test_truncation_trains_both_levels_to_the_same_budget() -> None:
    plan = planned(ROOT / "configs" / "ablations" / "truncation.toml")
    agents = [tomllib.loads(stage.config)["trainer"] for stage in plan.stages.values() if stage.name == "agent"]
    assert agents and {agent["world_model_tokens"] for agent in agents} == {600_000}


def test_what_papers_report_stands_beside_the_grids_that_they_made() -> None:
    known = {number.factor for paper in load_published() for number in (*paper.numbers, *paper.findings)}
    assert {path.stem for path in FILES} - known == {"truncation", "methods", "micro"}, "which are ours"


def test_online_is_what_the_trainer_of_dreams_is_told_but_for_where_it_rolls_out() -> None:
    stages = planned(ROOT / "configs" / "ablations" / "methods.toml").stages.values()
    online = AgentConfig.model_validate(tomllib.loads(next(s.config for s in stages if s.name == "online")))
    plan = planned(ROOT / "configs" / "ablations" / "real_ratio.toml")
    level = next(cell for cell in plan.cells if cell.level == "0.4")
    agent = AgentConfig.model_validate(tomllib.loads(plan.stages[next(s for s in level.stages if s.startswith("agent"))].config))
    assert (online.objective, online.mixture) == (agent.objective, agent.mixture)
    # A browser is what online training waits for: it has no need of dreams' rougher, faster arithmetic.
    differ = {"updates", "warmup_updates", "checkpoint_every", "world_model_tokens", "rollout_precision"}
    assert online.trainer.rollout_precision == "fp32"
    assert online.trainer.model_dump(exclude=differ) == agent.trainer.model_dump(exclude=differ)
    assert online.trainer.updates == online.trainer.checkpoint_every, "its last checkpoint is the one that the grid takes"
    assert f"/checkpoints/update-{online.trainer.updates:06d}" in (ROOT / "configs" / "ablations" / "methods.toml").read_text()
    assert set(online.evaluation.tasks) == set(
        tomllib.loads((ROOT / "configs/agent/demo.toml").read_text())["evaluation"]["tasks"]
    )


def test_the_demo_trains_as_a_cell_of_the_grids_does() -> None:
    plan = planned(ROOT / "configs" / "ablations" / "dream_length.toml")
    level = next(cell for cell in plan.cells if cell.level == "5")
    cell = AgentConfig.model_validate(tomllib.loads(plan.stages[next(s for s in level.stages if s.startswith("agent"))].config))
    demo = AgentConfig.model_validate(tomllib.loads((ROOT / "configs" / "agent" / "demo.toml").read_text()))
    assert (demo.objective, demo.mixture) == (cell.objective, cell.mixture)
    assert demo.dream.model_dump(exclude={"keep"}) == cell.dream.model_dump(exclude={"keep"}), "the demo audits its last dreams"
    differ = {"world_model_tokens", "epochs"}
    assert demo.trainer.model_dump(exclude=differ) == cell.trainer.model_dump(exclude=differ)


def test_what_is_dreamt_for_the_table_is_what_is_played_for_real() -> None:
    plan = planned(ROOT / "configs" / "ablations" / "dream_length.toml")
    cell = next(cell for cell in plan.cells if cell.level == "5")
    stages = {plan.stages[one].name: plan.stages[one] for one in cell.stages}
    assert tomllib.loads(stages["held"].config) == tomllib.loads(stages["real"].config)
    said = {name: dict(zip(stages[name].command, stages[name].command[1:], strict=False)) for name in ("held", "real", "dream")}
    assert said["held"]["--seeds"] == said["real"]["--seeds"]
    tasks = tomllib.loads(stages["real"].config)["run"]["tasks"]
    assert int(said["dream"]["--starts"]) == len(tasks) * int(said["real"]["--seeds"]), "each once"
    assert [said["dream"][word] for word in ("--group-size", "--middle-share", "--temperature", "--split")] == [
        "1",
        "0",
        "0",
        "all",
    ]
    assert "seed" not in stages["held"].stage.words(), "played once for all seeds"
