"""What a warm start of the agent can be told: one frozen record per section of configs/agent/sft-*.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from harness.types import Record
from training.agent.prompting import Syntax
from training.models import ModelConfig
from training.world_model.sft.config import ChecksSection, TrainSection, read_training


class PromptSection(Record):
    """`[prompt]`: what the policy sees and how it answers; goes into the checkpoint, for acting."""

    syntax: Syntax = "descriptor"
    """`descriptor`: `click button "Save"`, for small models; `bid`: `click("12")`, for large ones."""
    max_prompt_tokens: int = Field(default=480, ge=64)
    """The page is cut to this by the rule of training.agent.view."""
    max_new_tokens: int = Field(default=64, ge=1)
    """Most tokens of a reply; longer expert actions are refused and counted."""


class LessonsSection(Record):
    """`[rows]`: what is learned from."""

    lengths: tuple[int, ...] = (128, 192, 256, 320, 384, 448, 512, 560)
    """Lengths that rows are padded to, in tokens."""
    variants: int = Field(default=0, ge=0)
    """Of each train step so many more, with other names, so that a small model learns to copy (training.agent.copying)."""
    limit: int | None = Field(default=None, ge=1)
    """Use the first so many steps; left out: all."""
    tokenizer_rows: int = Field(default=3000, ge=1)
    """Steps that nano's tokenizer is trained on."""


class AgentSftConfig(Record):
    """A whole warm start."""

    preset: str = "nano"
    """Name of this configuration, for checkpoints and tables."""
    seed: int = Field(default=0, ge=0)
    """Of initial weights and of the order of rows."""
    model: ModelConfig = ModelConfig()
    prompt: PromptSection = PromptSection()
    rows: LessonsSection = LessonsSection()
    train: TrainSection = TrainSection(epochs=6.0)
    checks: ChecksSection = ChecksSection()

    def resumes(self, stored: str) -> bool:
        """Is this the training that `stored` (its JSON) began? It may be given more or less time."""
        try:
            before = AgentSftConfig.model_validate_json(stored)
        except ValueError:
            return False
        time = {"train": {"max_minutes"}}
        return before.model_dump(exclude=time) == self.model_dump(exclude=time)


def read_sft_config(path: Path, changes: dict[str, dict[str, Any]] | None = None, *, seed: int | None = None) -> AgentSftConfig:
    """The file with `changes` (section → field → value; None is no change) on top. Raises UsageError, one line."""
    return read_training(AgentSftConfig, path, changes, seed=seed, fix="see the files in configs/agent")
