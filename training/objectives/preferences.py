"""Direct preference optimisation (Rafailov et al. 2023, eq. 7): what UI-TARS and Agent Q train with."""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(
    chosen_B: Tensor, rejected_B: Tensor, chosen_reference_B: Tensor, rejected_reference_B: Tensor, beta: float
) -> Tensor:
    """−log σ(β (log π/π_ref of the chosen − log π/π_ref of the rejected)) per pair [B], from summed log-probabilities [B]."""
    margin_B = (chosen_B - chosen_reference_B) - (rejected_B - rejected_reference_B)
    return -torch.nn.functional.logsigmoid(beta * margin_B)
