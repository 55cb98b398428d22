"""Probability ratios at three levels, so that rows can be handled one after the other.

    token        log ρ_t = log π_θ(y_t) − log π_old(y_t)
    turn         log ρ   = mean of these over the row
    trajectory   log s_i = mean of these over all tokens of all rows of trajectory i          GSPO (Zheng et al. 2025, eq. 7)

An agent's trajectory is many rows, because its context is built anew at each step, and they do not fit in memory together.
GSPO's objective couples them through s_i, but its gradient needs s_i only as a number:

    ∇ s_i A = s_i A · 1/T_i Σ_t ∇ log π_θ(y_t)

so one pass without gradient collects log s_i, and a second one takes each row with log ρ_t = sg(log s_i) + log π_θ − sg(log π_θ)
(sg: stop gradient; GSPO-token, eq. 14 there, with equal advantages). Value and gradient equal the joint ones
(tests/training/objectives/test_ratios.py); ratios per turn do not.
"""

from __future__ import annotations

import torch
from torch import Tensor

from training.objectives.config import RatioLevel


def masked(values_RT: Tensor, mask_RT: Tensor) -> Tensor:
    """0 where the mask is off. Multiplying would turn a −inf of a masked position into NaN."""
    return torch.where(mask_RT, values_RT, torch.zeros((), dtype=values_RT.dtype, device=values_RT.device))


def trajectory_sums(log_probs_RT: Tensor, old_log_probs_RT: Tensor, mask_RT: Tensor) -> tuple[Tensor, Tensor]:
    """Per row: the sum of its log-ratios [R] and the number of its tokens [R]. Rows of one trajectory may be added up."""
    difference_RT = masked(log_probs_RT, mask_RT) - masked(old_log_probs_RT, mask_RT)
    return difference_RT.sum(-1), mask_RT.sum(-1)


def trajectory_log_ratios(sums_R: Tensor, tokens_R: Tensor, trajectory_R: Tensor, trajectories: int) -> Tensor:
    """log s_i [N] from the sums of all rows. 0 for a trajectory without tokens."""
    zeros_N = torch.zeros(trajectories, dtype=sums_R.dtype, device=sums_R.device)
    sums_N = zeros_N.index_add(0, trajectory_R, sums_R)
    tokens_N = zeros_N.index_add(0, trajectory_R, tokens_R.to(sums_R.dtype))
    return sums_N / tokens_N.clamp(min=1)


def log_ratios(
    level: RatioLevel,
    log_probs_RT: Tensor,
    old_log_probs_RT: Tensor,
    mask_RT: Tensor,
    trajectory_log_ratio_R: Tensor | None = None,
) -> Tensor:
    """log ρ [R, T] with its gradient; 0 at masked positions.

    `trajectory_log_ratio_R` is log s_i of each row's trajectory; needed at level `trajectory`, from `trajectory_log_ratios`.
    """
    new_RT, old_RT = masked(log_probs_RT, mask_RT), masked(old_log_probs_RT, mask_RT)
    if level == "token":
        return new_RT - old_RT
    if level == "turn":
        number_R = ((new_RT - old_RT).sum(-1) / mask_RT.sum(-1).clamp(min=1)).detach()
    elif trajectory_log_ratio_R is None:
        raise ValueError("a ratio per trajectory needs the log-ratio of the whole trajectory for each row")
    else:
        number_R = trajectory_log_ratio_R.detach()
    return masked(new_RT - new_RT.detach() + number_R[:, None], mask_RT)
