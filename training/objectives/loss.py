"""The loss of some rows of an update. Losses and gradients of all rows, in any split, add up to those of the whole update.

surrogate    −J(ρ, A)                         PPO, GRPO, GSPO, DynaWeb        J: training.objectives.clipping
likelihood   −A log π_θ                       WebGym eq. 1 with A = 1[R = 1]
regression   (β Σ_t log π_θ/π_ref − A)²       WebRL eq. 5, over the tokens of an action (a row)

+ β·KL per token    × behaviour weight (decoupled clipping, AsyncWebRL)    × row weight, summed
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from training.objectives.clipping import clipped_surrogate
from training.objectives.config import ObjectiveConfig
from training.objectives.experts import expert_objective, has_own_objective
from training.objectives.kl import kl_penalty
from training.objectives.ratios import log_ratios, masked


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTensors:
    """R rows, padded to T tokens. What a masked position holds does not matter, be it −inf or NaN."""

    log_probs_RT: Tensor
    """log π_θ of the sampled tokens, with gradient."""
    mask_RT: Tensor
    """bool: the policy (or the expert in its place) wrote this token."""
    weights_R: Tensor
    """From `row_weights` over the whole update."""
    advantages_RT: Tensor
    """[R, T], or [R, 1] where a row has one."""
    expert_R: Tensor
    """bool: an expert wrote this row."""
    old_log_probs_RT: Tensor | None = None
    """Denominator of ρ; None: log_probs_RT itself, detached (the first step after sampling, ρ = 1)."""
    trajectory_log_ratio_R: Tensor | None = None
    """log s_i of the row's trajectory; None: 0, right where old_log_probs_RT is None."""
    behaviour_weights_RT: Tensor | None = None
    """π_prox/π_behave where the sampler was older than the start of the update; None: 1."""
    reference_log_probs_RT: Tensor | None = None
    """log π_ref; needed with a KL penalty or the form `regression`."""


class Loss(NamedTuple):
    total: Tensor
    """Σ_r weight_r Σ_t mask·loss, a scalar with gradient. To be minimised."""
    kl: Tensor
    """The part of `total` that is the KL penalty (detached)."""
    ratio_RT: Tensor
    """ρ (detached); 1 at masked positions."""
    clipped_RT: Tensor
    """bool; never at masked positions."""


def objective_loss(config: ObjectiveConfig, rows: RowTensors) -> Loss:
    """Pure: the same tensors give the same loss. Raises ValueError if the method needs log π_ref and it is missing."""
    mask_RT = rows.mask_RT
    new_RT = masked(rows.log_probs_RT, mask_RT)
    old_RT = new_RT.detach() if rows.old_log_probs_RT is None else rows.old_log_probs_RT
    advantages_RT = rows.advantages_RT.expand_as(new_RT)
    trajectory_R = rows.trajectory_log_ratio_R
    if trajectory_R is None:
        trajectory_R = torch.zeros_like(rows.weights_R, dtype=new_RT.dtype)
    ratio_RT = log_ratios(config.ratio, new_RT, old_RT, mask_RT, trajectory_R).exp()
    clipped_RT = torch.zeros_like(mask_RT)
    if config.form == "surrogate":
        objective_RT, clipped_RT = clipped_surrogate(ratio_RT, advantages_RT, config.clip)
    elif config.form == "likelihood":
        objective_RT = advantages_RT * new_RT
    else:
        objective_RT = _regression(config, new_RT, _reference(rows), mask_RT, advantages_RT)
    if has_own_objective(config.expert):
        own_RT = expert_objective(new_RT, advantages_RT, config.expert)
        objective_RT = torch.where(rows.expert_R[:, None], own_RT, objective_RT)
        clipped_RT = clipped_RT & ~rows.expert_R[:, None]
    if rows.behaviour_weights_RT is not None:
        objective_RT = masked(rows.behaviour_weights_RT, mask_RT) * objective_RT
    kl_RT = torch.zeros_like(new_RT)
    if config.kl.kind != "none":
        kl_RT = kl_penalty(new_RT, masked(_reference(rows), mask_RT), advantages_RT, config.kl)
    weights_RT = masked(rows.weights_R.to(new_RT.dtype)[:, None].expand_as(new_RT), mask_RT)
    total = (weights_RT * (kl_RT - objective_RT)).sum()
    return Loss(total, (weights_RT * kl_RT).sum().detach(), ratio_RT.detach(), clipped_RT & mask_RT)


def _regression(config: ObjectiveConfig, new_RT: Tensor, reference_RT: Tensor, mask_RT: Tensor, advantages_RT: Tensor) -> Tensor:
    """−(β·Σ_t logratio − A)² of the row at each of its tokens: a weight of 1/T_r gives the row's own term."""
    log_ratio_R = (new_RT - masked(reference_RT, mask_RT)).sum(-1, keepdim=True)
    return -((config.beta * log_ratio_R - advantages_RT) ** 2)


def _reference(rows: RowTensors) -> Tensor:
    if rows.reference_log_probs_RT is None:
        raise ValueError("this objective needs the log-probabilities of a reference policy")
    return rows.reference_log_probs_RT
