"""Rows that an expert wrote. DynaWeb (eq. 8) writes them under π_old like the rest and says no more; these are the choices.

    snapshot   ρ = π_θ / π_θ(start of the update)      the expert's tokens are treated as the policy's own; ρ starts at 1
    recorded   ρ = π_θ / π_expert                      importance weighting; needs the expert model's log-probabilities
    luffy      ρ = f(π_θ / 1), f(p) = p / (p + γ)      LUFFY (Yan et al. 2025, eq. 8): no clipping; rare tokens learn fastest
    sft        −c · log π_θ                            cross entropy; advantage unused. DynaWeb states no such loss

`snapshot` and `recorded` only choose old_log_probs and then go through the same surrogate as every row.
"""

from __future__ import annotations

import torch
from torch import Tensor

from training.objectives.config import ExpertConfig


def has_own_objective(config: ExpertConfig) -> bool:
    """Do expert rows leave the method's surrogate?"""
    return config.policy in ("luffy", "sft")


def expert_objective(log_probs_RT: Tensor, advantage_RT: Tensor, config: ExpertConfig) -> Tensor:
    """What `luffy` and `sft` maximise, per token [R, T]."""
    if config.policy == "sft":
        return config.sft_coefficient * log_probs_RT
    probability_RT = torch.exp(log_probs_RT)
    return probability_RT / (probability_RT + config.luffy_gamma) * advantage_RT
