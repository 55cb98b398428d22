"""What a training of the agent can be told: one frozen record per section of a TOML file (configs/agent/*.toml).

name = "nano"
[objective]  name, and what differs from its preset       training.objectives
[mixture]    real expert trajectories                     training.agent.mixture
[dream]      length, truncation, starts, judge             here, and training.dream.config
[rollouts]   a server that samples the policy             here, and training.agent.served
[evaluation] which real tasks choose and report           here
[trainer]    groups, optimiser, precision, checkpoints    here
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from harness.completions import EndpointConfig
from harness.errors import UsageError
from harness.settings import overlaid, read_toml, validated
from harness.types import JsonDict, Record
from training.agent.mixture import MixtureConfig
from training.dream.config import DreamRules
from training.models.presets import LoraConfig
from training.objectives import ObjectiveConfig, get_objective


class TrainerConfig(Record):
    """`[trainer]`."""

    epochs: int = Field(default=10, ge=1)
    """Passes over the tasks."""
    updates: int | None = Field(default=None, ge=1)
    """Stop after so many updates, whatever `epochs` says. Left out: no limit."""
    world_model_tokens: int = Field(default=0, ge=0)
    """Stop after the update in which the world model has read and written so many tokens, all samples included: equal compute of
    trainings whose steps cost differently. 0: no limit."""
    groups_per_update: int = Field(default=4, ge=1)
    """Tasks per update (the paper's batch of 4, read as tasks)."""
    group_size: int = Field(default=8, ge=1)
    """Trajectories per task, experts included (the paper's n)."""
    max_resamples: int = Field(default=4, ge=0)
    """Rounds in which groups without signal are replaced, with the group filter `resample`."""
    learning_rate: float = Field(default=1e-6, gt=0)
    """Of AdamW."""
    warmup_updates: int = Field(default=0, ge=0)
    """Steps over which the learning rate rises from 0; constant afterwards."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Of AdamW."""
    betas: tuple[float, float] = (0.9, 0.999)
    """Of AdamW."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """The gradient is scaled down to this norm."""
    inner_epochs: int = Field(default=1, ge=1)
    """Passes over the rollouts of an update."""
    minibatches: int = Field(default=1, ge=1)
    """Steps per pass, each on a share of the trajectories. 1 with inner_epochs 1 is strictly on-policy."""
    micro_batch_cells: int | None = Field(default=None, ge=1)
    """Padded positions that go through the model at once. Changes memory and speed, never the gradient. Left out: 16,384, or as
    many as keep a larger model's activations in 4 GiB."""
    max_row_tokens: int = Field(default=4_096, ge=2)
    """A trajectory with a longer turn is invalid: it is counted, not cut."""
    temperature: float = Field(default=1.0, gt=0)
    """Of the sampler. Ratios are taken at it."""
    lora: LoraConfig | None = None
    """Train low-rank additions alone; checkpoints hold their sum with the weights."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Of matrix products; weights stay float32. auto: bf16 where the hardware multiplies it."""
    rollout_precision: Literal["auto", "fp32", "bf16"] = "fp32"
    """Of the policy's answers in dreams. bf16 makes larger models several times as fast where the processor multiplies it; its
    rounding depends on what is batched together, so a dream told again may differ. What is learned is right either way: ratios
    are taken against the trainer's own log-probabilities."""
    on_policy_tolerance: float | None = Field(default=0.1, gt=0)
    """Refuse to train if sampler and trainer differ by more, in mean nats per token, at the first inner step: another
    temperature, stale weights, other token ids. None: only log it."""
    noise_every: int = Field(default=10, ge=0)
    """Log `self_ratio_noise` every so many updates; 0: never."""
    checkpoint_every: int = Field(default=10, ge=1)
    """Updates between checkpoints."""
    keep_checkpoints: int = Field(default=2, ge=1)
    """The last so many are kept, beside the best one."""
    seed: int = Field(default=0, ge=0)
    """Order of tasks, draws of the mixture, and all rollouts."""


class DreamSection(DreamRules):
    """`[dream]`: how dreams are begun, bounded and judged."""

    judge: str = ""
    """Who assesses: a world model by its spec. Empty: the world model that dreams, as in the paper."""
    retold: int = Field(default=0, ge=0)
    """Times that each expert is told again with other names, for dreams and mixture: more goals than anybody was given. What is
    dreamt from these cannot be replayed (training.agent.retelling)."""
    threshold: float = Field(default=0.5, gt=0, le=1)
    """A dream whose assessed probability of success reaches it has reward 1."""
    keep: bool = True
    """Store every update's dreams as a run, for audits."""
    batch: int = Field(default=64, ge=1, le=1024)
    """Dreams side by side."""


class RolloutSection(Record):
    """`[rollouts]`: where the policy is sampled. Left out: in this process."""

    server: EndpointConfig | None = None
    """A vLLM server of the policy begun with."""
    concurrency: int = Field(default=64, ge=1, le=4096)
    """Answers under way at once."""


class EvaluationSection(Record):
    """`[evaluation]`: real browsers. The checkpoint is chosen on dev, and the chosen one reported on test."""

    benchmark: str = ""
    """As for `harness run --bench`. Empty: nothing is evaluated."""
    tasks: tuple[str, ...] = ()
    """Globs over task ids; empty: all. Of a benchmark with splits only its dev (or test) tasks are played."""
    dev_seeds: int = Field(default=1, ge=1)
    """Episodes per task and evaluation."""
    test_seeds: int = Field(default=3, ge=1)
    """Episodes per task, for the policy at the start and the chosen one."""
    dev_base_seed: int = Field(default=100_000, ge=0)
    """First seed of dev episodes. Experts must come from others where goals are drawn from the seed: checked."""
    test_base_seed: int = Field(default=200_000, ge=0)
    """First seed of test episodes."""
    max_steps: int | None = Field(default=None, ge=1)
    """Policy outputs per episode; left out: the benchmark's."""
    workers: str = "auto"
    """Browsers side by side."""


class AgentConfig(Record):
    """A whole file."""

    name: str = Field(pattern=r"^[\w.-]{1,64}$")
    objective: JsonDict = Field(default={"name": "dynaweb"})
    """`name` of a preset, and fields that differ from it."""
    mixture: MixtureConfig = MixtureConfig()
    dream: DreamSection = DreamSection()
    rollouts: RolloutSection = RolloutSection()
    evaluation: EvaluationSection = EvaluationSection()
    trainer: TrainerConfig = TrainerConfig()
    undisclosed: tuple[str, ...] = ()
    """Fields whose values a paper does not give, where the file stands for a paper."""

    @field_validator("objective")
    @classmethod
    def _known(cls, value: JsonDict) -> JsonDict:
        try:
            build_objective(value)
        except UsageError as error:
            raise ValueError(f"{error} ({error.fix})") from None
        return value

    def method(self) -> ObjectiveConfig:
        """The objective with the file's changes."""
        return build_objective(self.objective)


def build_objective(section: JsonDict) -> ObjectiveConfig:
    """`[objective]` → its config. Raises UsageError."""
    changes: dict[str, Any] = {key: value for key, value in section.items() if key != "name"}
    return get_objective(str(section.get("name", "")), **changes)


def load_agent_config(path: Path, changes: Mapping[str, Mapping[str, Any]] | None = None) -> AgentConfig:
    """Read a file, with `changes` (section → field → value; None is no change) on top. Raises UsageError with one line."""
    fix = "see configs/agent/"
    return validated(AgentConfig, overlaid(read_toml(path, fix=fix), changes), source=str(path), fix=fix)
