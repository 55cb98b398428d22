"""From rewards to advantages.

    group_advantages   GRPO: compare the trajectories of one task                  z-score, centred, or the reward itself
    gae                generalised advantage estimation over the policy's tokens   UI-TARS-2, PPO
    webrl_advantages   half temporal difference, half Monte Carlo                  WebRL eq. 8

A group of one has advantage 0: there is nothing to compare with (verl gives the raw reward there, tests/training/objectives).
A trajectory without a valid reward must not be among the arguments: it is neither a success nor a 0.
"""

from __future__ import annotations

import torch
from torch import Tensor

from training.objectives.config import AdvantageConfig


def group_advantages(rewards_N: Tensor, group_N: Tensor, config: AdvantageConfig, in_baseline_N: Tensor | None = None) -> Tensor:
    """Advantages [N]. `group_N` numbers the groups; mean and deviation are taken over the members of a group that are
    `in_baseline_N` (default: all). Who is not gets its reward minus that mean, undivided: deviations of 0 would blow it up.
    """
    if config.kind == "reward":
        return rewards_N.clone()
    inside_N = torch.ones_like(group_N, dtype=torch.bool) if in_baseline_N is None else in_baseline_N
    advantages_N = torch.zeros_like(rewards_N)
    for group in sorted(set(group_N.tolist())):
        own_N = group_N == group
        base = rewards_N[own_N & inside_N]
        if not base.numel():
            continue
        outside_N = own_N & ~inside_N
        advantages_N[outside_N] = rewards_N[outside_N] - base.mean()
        if base.numel() > 1 and base.max() > base.min():
            scale = base.std(correction=config.ddof) + config.eps if config.kind == "z_score" else 1.0
            advantages_N[own_N & inside_N] = (base - base.mean()) / scale
    return advantages_N


def gae(rewards_BT: Tensor, values_BT: Tensor, mask_BT: Tensor, gamma: float, lam_B: Tensor | float) -> Tensor:
    """A_t = Σ_l (γλ)^l δ_{t+l} over unmasked positions [B, T]; masked ones (text of the page) are stepped over and get 0.

    `lam_B` may differ per row (`length_adaptive_lambda`). After Schulman et al. 2016; equal to verl's.
    """
    lam_B = torch.as_tensor(lam_B, dtype=values_BT.dtype, device=values_BT.device)
    advantage_B = torch.zeros_like(values_BT[:, 0])
    next_value_B = torch.zeros_like(advantage_B)
    out_BT = torch.zeros_like(values_BT)
    for t in reversed(range(values_BT.shape[1])):
        delta_B = rewards_BT[:, t] + gamma * next_value_B - values_BT[:, t]
        here_B = mask_BT[:, t]
        advantage_B = torch.where(here_B, delta_B + gamma * lam_B * advantage_B, advantage_B)
        next_value_B = torch.where(here_B, values_BT[:, t], next_value_B)
        out_BT[:, t] = torch.where(here_B, advantage_B, torch.zeros_like(advantage_B))
    return out_BT


def length_adaptive_lambda(length_B: Tensor, alpha: float = 0.05) -> Tensor:
    """λ = 1 − 1/(α l) of UI-TARS-2. Below l = 1/α the formula is negative, which has no meaning: clamped to [0, 1]."""
    return (1 - 1 / (alpha * length_B.clamp(min=1))).clamp(0.0, 1.0)


def webrl_advantages(values_S: Tensor, final_reward: float, lam: float = 0.5, gamma: float = 1.0) -> Tensor:
    """A_t = λ (r_t + γ V_{t+1} − V_t) + (1 − λ) (γ^{S−1−t} r_S − V_t) for the S steps of one trajectory (WebRL eq. 8).

    Only the last step is rewarded and V after it is 0. The equation as printed has no γ; the paper's settings name γ = 0.9.
    """
    steps = values_S.shape[0]
    rewards_S = torch.zeros_like(values_S)
    rewards_S[-1] = final_reward
    next_values_S = torch.cat([values_S[1:], values_S.new_zeros(1)])
    to_go_S = gamma ** torch.arange(steps - 1, -1, -1, dtype=values_S.dtype, device=values_S.device) * final_reward
    return lam * (rewards_S + gamma * next_values_S - values_S) + (1 - lam) * (to_go_S - values_S)
