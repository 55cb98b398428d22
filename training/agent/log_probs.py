"""Rows → padded tensors → log-probabilities of the sampled tokens.

    ┌ left padding ┬ prompt ┬ response ┬ right padding ┐        P = longest prompt, T = longest response of the micro-batch
    attention 0      1        1          0                      one block of logits, the last T + 1 positions, serves all rows

Logits are made at response positions only: the vocabulary is most of a small model's cost. Softmax is taken in float32 (float64
stays), whatever the model computes in. Every token of a response is attended to; the loss mask is another thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from training.agent.rows import Row


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Rows that go through the model together. `places` are their numbers in the batch."""

    places: tuple[int, ...]
    input_ids_RL: Tensor
    attention_RL: Tensor
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
    prompt = response = 0
    for place in sorted(places, key=lambda p: (len(rows[p]), p)):
        row = rows[place]
        longer = max(prompt, len(row.prompt_ids)) + max(response, len(row.response_ids))
        if found and longer * (len(found[-1]) + 1) <= max_cells:
            found[-1].append(place)
            prompt, response = max(prompt, len(row.prompt_ids)), max(response, len(row.response_ids))
        else:
            found.append([place])
            prompt, response = len(row.prompt_ids), len(row.response_ids)
    return found


def collate(rows: Sequence[Row], places: Sequence[int], device: torch.device | str = "cpu") -> MicroBatch:
    """Pad some rows. Padding ids are 0: nothing attends to them."""
    prompt = max(len(rows[p].prompt_ids) for p in places)
    response = max(len(rows[p].response_ids) for p in places)
    input_ids = torch.zeros(len(places), prompt + response, dtype=torch.long)
    attention = torch.zeros(len(places), prompt + response, dtype=torch.long)
    mask = torch.zeros(len(places), response, dtype=torch.bool)
    for r, place in enumerate(places):
        row = rows[place]
        start, end = prompt - len(row.prompt_ids), prompt + len(row.response_ids)
        input_ids[r, start:end] = torch.tensor((*row.prompt_ids, *row.response_ids))
        attention[r, start:end] = 1
        mask[r, : len(row.mask)] = torch.tensor(row.mask)
    return MicroBatch(
        tuple(places),
        input_ids.to(device),
        attention.to(device),
        input_ids[:, prompt:].to(device),
        mask.to(device),
    )


def score(model: Any, batch: MicroBatch, temperature: float) -> TokenScores:
    """One forward pass. `temperature` is the sampler's: π is what was sampled from."""
    tokens = batch.response_ids_RT.shape[1]
    position_ids = (batch.attention_RL.cumsum(-1) - 1).clamp(min=0)
    logits = model(
        input_ids=batch.input_ids_RL,
        attention_mask=batch.attention_RL,
        position_ids=position_ids,
        logits_to_keep=tokens + 1,
        use_cache=False,
    ).logits
    logits_RTV = logits[:, -(tokens + 1) : -1]
    if logits_RTV.dtype != torch.float64:
        logits_RTV = logits_RTV.float()
    logits_RTV = logits_RTV / temperature
    normaliser_RT = torch.logsumexp(logits_RTV, -1)
    chosen_RT = logits_RTV.gather(-1, batch.response_ids_RT[..., None])[..., 0]
    with torch.no_grad():
        log_probs_RTV = logits_RTV.detach() - normaliser_RT.detach()[..., None]
        entropy_RT = -(log_probs_RTV.exp() * log_probs_RTV).sum(-1)
    return TokenScores(chosen_RT - normaliser_RT, entropy_RT)
