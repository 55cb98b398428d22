"""Rows → padded tensors → log-probabilities of the sampled tokens.

    ┌ prompt ┬ response ┬ padding ┐        padding on the right: a causal model never looks there, so no attention mask is
    └────────┴──────────┴─────────┘        needed, and without one attention is faster

Logits are made at response positions only: the vocabulary is most of a small model's cost. Softmax is taken in float32 (float64
stays), whatever the model computes in. Every token of a response is attended to; the loss mask is another thing.

Shapes: R rows, L tokens of the longest, T tokens of the longest response, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from training.agent.rows import Row
from training.models.heads import add_target_head, network_of


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Rows that go through the model together. `places` are their numbers in the batch."""

    places: tuple[int, ...]
    input_ids_RL: Tensor
    before_RT: Tensor
    """Where, in the flattened (R·L) positions, the state stands that predicts each response token; 0 beyond a response."""
    response_ids_RT: Tensor
    mask_RT: Tensor

    @property
    def cells(self) -> int:
        """Positions that the model computes, padding included."""
        return self.input_ids_RL.numel()


class TokenScores(NamedTuple):
    log_probs_RT: Tensor
    """log π of each response token at the sampling temperature; positions beyond a response hold rubbish."""
    entropy_RT: Tensor
    """Of the distribution at each position, without gradient."""


def split(rows: Sequence[Row], places: Sequence[int], max_cells: int) -> list[list[int]]:
    """Places in micro-batches of similar length, each of at most `max_cells` padded positions, or of a single row.

    Rows are sorted by length, so that padding is little and few different shapes are compiled. The same rows give the same split.
    """
    found: list[list[int]] = []
    for place in sorted(places, key=lambda p: (len(rows[p]), p)):
        if found and len(rows[place]) * (len(found[-1]) + 1) <= max_cells:
            found[-1].append(place)
        else:
            found.append([place])
    return found


def collate(rows: Sequence[Row], places: Sequence[int], device: torch.device | str = "cpu") -> MicroBatch:
    """Pad some rows. Padding ids are 0: nothing attends to them."""
    length, response = max(len(rows[p]) for p in places), max(len(rows[p].response_ids) for p in places)
    input_ids = torch.zeros(len(places), length, dtype=torch.long)
    before = torch.zeros(len(places), response, dtype=torch.long)
    response_ids = torch.zeros(len(places), response, dtype=torch.long)
    mask = torch.zeros(len(places), response, dtype=torch.bool)
    for r, place in enumerate(places):
        row = rows[place]
        start, count = len(row.prompt_ids), len(row.response_ids)
        input_ids[r, : start + count] = torch.tensor((*row.prompt_ids, *row.response_ids))
        before[r, :count] = torch.arange(count) + (r * length + start - 1)
        response_ids[r, :count] = torch.tensor(row.response_ids)
        mask[r, :count] = torch.tensor(row.mask)
    return MicroBatch(tuple(places), input_ids.to(device), before.to(device), response_ids.to(device), mask.to(device))


def score(model: Any, batch: MicroBatch, temperature: float) -> TokenScores:
    """One forward pass. `temperature` is the sampler's: π is what was sampled from."""
    add_target_head(network_of(model))
    logits = model(input_ids=batch.input_ids_RL, use_cache=False, target_positions=batch.before_RT.reshape(-1))
    logits_RTV = logits.unflatten(0, batch.before_RT.shape)
    if logits_RTV.dtype != torch.float64:
        logits_RTV = logits_RTV.float()
    logits_RTV = logits_RTV / temperature
    normaliser_RT = torch.logsumexp(logits_RTV, -1)
    chosen_RT = logits_RTV.gather(-1, batch.response_ids_RT[..., None])[..., 0]
    with torch.no_grad():
        log_probs_RTV = logits_RTV.detach() - normaliser_RT.detach()[..., None]
        entropy_RT = -(log_probs_RTV.exp() * log_probs_RTV).sum(-1)
    return TokenScores(chosen_RT - normaliser_RT, entropy_RT)
