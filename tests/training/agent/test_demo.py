"""The chain of `make dream-demo`: its stages in order, each once, and a report whose rates have denominators."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.support.command_lines import parse
from tests.support.repository import ROOT

CONFIGS = tuple(ROOT / "configs" / name for name in ("agent/sft-demo.toml", "world_model/demo.toml", "agent/demo.toml"))


@pytest.fixture
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dream_demo", ROOT / "scripts" / "dream_demo.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have been run; each leaves behind what the next stage looks for."""
    seen: list[list[str]] = []

    def run(words: list[str], **_: Any) -> SimpleNamespace:
        command = words[4:]
        seen.append(command)
        out = next((Path(command[k + 1]) for k, word in enumerate(command) if word in ("--out", "--run-dir")), None)
        assert out is not None
        (out / "episodes").mkdir(parents=True, exist_ok=True)
        for number in range(16 * (command[0] == "run")):
            (out / "episodes" / str(number)).mkdir(exist_ok=True)
        (out / "dreams" / "update-000030").mkdir(parents=True, exist_ok=True)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", run)
    return seen


def test_stages_run_once_in_order_and_every_line_parses(demo: ModuleType, commands: list[list[str]], tmp_path: Path) -> None:
    one = demo.Demo(tmp_path, CONFIGS, "auto", quick=False)
    for _ in range(2):
        one.run()
    names = list(json.loads((tmp_path / "stages.json").read_text()))
    assert names == [
        "taught", "experts", "chance", "dev-experts", "dev-chance", "sft", "sampled", "data", "wm", "dynaweb", "audit",
    ]  # fmt: skip
    assert len(commands) == len(names)
    for command in commands:
        parse(" ".join(["harness", *command]))


def test_a_stage_whose_directory_is_gone_runs_again(demo: ModuleType, commands: list[list[str]], tmp_path: Path) -> None:
    demo.Demo(tmp_path, CONFIGS, "auto", quick=False).run()
    ran = len(commands)
    shutil.rmtree(tmp_path / "wm")
    demo.Demo(tmp_path, CONFIGS, "auto", quick=False).run()
    assert [command[:2] for command in commands[ran:]] == [["train", "world-model"]]


def test_a_stage_that_fails_stops_the_chain_and_is_tried_again(
    demo: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=3))
    with pytest.raises(SystemExit, match="stopped in taught"):
        demo.Demo(tmp_path, CONFIGS, "auto", quick=False).run()
    assert not (tmp_path / "stages.json").exists()


def test_the_report_states_n_interval_and_cost(demo: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "dynaweb").mkdir()
    rate = {"success": 0.5, "low": 0.4, "high": 0.6, "n": 100.0, "planned": 102.0}
    paired = {"pairs": 99.0, "difference": 0.1, "p": 0.03, "difference_low": 0.02, "difference_high": 0.18}
    found = {"step": 30, "chosen": "update-000020", "test": {"begin": rate, "end": {**rate, "success": 0.6}, "paired": paired}}
    (tmp_path / "dynaweb" / "test.json").write_text(json.dumps(found))
    (tmp_path / "stages.json").write_text('{"experts": 90.0}')
    text = demo.report(tmp_path)
    for cell in ("| 50.0% [40.0%, 60.0%] of 100 | 60.0%", "update-000020", "+10.0% [+2.0%, +18.0%] | 99 | 0.03 |"):
        assert cell in text
    assert "wall time: 1.5 minutes" in text
