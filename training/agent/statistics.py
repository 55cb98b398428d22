"""What an update did, as numbers for the log. Sums and peaks over tokens, so that micro-batches and processes add up.

loss, kl               as in the objective; the sum over a step's micro-batches
clip_fraction          clipped tokens / tokens, over all inner steps (0 in the first by construction)
ratio_mean, _min, _max ρ over tokens
entropy                mean of the policy's entropy over trained tokens, in nats
expert_share           expert tokens / tokens
sampler_gap            mean |log π_sampler − log π_trainer| over the policy's own tokens, first inner step: should be rounding
sampler_kl             mean (log π_sampler − log π_trainer), the k1 estimate of KL(sampler ‖ trainer)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from harness.types import JsonDict
from training.agent.log_probs import MicroBatch, TokenScores
from training.agent.rows import Row
from training.objectives import Loss, RowTensors

SUMS = (
    "loss",
    "kl",
    "tokens",
    "clipped",
    "ratio",
    "entropy",
    "expert_tokens",
    "sampler_tokens",
    "sampler_gap",
    "sampler_kl",
    "cells",
    "computed",
)
PEAKS = ("ratio_max", "minus_ratio_min", "sampler_gap_max")


@dataclass(slots=True)
class StepStatistics:
    """One inner step. `sums` and `peaks` are keyed by SUMS and PEAKS."""

    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(SUMS, 0.0))
    peaks: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PEAKS, -math.inf))
    grad_norm: float = 0.0
    skipped: bool = False
    """The gradient was not finite: the weights were left as they were."""

    def add(
        self, rows: Sequence[Row], micro: MicroBatch, scores: TokenScores, tensors: RowTensors, loss: Loss, *, first: bool
    ) -> None:
        """Take one micro-batch into account. `first`: the weights are still those of the sampler."""
        mask_RT = tensors.mask_RT
        if not bool(mask_RT.any()):
            return
        ratios = loss.ratio_RT[mask_RT]
        self._sum(
            loss=loss.total.detach(),
            kl=loss.kl,
            tokens=mask_RT.sum(),
            clipped=loss.clipped_RT.sum(),
            ratio=ratios.sum(),
            entropy=scores.entropy_RT[mask_RT].sum(),
            expert_tokens=(mask_RT & tensors.expert_R[:, None]).sum(),
        )
        self.sums["cells"] += micro.cells
        self.sums["computed"] += micro.computed
        self._peak(ratio_max=ratios.max(), minus_ratio_min=-ratios.min())
        if first:
            self._compare_with_sampler(rows, micro, tensors)

    def _compare_with_sampler(self, rows: Sequence[Row], micro: MicroBatch, tensors: RowTensors) -> None:
        for r, place in enumerate(micro.places):
            row = rows[place]
            if row.expert or row.sampler_log_probs is None:
                continue
            count = len(row.response_ids)
            mask = tensors.mask_RT[r, :count]
            gap = torch.tensor(row.sampler_log_probs, device=mask.device)[mask] - tensors.log_probs_RT[r, :count].detach()[mask]
            self._sum(sampler_tokens=mask.sum(), sampler_gap=gap.abs().sum(), sampler_kl=gap.sum())
            self._peak(sampler_gap_max=gap.abs().max())

    def reduce(self, accelerator: Any) -> None:
        """Add up over processes."""
        if accelerator.num_processes == 1:
            return
        sums = torch.tensor([self.sums[name] for name in SUMS], dtype=torch.float32, device=accelerator.device)
        total = accelerator.reduce(sums, "sum").tolist()
        self.sums = dict(zip(SUMS, total, strict=True))
        peaks = torch.tensor([[self.peaks[name] for name in PEAKS]], dtype=torch.float32, device=accelerator.device)
        self.peaks = dict(zip(PEAKS, accelerator.gather(peaks).max(0).values.tolist(), strict=True))

    def _sum(self, **values: Tensor) -> None:
        for name, value in values.items():
            self.sums[name] += float(value)

    def _peak(self, **values: Tensor) -> None:
        for name, value in values.items():
            self.peaks[name] = max(self.peaks[name], float(value))


@dataclass(slots=True)
class UpdateStatistics:
    """All inner steps of an update."""

    steps: list[StepStatistics] = field(default_factory=list)

    @property
    def cells(self) -> int:
        """Positions of all rows trained on, padding included."""
        return int(sum(step.sums["cells"] for step in self.steps))

    @property
    def computed(self) -> int:
        """Those that went through forward and backward passes: equal rows do so once."""
        return int(sum(step.sums["computed"] for step in self.steps))

    @property
    def sampler_gap(self) -> float | None:
        """None where no sampler gave log-probabilities."""
        tokens = self.steps[0].sums["sampler_tokens"] if self.steps else 0
        return self.steps[0].sums["sampler_gap"] / tokens if tokens else None

    def summary(self) -> JsonDict:
        """For the log. Empty where nothing was trained."""
        if not self.steps:
            return {}
        total = {name: sum(step.sums[name] for step in self.steps) for name in SUMS}
        tokens = max(total["tokens"], 1)
        first = self.steps[0]
        found: JsonDict = {
            "loss": total["loss"] / len(self.steps),
            "kl": total["kl"] / len(self.steps),
            "inner_steps": len(self.steps),
            "skipped_steps": sum(step.skipped for step in self.steps),
            "grad_norm": sum(step.grad_norm for step in self.steps) / len(self.steps),
            "trained_tokens": int(total["tokens"]),
            "clip_fraction": total["clipped"] / tokens,
            "ratio_mean": total["ratio"] / tokens,
            "ratio_min": -max(step.peaks["minus_ratio_min"] for step in self.steps),
            "ratio_max": max(step.peaks["ratio_max"] for step in self.steps),
            "entropy": total["entropy"] / tokens,
            "expert_share": total["expert_tokens"] / tokens,
        }
        if sampled := first.sums["sampler_tokens"]:
            found["sampler_gap"] = first.sums["sampler_gap"] / sampled
            found["sampler_gap_max"] = first.peaks["sampler_gap_max"]
            found["sampler_kl"] = first.sums["sampler_kl"] / sampled
        return found
