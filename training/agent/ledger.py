"""What the training has cost so far: tokens by who made them, seconds by phase, estimated operations, per valid RL sample.

The seeds ask for the whole cost of a sample, the world model's included: an 8B agent behind a 120B simulator is not an 8B cost.
Operations are estimates: 2 per parameter and token read or written, 6 per parameter and position computed in training (Kaplan et
al. 2020, table 1: forward 2N, backward 4N; attention over long contexts comes on top).
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from harness.types import JsonDict, Record, Trajectory, Usage
from training.agent.rows import Sample


class Ledger(Record):
    """Running totals. Saved with a checkpoint."""

    samples: int = 0
    """Rollouts of the policy; experts are read, not made."""
    valid_samples: int = 0
    environment_steps: int = 0
    """Steps of the rollouts: of a world model, or of a real browser in the online baseline."""
    policy_prompt_tokens: int = 0
    policy_tokens: int = 0
    world_model_prompt_tokens: int = 0
    world_model_tokens: int = 0
    judge_tokens: int = 0
    """Read and written."""
    trained_cells: int = 0
    """Positions of all rows trained on, padding and experts included."""
    computed_cells: int = 0
    """Those that went through forward and backward passes: equal rows do so once."""
    rollout_seconds: float = 0.0
    update_seconds: float = 0.0

    @property
    def foreseen(self) -> int:
        """Tokens that the world model read and wrote, its judgements left out."""
        return self.world_model_prompt_tokens + self.world_model_tokens

    def __add__(self, other: Ledger) -> Ledger:
        mine, theirs = self.model_dump(), other.model_dump()
        return Ledger(**{name: mine[name] + theirs[name] for name in mine})

    def operations(self, policy_parameters: int, world_model_parameters: int | None) -> float | None:
        """Estimated operations; None if a world model wrote tokens and its size is not known: unknown is not free."""
        if world_model_parameters is None and self.world_model_tokens:
            return None
        acted = self.policy_prompt_tokens + self.policy_tokens
        dreamt = self.world_model_prompt_tokens + self.world_model_tokens + self.judge_tokens
        policy = policy_parameters * (2 * acted + 6 * self.computed_cells)
        return float(policy + 2 * (world_model_parameters or 0) * dreamt)

    def summary(self, policy_parameters: int, world_model_parameters: int | None) -> JsonDict:
        """For the log, with cost per valid sample."""
        found: JsonDict = self.model_dump(mode="json")
        operations = self.operations(policy_parameters, world_model_parameters)
        found["operations"] = operations
        if self.valid_samples:
            found["per_valid_sample"] = {
                "seconds": (self.rollout_seconds + self.update_seconds) / self.valid_samples,
                "policy_tokens": self.policy_tokens / self.valid_samples,
                "world_model_tokens": self.world_model_tokens / self.valid_samples,
                "operations": None if operations is None else operations / self.valid_samples,
            }
        return found


def rollout_cost(samples: Sequence[Sample], valid: int, seconds: float) -> Ledger:
    """The part of a batch of rollouts (no experts among them)."""
    cost = Ledger(samples=len(samples), valid_samples=valid, rollout_seconds=seconds)
    for sample in samples:
        policy, dreamt = sample.trajectory.usage, world_model_usage(sample.trajectory)
        prompt, written = _policy_tokens(sample.trajectory, policy)
        judged = sample.verdict.usage
        cost = cost + Ledger(
            environment_steps=len(sample.trajectory.steps),
            policy_prompt_tokens=prompt,
            policy_tokens=written,
            world_model_prompt_tokens=dreamt.prompt_tokens,
            world_model_tokens=dreamt.completion_tokens,
            judge_tokens=judged.prompt_tokens + judged.completion_tokens,
        )
    return cost


def world_model_usage(trajectory: Trajectory) -> Usage:
    """What the predictions of a dream cost, as its steps say. A step without a readable prediction counts nothing."""
    total = Usage()
    for step in trajectory.steps:
        prediction = step.metadata.get("prediction")
        if isinstance(prediction, dict) and isinstance(usage := prediction.get("usage"), dict):
            try:
                total = total + Usage.model_validate(usage)
            except ValidationError:
                continue
    return total


def _policy_tokens(trajectory: Trajectory, usage: Usage) -> tuple[int, int]:
    """(read, written): from the token ids where they are kept, else from what the policy reported."""
    outputs = [step.output for step in trajectory.steps]
    if all(output.prompt_token_ids is not None and output.token_ids is not None for output in outputs):
        return sum(len(o.prompt_token_ids or ()) for o in outputs), sum(len(o.token_ids or ()) for o in outputs)
    return usage.prompt_tokens, usage.completion_tokens
