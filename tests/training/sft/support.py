"""A data set of scripted walks through a shop, and a configuration that trains on it in seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.training.transitions.data import build_into, make_run, shopping, task
from training.world_model.sft import SftConfig

WORDS = ["mug", "lamp", "chair", "table", "plate", "spoon", "glass", "clock", "shelf", "frame", "towel", "candle"]


def make_data(directory: Path) -> Path:
    """Train: 12 walks that succeed and 4 that fail; dev and test: 3 walks each."""
    good = [(task(f"buy-{word}-1", f"buy-{word}", goal=f"Pay for the {word}"), shopping(word)) for word in WORDS]
    held = [
        (task(f"{split}-{word}-1", f"{split}-{word}", split=split, goal=f"Pay for the {word}"), shopping(word))
        for split, words in (("dev", ("rug", "pan", "mat")), ("test", ("cup", "bed", "fan")))
        for word in words
    ]
    bad = [
        (task(f"lost-{word}-1", f"lost-{word}", goal=f"Pay for the {word}"), [*shopping(f"{word}s")[:2], shopping(f"{word}s")[1]])
        for word in WORDS[:4]
    ]
    runs = [
        make_run(directory / "good", [*good, *held]),
        make_run(directory / "bad", bad, policy="noisy", status="failure"),
    ]
    build_into(directory / "data", *runs)
    return directory / "data"


def config(**sections: dict[str, Any]) -> SftConfig:
    """A model of 20,000 weights; `sections` on top."""
    base: dict[str, dict[str, Any]] = {
        "model": {"vocab_size": 400, "hidden_size": 32, "layers": 2, "heads": 4, "kv_heads": 2, "intermediate_size": 64},
        "format": {"max_prompt_tokens": 160, "max_new_tokens": 96},
        "rows": {"lengths": [96, 160, 224, 288], "assess_share": 0.3},
        "train": {"max_steps": 12, "epochs": 20, "tokens_per_batch": 1200, "learning_rate": 5e-3, "precision": "fp32"},
        "checks": {"log_every": 1, "every": 4, "dev_rows": 4},
    }
    for name, fields in sections.items():
        base[name] = {**base.get(name, {}), **fields}
    return SftConfig.model_validate({"preset": "tiny", **base})
