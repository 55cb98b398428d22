"""The loss: mean over target tokens of −log p(token | what stands before it), with logits at those positions only.

Positions in the prompt, and padding, need no logits (training.models.heads). Equal to TRL's SFTTrainer with completion-only loss
(tests/training/sft/test_against_trl.py).

Shapes: B rows, L tokens, N target positions (rounded up), H width, V vocabulary.
"""

from __future__ import annotations

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
