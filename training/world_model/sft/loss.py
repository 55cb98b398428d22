"""The loss: mean over target tokens of −log p(token | what stands before it), with logits at those positions only.

On a CPU the output layer over a whole page costs more than the rest of a small model; positions in the prompt, and padding, need
no logits. Equal to TRL's SFTTrainer with completion-only loss (tests/training/sft/test_against_trl.py).

Shapes: B rows, L tokens, N target positions (rounded up), H width, V vocabulary.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import torch
import torch.nn.functional as F

from training.world_model.sft.tokens import IGNORED

ROUNDED_TO = 128
"""N is rounded up to a multiple: every new shape costs a processor the preparation of a kernel."""


def target_positions(labels_BL: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(positions (N,) in the flattened (B·L) hidden states that predict targets, their labels (N,)).

    The state at position t predicts the token at t + 1. Filled up with position 0, whose label is ignored.
    """
    following_BL = torch.full_like(labels_BL, IGNORED)
    following_BL[:, :-1] = labels_BL[:, 1:]
    flat = following_BL.reshape(-1)
    positions_N = (flat != IGNORED).nonzero()[:, 0]
    missing = -len(positions_N) % ROUNDED_TO
    return F.pad(positions_N, (0, missing)), F.pad(flat[positions_N], (0, missing), value=IGNORED)


def target_loss(
    logits_NV: torch.Tensor,
    labels_N: torch.Tensor,
    tokens: torch.Tensor | int | None = None,
    weights_N: torch.Tensor | None = None,
) -> torch.Tensor:
    """Sum of weight · −log p over the labelled positions, divided by `tokens` (default: their number). In float32.

    Weights do not enter the divisor: what has weight 1 keeps the gradient that it has without the others' weights.
    """
    if weights_N is None:
        total = F.cross_entropy(logits_NV.float(), labels_N, ignore_index=IGNORED, reduction="sum")
    else:
        total = (weights_N * F.cross_entropy(logits_NV.float(), labels_N, ignore_index=IGNORED, reduction="none")).sum()
    count = (labels_N != IGNORED).sum() if tokens is None else torch.as_tensor(tokens, device=total.device)
    return total / count.clamp(min=1)


def add_target_head(model: Any) -> None:
    """`model(…, target_positions=(N,))` returns logits (N, V) at these positions; without it the forward is as before.

    Inside the model's own forward, because FSDP gathers weights and PEFT adds to them there and nowhere else.
    """
    original = model.forward

    @functools.wraps(type(model).forward)
    def forward(self: Any, *args: Any, target_positions: torch.Tensor | None = None, **kwargs: Any) -> Any:
        if target_positions is None:
            return original(*args, **kwargs)
        kwargs.pop("labels", None)
        kwargs.pop("num_items_in_batch", None)
        hidden_BLH = self.base_model(*args, **kwargs).last_hidden_state
        return self.get_output_embeddings()(hidden_BLH.reshape(-1, hidden_BLH.shape[-1])[target_positions])

    model.forward = types.MethodType(forward, model)
