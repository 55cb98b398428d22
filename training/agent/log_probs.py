"""Rows → padded tensors → log-probabilities of the sampled tokens.

    ┌ prompt ┬ response ┬ padding ┐        padding on the right: a causal model never looks there, so no attention mask is
    └────────┴──────────┴─────────┘        needed, and without one attention is faster

Rows that are equal to the letter are computed once: an expert's copies, and dreams of one page that say the same. Their gradients
add up where the one result is handed out to all of them.

Logits are made at response positions only: the vocabulary is most of a small model's cost. Softmax is taken in float32 (float64
stays), whatever the model computes in. Every token of a response is attended to; the loss mask is another thing.

Shapes: R rows, S distinct ones, L tokens of the longest, T tokens of the longest response, V vocabulary.
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
    input_ids_SL: Tensor
    before_ST: Tensor
    """Where, in the flattened (S·L) positions, the state stands that predicts each response token; 0 beyond a response."""
    response_ids_ST: Tensor
    distinct_R: Tensor
    """Each row's number among the distinct ones."""
    mask_RT: Tensor

    @property
    def cells(self) -> int:
        """Positions of all rows, padding included."""
        return len(self.places) * self.input_ids_SL.shape[1]

    @property
    def computed(self) -> int:
        """Those that the model computes."""
        return self.input_ids_SL.numel()


class TokenScores(NamedTuple):
    log_probs_RT: Tensor
    """log π of each response token at the sampling temperature; positions beyond a response hold rubbish."""
    entropy_RT: Tensor
    """Of the distribution at each position, without gradient."""


def split(rows: Sequence[Row], places: Sequence[int], max_cells: int) -> list[list[int]]:
    """Places in micro-batches of similar length, each of at most `max_cells` computed positions, or of a single distinct row.

    Rows are sorted by length, so that padding is little and few different shapes are compiled, and equal ones lie side by side.
    The same rows give the same split.
    """
    found: list[list[int]] = []
    distinct = 0
    for place in sorted(places, key=lambda p: (len(rows[p]), _ids(rows[p]), p)):
        new = not found or _ids(rows[place]) != _ids(rows[found[-1][-1]])
        if found and (not new or len(rows[place]) * (distinct + 1) <= max_cells):
            found[-1].append(place)
            distinct += new
        else:
            found.append([place])
            distinct = 1
    return found


def collate(rows: Sequence[Row], places: Sequence[int], device: torch.device | str = "cpu") -> MicroBatch:
    """Pad some rows. Padding ids are 0: nothing attends to them."""
    number: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    distinct = [number.setdefault(_ids(rows[p]), len(number)) for p in places]
    length, response = max(len(rows[p]) for p in places), max(len(rows[p].response_ids) for p in places)
    input_ids = torch.zeros(len(number), length, dtype=torch.long)
    before = torch.zeros(len(number), response, dtype=torch.long)
    response_ids = torch.zeros(len(number), response, dtype=torch.long)
    for s, (prompt_ids, said_ids) in enumerate(number):
        start, count = len(prompt_ids), len(said_ids)
        input_ids[s, : start + count] = torch.tensor((*prompt_ids, *said_ids))
        before[s, :count] = torch.arange(count) + (s * length + start - 1)
        response_ids[s, :count] = torch.tensor(said_ids)
    mask = torch.zeros(len(places), response, dtype=torch.bool)
    for r, place in enumerate(places):
        mask[r, : len(rows[place].mask)] = torch.tensor(rows[place].mask)
    parts = (input_ids, before, response_ids, torch.tensor(distinct), mask)
    return MicroBatch(tuple(places), *(part.to(device) for part in parts))


def _ids(row: Row) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return row.prompt_ids, row.response_ids


def score(model: Any, batch: MicroBatch, temperature: float) -> TokenScores:
    """One forward pass. `temperature` is the sampler's: π is what was sampled from."""
    add_target_head(network_of(model))
    logits = model(input_ids=batch.input_ids_SL, use_cache=False, target_positions=batch.before_ST.reshape(-1))
    logits_STV = logits.unflatten(0, batch.before_ST.shape)
    if logits_STV.dtype != torch.float64:
        logits_STV = logits_STV.float()
    logits_STV = logits_STV / temperature
    normaliser_ST = torch.logsumexp(logits_STV, -1)
    chosen_ST = logits_STV.gather(-1, batch.response_ids_ST[..., None])[..., 0]
    with torch.no_grad():
        log_probs_STV = logits_STV.detach() - normaliser_ST.detach()[..., None]
        entropy_ST = -(log_probs_STV.exp() * log_probs_STV).sum(-1)
    return TokenScores((chosen_ST - normaliser_ST)[batch.distinct_R], entropy_ST[batch.distinct_R])
