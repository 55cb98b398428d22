"""One update of the policy: the gradient of the objective over a batch, in micro-batches, exactly.

    inner step 1         old := detach(new): every ratio is 1, and there is nothing to compute beforehand
    inner steps 2 …      pass 1, no gradient: log-ratios of all rows → log s_i of whole trajectories
                         pass 2: row by row, weights of the whole step           (training.objectives.ratios)
                         where a step is one micro-batch, pass 2 knows all rows by itself: there is no pass 1

Weights are made from the whole step before the first micro-batch, so no split changes the gradient beyond rounding
(tests/training/agent/test_update.py). accelerate's own accumulation would divide by the number of micro-batches: it stays 1.

With several processes each takes every n-th micro-batch of the same batch; gradients are summed, not averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor

from training.agent.grouping import Batch
from training.agent.log_probs import MicroBatch, TokenScores, collate, score, split
from training.agent.statistics import StepStatistics, UpdateStatistics
from training.models.attention import use_short_attention, use_stock_attention
from training.models.heads import network_of
from training.objectives import ObjectiveConfig, RowTensors, objective_loss, row_weights, trajectory_log_ratios
from training.objectives.ratios import trajectory_sums

MAX_CELLS: Final = 16_384
ACTIVATION_BYTES: Final = 4 * 2**30
BYTES_PER_CELL: Final = 68
"""Of activations, per layer and width, in float32: twice the 34 of 16 bits (Korthikanti et al., arXiv 2205.05198, §4.1)."""


def fitting_cells(model: Any) -> int:
    """Positions at once that a model's activations leave room for: 16,384 for nano, some 3,600 for SmolLM2-135M."""
    config = getattr(model, "config", None)
    width = getattr(config, "hidden_size", 1) * getattr(config, "num_hidden_layers", 1)
    return min(MAX_CELLS, max(512, ACTIVATION_BYTES // (BYTES_PER_CELL * width)))


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateSettings:
    """What `policy_update` needs of `[trainer]`."""

    temperature: float = 1.0
    micro_batch_cells: int = MAX_CELLS
    inner_epochs: int = 1
    minibatches: int = 1
    max_grad_norm: float = 1.0


class _Old(NamedTuple):
    """Denominators per row; None where the row's own present value is meant (ρ = 1 at this step)."""

    log_probs: list[Tensor | None]


@dataclass(slots=True)
class Updater:
    """Holds what an update works on. `reference` is the policy of the KL penalty, if there is one."""

    model: Any
    optimizer: Any
    accelerator: Any
    objective: ObjectiveConfig
    settings: UpdateSettings
    reference: Any = None
    scheduler: Any = None
    _statistics: UpdateStatistics = field(default_factory=UpdateStatistics)

    def run(self, batch: Batch) -> UpdateStatistics:
        """All inner steps on one batch. A batch without rows changes nothing and says so."""
        self._statistics = UpdateStatistics()
        if not batch.rows:
            return self._statistics
        self.model.train()
        network = network_of(self.model)
        use_short_attention(network)
        try:
            return self._run(batch)
        finally:
            use_stock_attention(network)

    def _run(self, batch: Batch) -> UpdateStatistics:
        recorded = self.objective.expert.policy == "recorded"
        start: list[Tensor | None] = [None] * len(batch.rows)
        parts = _minibatches(batch, self.settings.minibatches)
        several = self.settings.inner_epochs * len(parts) > 1
        if several:
            start = self._old_log_probs(batch)
        first = True
        for _ in range(self.settings.inner_epochs):
            for places in parts:
                old = [None if first else value for value in start]
                if recorded:
                    old = [_recorded(row) if row.expert else value for row, value in zip(batch.rows, old, strict=True)]
                self._step(batch, places, _Old(old), first)
                first = False
        return self._statistics

    def _step(self, batch: Batch, places: Sequence[int], old: _Old, first: bool) -> None:
        device = self.accelerator.device
        trajectory_R = torch.tensor([batch.trajectory_R[p] for p in places])
        tokens_R = torch.tensor([batch.rows[p].tokens for p in places])
        weights = row_weights(self.objective.aggregation, tokens_R, trajectory_R, constant=self.objective.constant)
        weight_of = dict(zip(places, weights.tolist(), strict=True))
        joint = self.objective.ratio == "trajectory" and any(old.log_probs[p] is not None for p in places)
        alone = len(split(batch.rows, places, self.settings.micro_batch_cells)) == 1
        log_s = self._log_s(batch, old, self._scored(batch, places)) if joint and not alone else None
        step = StepStatistics()
        for micro, sync in self._micro_batches(batch, places):
            with nullcontext() if sync else self.accelerator.no_sync(self.model):
                scores = self._score(self.model, micro)
                if joint and alone:
                    log_s = self._log_s(batch, old, [(micro, scores.log_probs_RT.detach())])
                rows = self._tensors(batch, micro, scores, weight_of, old, log_s, device)
                loss = objective_loss(self.objective, rows)
                # Gradients of several processes are averaged; ours are parts of a sum.
                self.accelerator.backward(loss.total * self.accelerator.num_processes)
            step.add(batch.rows, micro, scores, rows, loss, first=first)
        step.reduce(self.accelerator)
        self._apply(step)
        self._statistics.steps.append(step)

    def _apply(self, step: StepStatistics) -> None:
        """Clip and step. A gradient that is not finite would destroy the weights: the step is left out, and counted."""
        norm = float(self.accelerator.clip_grad_norm_(self.model.parameters(), self.settings.max_grad_norm))
        step.grad_norm = norm
        step.skipped = not torch.isfinite(torch.tensor(norm)).item()
        if not step.skipped:
            self.optimizer.step()
            if self.scheduler is not None:
                self.scheduler.step()
        self.optimizer.zero_grad(set_to_none=True)

    def _micro_batches(self, batch: Batch, places: Sequence[int]) -> Iterator[tuple[MicroBatch, bool]]:
        """This process's micro-batches; True with the last one, at which gradients are exchanged.

        Every process must take part in the exchange: one that runs out of micro-batches takes one row with an empty mask.
        """
        parts = split(batch.rows, places, self.settings.micro_batch_cells)
        processes, mine = self.accelerator.num_processes, self.accelerator.process_index
        own = parts[mine::processes]
        for number, part in enumerate(own, start=1):
            yield collate(batch.rows, part, self.accelerator.device), number == len(own)
        if not own:
            idle = collate(batch.rows, parts[0][:1], self.accelerator.device)
            yield replace(idle, mask_RT=torch.zeros_like(idle.mask_RT)), True

    def _score(self, model: Any, micro: MicroBatch) -> TokenScores:
        with self.accelerator.autocast():
            return score(model, micro, self.settings.temperature)

    def _tensors(
        self,
        batch: Batch,
        micro: MicroBatch,
        scores: TokenScores,
        weight_of: dict[int, float],
        old: _Old,
        log_s: Tensor | None,
        device: Any,
    ) -> RowTensors:
        new_RT = scores.log_probs_RT
        old_RT = None
        if any(old.log_probs[p] is not None for p in micro.places):
            old_RT = new_RT.detach().clone()
            for r, place in enumerate(micro.places):
                if (kept := old.log_probs[place]) is not None:
                    old_RT[r, : len(kept)] = kept.to(old_RT)
        trajectory = [batch.trajectory_R[p] for p in micro.places]
        reference_RT = None
        if self.reference is not None:
            with torch.no_grad():
                reference_RT = self._score(self.reference, micro).log_probs_RT
        return RowTensors(
            log_probs_RT=new_RT,
            mask_RT=micro.mask_RT,
            weights_R=torch.tensor([weight_of[p] for p in micro.places], device=device, dtype=new_RT.dtype),
            advantages_RT=torch.tensor([[batch.advantages_N[t]] for t in trajectory], device=device, dtype=new_RT.dtype),
            expert_R=torch.tensor([batch.rows[p].expert for p in micro.places], device=device),
            old_log_probs_RT=old_RT,
            trajectory_log_ratio_R=None if log_s is None else log_s[torch.tensor(trajectory)].to(device),
            reference_log_probs_RT=reference_RT,
        )

    def _scored(self, batch: Batch, places: Sequence[int]) -> Iterator[tuple[MicroBatch, Tensor]]:
        """Pass 1: log π of all rows as they are now, without gradient."""
        for micro in self._all(batch, places):
            with torch.no_grad():
                yield micro, self._score(self.model, micro).log_probs_RT

    def _log_s(self, batch: Batch, old: _Old, scored: Iterable[tuple[MicroBatch, Tensor]]) -> Tensor:
        """Log-ratio per trajectory, from all of its rows."""
        sums = torch.zeros(len(batch.rows), dtype=torch.float64)
        for micro, new_RT in scored:
            for r, place in enumerate(micro.places):
                kept = old.log_probs[place]
                if kept is not None:
                    row = slice(r, r + 1)
                    count = len(kept)
                    one, _ = trajectory_sums(new_RT[row, :count], kept[None].to(new_RT), micro.mask_RT[row, :count])
                    sums[place] = one.item()
        return trajectory_log_ratios(sums, batch.tokens_R(), torch.tensor(batch.trajectory_R), batch.trajectories)

    def _old_log_probs(self, batch: Batch) -> list[Tensor | None]:
        """log π at the beginning of the update, per row, by the forward pass that training takes."""
        found: list[Tensor | None] = [None] * len(batch.rows)
        for micro, log_probs_RT in self._scored(batch, range(len(batch.rows))):
            for r, place in enumerate(micro.places):
                found[place] = log_probs_RT[r, : len(batch.rows[place].response_ids)].cpu()
        return found

    def _all(self, batch: Batch, places: Sequence[int]) -> Iterator[MicroBatch]:
        """Every micro-batch, on every process: what all need costs less to compute than to exchange."""
        for part in split(batch.rows, places, self.settings.micro_batch_cells):
            yield collate(batch.rows, part, self.accelerator.device)


def _recorded(row: Any) -> Tensor:
    return torch.tensor(row.sampler_log_probs)


def _minibatches(batch: Batch, count: int) -> list[list[int]]:
    """Places of rows in `count` parts of whole trajectories, as even in trajectories as can be."""
    parts: list[list[int]] = [[] for _ in range(min(count, batch.trajectories))]
    for place, trajectory in enumerate(batch.trajectory_R):
        parts[trajectory % len(parts)].append(place)
    return parts


def self_ratio_noise(updater: Updater, batch: Batch, rows: int = 8) -> float:
    """max |mean log-ratio| of a row with itself: the same weights, once alone and once padded among others.

    In bfloat16 this noise alone can exceed GSPO's clip band of 3e-4 (design notes: 33–100 % of short sequences); float32 ≤ 6e-7.
    """
    places = sorted(range(len(batch.rows)), key=lambda p: len(batch.rows[p]))
    step = max(1, len(places) // rows)
    chosen = places[::step][:rows]
    if not chosen:
        return 0.0
    together = collate(batch.rows, chosen, updater.accelerator.device)
    updater.model.eval()
    with torch.no_grad():
        among = updater._score(updater.model, together).log_probs_RT
        worst = 0.0
        for r, place in enumerate(chosen):
            alone = updater._score(updater.model, collate(batch.rows, [place], updater.accelerator.device)).log_probs_RT[0]
            mask = together.mask_RT[r, : alone.shape[0]]
            worst = max(worst, abs((among[r, : alone.shape[0]] - alone)[mask].mean().item()))
    return worst
