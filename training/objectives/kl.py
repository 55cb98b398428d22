"""Estimators of KL(π_θ ‖ π_ref) from one sampled token (Schulman, "Approximating KL divergence", 2020).

    d = log π_θ − log π_ref      k1 = d      k2 = d²/2      k3 = e^{−d} + d − 1

k1 used as a loss has an expected gradient of 0: it belongs into the reward. k3's gradient explodes where π_θ ≪ π_ref, which is
why ZeroGUI (eq. 6) takes k2.
"""

from __future__ import annotations

import torch
from torch import Tensor

from training.objectives.config import KlConfig


def kl_penalty(log_probs_RT: Tensor, reference_log_probs_RT: Tensor, advantage_RT: Tensor, config: KlConfig) -> Tensor:
    """β·KL per token [R, T], with its gradient. Masked positions must be finite (training.objectives.ratios.masked)."""
    difference_RT = log_probs_RT - reference_log_probs_RT
    if config.kind == "none":
        return torch.zeros_like(difference_RT)
    if config.kind == "k1":
        return config.beta * difference_RT
    if config.kind == "k3":
        return config.beta * (torch.exp(-difference_RT) + difference_RT - 1)
    penalty_RT = config.beta * 0.5 * difference_RT**2
    if not config.cap_at_advantage:
        return penalty_RT
    bound_RT = advantage_RT.abs()
    slope_RT = (config.beta * difference_RT).detach().clamp(-bound_RT, bound_RT)
    return penalty_RT.detach() + slope_RT * (log_probs_RT - log_probs_RT.detach())
