"""The files in configs/agent are what their comments say, and mistakes in one are one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from tests.support.repository import ROOT
from training.agent.config import AgentConfig, load_agent_config
from training.agent.sft_config import read_sft_config

FOLDER = ROOT / "configs" / "agent"


@pytest.mark.parametrize("name", ["nano", "micro", "paper"])
def test_presets_load(name: str) -> None:
    config = load_agent_config(FOLDER / f"{name}.toml")
    assert (config.name, config.method().name, config.method().kl.kind) == (name, "dynaweb", "none")


@pytest.mark.parametrize("name", ["nano", "micro"])
def test_warm_starts_load(name: str) -> None:
    """A prompt and a reply fit into the longest row."""
    config = read_sft_config(FOLDER / f"sft-{name}.toml")
    assert config.prompt.max_prompt_tokens + config.prompt.max_new_tokens <= config.rows.lengths[-1]
    assert config.rows.lengths[-1] <= load_agent_config(FOLDER / f"{name}.toml").trainer.max_row_tokens


def test_the_paper_is_the_papers() -> None:
    """§4.1 and appendix A.3; what is not there is named."""
    config = load_agent_config(FOLDER / "paper.toml")
    trainer = config.trainer
    assert (trainer.learning_rate, trainer.group_size, trainer.groups_per_update, trainer.epochs) == (1e-6, 8, 4, 10)
    assert (config.mixture.real_ratio, trainer.precision) == (0.5, "bf16")
    assert "objective.clip" in config.undisclosed
    sections = {
        "objective": set(type(config.method()).model_fields),
        "mixture": {"max_copies"},
        "trainer": set(type(trainer).model_fields),
    }
    for field in config.undisclosed:
        section, _, name = field.partition(".")
        assert name in sections[section], field


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('name = "x"\n[trainer]\nlearning_rat = 1', "trainer.learning_rat"),
        ('name = "x"\n[objective]\nname = "gpso"', "no objective 'gpso'"),
        ('name = "x"\n[objective]\nname = "dynaweb"\naggregation = "step_mean"', "no objective of its own"),
        ('name = "x"\n[mixture]\nreal_ratio = 2', "mixture.real_ratio"),
        ("name = ", "not TOML"),
    ],
)
def test_a_mistake_is_one_line(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=says):
        load_agent_config(path)
    assert AgentConfig(name="x").method().name == "dynaweb"
