"""What is averaged over what. The loss is Σ_rows weight_r · Σ_tokens mask · loss, so an aggregation is one weight per row.

    T_r  tokens of row r     T_i  tokens of its trajectory     n_i  rows of its trajectory     N  trajectories     R  rows

    trajectory_mean   1 / (T_i N)        each trajectory counts the same                  GSPO, DynaWeb, GRPO on one sequence
    turn_sum          1 / (T_r N)        token mean in a turn, turns added up             OpenWebRL §4.4
    constant          1 / (k N)          tokens added up, over a constant           AsyncWebRL eq. 1, k = 10; WebGym, k = 1
    step_mean         1 / (T_r R)        each step counts the same                        ZeroGUI eq. 5
    token_mean        1 / Σ T_r          each token counts the same                       verl's default, DAPO
    three_level       1 / (T_r n_i N)    mean of tokens, of steps, of trajectories        WebAgent-R1 §2.3

The weights are taken over the whole update, once. That is why splitting it into micro-batches cannot change the loss.
Rows without tokens weigh 0 and do not count, neither in R nor in n_i; nor does a trajectory without any count in N.
"""

from __future__ import annotations

import torch
from torch import Tensor

from training.objectives.config import Aggregation


def row_weights(
    kind: Aggregation, tokens_R: Tensor, trajectory_R: Tensor, *, constant: float = 1.0, dtype: torch.dtype = torch.float64
) -> Tensor:
    """Weights [R] of all rows of an update, from their numbers of tokens and the trajectories that they belong to."""
    tokens_R = tokens_R.to(dtype)
    some_R = tokens_R > 0
    count = int(trajectory_R.max()) + 1 if trajectory_R.numel() else 0
    empty_N = torch.zeros(count, dtype=dtype, device=tokens_R.device)
    tokens_N = empty_N.index_add(0, trajectory_R, tokens_R)
    rows_N = empty_N.index_add(0, trajectory_R, some_R.to(dtype))
    trajectories = (tokens_N > 0).sum()
    denominator_R = {
        "trajectory_mean": lambda: tokens_N[trajectory_R] * trajectories,
        "turn_sum": lambda: tokens_R * trajectories,
        "constant": lambda: torch.full_like(tokens_R, constant) * trajectories,
        "step_mean": lambda: tokens_R * some_R.sum(),
        "token_mean": lambda: tokens_R.sum().expand_as(tokens_R),
        "three_level": lambda: tokens_R * rows_N[trajectory_R] * trajectories,
    }[kind]()
    return torch.where(some_R, 1 / denominator_R.clamp(min=torch.finfo(dtype).tiny), torch.zeros_like(tokens_R))
