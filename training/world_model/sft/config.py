"""What a training of the world model can be told: one frozen record per section of configs/world_model/*.toml."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError, model_validator

from harness.errors import UsageError
from harness.settings import overlaid, read_toml
from harness.types import JsonDict, Record
from training.models import ModelConfig

Config = TypeVar("Config", bound=Record)


class FormatSection(Record):
    """`[format]`: how questions and answers are spelt."""

    name: str = "edits"
    """`edits` or `paper`."""
    max_prompt_tokens: int = Field(default=400, ge=32)
    """The format cuts the page to this many tokens, by its own rule."""
    max_new_tokens: int = Field(default=160, ge=1)
    """Most tokens of an answer, in training and in use; longer targets are refused and counted."""
    options: JsonDict = Field(default_factory=dict)
    """Further fields of that format, such as `rationale` or `goal`."""


class RowsSection(Record):
    """`[rows]`: what is learned from."""

    lengths: tuple[int, ...] = (160, 224, 288, 352, 416, 480, 544, 608)
    """Lengths that rows are padded to, in tokens: few, because a processor prepares its kernels anew for each shape."""
    assess: bool = True
    """Also learn to say whether the goal is reached, from the train split's successes and failures."""
    assess_share: float = Field(default=0.2, ge=0.0, le=0.9)
    """Most that self-assessment rows may be of all rows; the others are left out at random."""
    assess_weight: float = Field(default=1.0, gt=0.0)
    """So many times a self-assessment's tokens count in the loss: one verdict is else lost beside a transition's fifty tokens,
    and the model judges blindly."""
    variants: int = Field(default=0, ge=0)
    """Of each train row so many more, with other names and numbers, so that a small model learns to copy (sft.varying). All rows
    are then in memory."""
    limit: int | None = Field(default=None, ge=1)
    """Use so many transitions, evenly drawn; left out: all."""
    tokenizer_rows: int = Field(default=3000, ge=1)
    """Transitions that nano's tokenizer is trained on, evenly drawn."""

    @model_validator(mode="after")
    def _ascending(self) -> RowsSection:
        if not self.lengths or list(self.lengths) != sorted(set(self.lengths)) or self.lengths[0] < 8:
            raise ValueError("rows.lengths must ascend, from 8 or more")
        return self


class TrainSection(Record):
    """`[train]`: how long, and with what steps."""

    epochs: float = Field(default=1.0, gt=0.0)
    """Passes over the rows; the paper does one."""
    max_steps: int | None = Field(default=None, ge=1)
    """End after so many steps, where that is earlier."""
    max_tokens: int | None = Field(default=None, ge=1)
    """End after so many tokens, prompts included and padding not, where that is earlier: equal compute for a comparison."""
    max_minutes: float | None = Field(default=None, gt=0.0)
    """End after so much training time, where that is earlier. Which step that is depends on the machine; the log says so."""
    tokens_per_batch: int = Field(default=8192, ge=8)
    """Tokens of one batch on one device, padding included; at least one row."""
    batches_per_step: int = Field(default=1, ge=1)
    """Batches whose gradients are added before a step."""
    learning_rate: float = Field(default=2e-3, gt=0.0)
    """Of AdamW, at its highest."""
    warmup: float = Field(default=0.02, ge=0.0, lt=1.0)
    """Share of the steps in which the learning rate rises from 0."""
    final_rate: float = Field(default=0.05, ge=0.0, le=1.0)
    """The learning rate falls along a cosine to this share of the highest."""
    weight_decay: float = Field(default=0.1, ge=0.0)
    """Of AdamW, on weight matrices."""
    beta2: float = Field(default=0.95, gt=0.0, lt=1.0)
    """Of AdamW: memory of squared gradients."""
    clip: float = Field(default=1.0, gt=0.0)
    """Longest gradient; longer ones are scaled down."""
    whole_rows: float = Field(default=0.0, ge=0.0, le=1.0)
    """Share of the steps, from the first, in which prompts count in the loss as well: random weights first learn what pages look
    like and to copy. 0 for a model that was trained on text before."""
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    """Of matrix products; weights stay float32. auto: bf16 where the processor multiplies it in hardware."""
    gradient_checkpointing: bool = False
    """Compute activations twice instead of keeping them: for large models."""


class ChecksSection(Record):
    """`[checks]`: what is looked at on the way."""

    log_every: int = Field(default=10, ge=1)
    """Steps between lines of train_log.jsonl."""
    every: int = Field(default=200, ge=1)
    """Steps between looks at the dev split and checkpoints; a multiple of `log_every`."""
    dev_rows: int = Field(default=200, ge=1)
    """Dev transitions that are answered in full at each look, evenly drawn."""
    patience: int | None = Field(default=None, ge=1)
    """End when so many looks in a row brought no better dev value; left out: never."""
    keep: int = Field(default=2, ge=2)
    """Checkpoints kept for resuming, the best one included."""

    @model_validator(mode="after")
    def _aligned(self) -> ChecksSection:
        if self.every % self.log_every:
            raise ValueError("checks.every must be a multiple of checks.log_every: a resumed log would differ")
        return self


class SftConfig(Record):
    """A whole training. Equal configuration, data and machine give equal losses."""

    preset: str = "nano"
    """Name of this configuration, for checkpoints and tables."""
    seed: int = Field(default=0, ge=0)
    """Of initial weights and of the order of rows."""
    model: ModelConfig = ModelConfig()
    format: FormatSection = FormatSection()
    rows: RowsSection = RowsSection()
    train: TrainSection = TrainSection()
    checks: ChecksSection = ChecksSection()

    @property
    def digest(self) -> str:
        """Of everything that decides the result; a resumed training must have the same."""
        return hashlib.sha256(self.model_dump_json(exclude={"train": {"max_minutes"}}).encode()).hexdigest()

    @property
    def rows_digest(self) -> str:
        """Of what decides the token arrays."""
        kept = self.model_dump_json(include={"seed": True, "model": True, "format": True, "rows": True})
        return hashlib.sha256(kept.encode()).hexdigest()


def read_config(path: Path, changes: dict[str, dict[str, Any]] | None = None, *, seed: int | None = None) -> SftConfig:
    """The file with `changes` (section → field → value; None is no change) on top. Raises UsageError, one line per mistake."""
    fix = "see the files in configs/world_model and docs/world-model.md"
    return read_training(SftConfig, path, changes, seed=seed, fix=fix)


def read_training(
    model: type[Config], path: Path, changes: dict[str, dict[str, Any]] | None, *, seed: int | None, fix: str
) -> Config:
    """`read_config` for any record of a training's settings."""
    data = overlaid(read_toml(path, what="the configuration", fix=fix), changes)
    if seed is not None:
        data["seed"] = seed
    try:
        return model.model_validate(data)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors(include_input=False)]
        raise UsageError(f"{path}: {'; '.join(found[:5])}", fix=fix) from None
