"""The same random rows for us and for the peers, in float64."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from training.objectives import ObjectiveConfig, RowTensors, objective_loss, row_weights, trajectory_log_ratios
from training.objectives.ratios import trajectory_sums

F64 = torch.float64
LOW, HIGH = 3e-3, 4e-3


class Case(NamedTuple):
    """Six sequences of up to 17 tokens with holes in their masks; two of them outside the clip band."""

    new_RT: Tensor
    old_RT: Tensor
    mask_RT: Tensor
    advantages_R: Tensor


def case(seed: int, spread: float = 0.02) -> Case:
    generator = torch.Generator().manual_seed(seed)
    old = -3 * torch.rand(6, 17, generator=generator, dtype=F64)
    new = old + spread * torch.randn(6, 17, generator=generator, dtype=F64)
    mask = torch.rand(6, 17, generator=generator) > 0.4
    mask[:, 0] = True
    mask[3, 5:] = False
    return Case(new, old, mask, torch.tensor([1.0, -1, 0.5, -2, 0, 1.3], dtype=F64))


def our_loss(
    config: ObjectiveConfig, data: Case, new_RT: Tensor, trajectory_R: Tensor | None = None, **more: Tensor
) -> tuple[Tensor, float]:
    """Loss and the share of tokens that are clipped. Each row is a trajectory unless told otherwise."""
    index_R = torch.arange(6) if trajectory_R is None else trajectory_R
    sums_R, tokens_R = trajectory_sums(new_RT.detach(), data.old_RT, data.mask_RT)
    log_s_N = trajectory_log_ratios(sums_R, tokens_R, index_R, int(index_R.max()) + 1)
    rows = RowTensors(
        log_probs_RT=new_RT,
        mask_RT=data.mask_RT,
        weights_R=row_weights(config.aggregation, tokens_R, index_R, constant=config.constant),
        advantages_RT=data.advantages_R[:, None],
        expert_R=torch.zeros(6, dtype=torch.bool),
        old_log_probs_RT=data.old_RT,
        trajectory_log_ratio_R=log_s_N[index_R],
        **more,
    )
    loss = objective_loss(config, rows)
    return loss.total, loss.clipped_RT.sum().item() / data.mask_RT.sum().item()


def value_and_gradient(loss_of: Callable[[Tensor], Tensor], new_RT: Tensor) -> tuple[float, Tensor]:
    leaf = new_RT.clone().requires_grad_(True)
    loss = loss_of(leaf)
    loss.backward()
    assert leaf.grad is not None
    return loss.item(), leaf.grad


@contextmanager
def their_warnings_ignored() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
