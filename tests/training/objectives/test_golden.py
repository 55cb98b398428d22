"""The numbers that the DynaWeb walkthrough computes by hand (seeds §5.1, §5.2)."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from training.objectives import (
    ClipConfig,
    ObjectiveConfig,
    RowTensors,
    clipped_surrogate,
    get_objective,
    group_advantages,
    log_ratios,
    objective_loss,
    row_weights,
    trajectory_log_ratios,
)
from training.objectives.ratios import trajectory_sums

F64 = torch.float64
TEACHING = get_objective("dynaweb", clip={"low": 0.2, "high": 0.2})


def trajectory_loss(config: ObjectiveConfig, new_RT: Tensor, old_RT: Tensor, advantages: list[float]) -> Tensor:
    """One row per trajectory."""
    mask_RT = torch.ones_like(new_RT, dtype=torch.bool)
    index_R = torch.arange(new_RT.shape[0])
    sums_R, tokens_R = trajectory_sums(new_RT.detach(), old_RT, mask_RT)
    rows = RowTensors(
        log_probs_RT=new_RT,
        mask_RT=mask_RT,
        weights_R=row_weights(config.aggregation, tokens_R, index_R),
        advantages_RT=torch.tensor(advantages, dtype=F64)[:, None],
        expert_R=torch.zeros_like(index_R, dtype=torch.bool),
        old_log_probs_RT=old_RT,
        trajectory_log_ratio_R=trajectory_log_ratios(sums_R, tokens_R, index_R, len(advantages)),
    )
    return objective_loss(config, rows).total


@pytest.mark.parametrize("level", ["turn", "trajectory"])
def test_ratios_of_1_2_and_0_8_make_0_9798(level: str) -> None:
    """A geometric mean, not the arithmetic one."""
    new = torch.tensor([[1.2, 0.8]], dtype=F64).log()
    mask = torch.ones(1, 2, dtype=torch.bool)
    sums, tokens = trajectory_sums(new, torch.zeros_like(new), mask)
    of_trajectory = trajectory_log_ratios(sums, tokens, torch.tensor([0]), 1)
    ratio = log_ratios(level, new, torch.zeros_like(new), mask, of_trajectory).exp()  # type: ignore[arg-type]
    assert ratio.tolist() == [[pytest.approx(math.sqrt(0.96)), pytest.approx(0.9798, abs=5e-5)]]


def test_a_ratio_of_1_4_counts_as_1_2() -> None:
    ratio = torch.tensor([1.4], dtype=F64, requires_grad=True)
    result = clipped_surrogate(ratio, torch.tensor([1.0], dtype=F64), ClipConfig(low=0.2, high=0.2))
    result.objective_RT.sum().backward()
    assert result.objective_RT.item() == pytest.approx(1.2)
    assert result.clipped_RT.tolist() == [True]
    assert ratio.grad is not None
    assert ratio.grad.item() == 0


def test_the_two_trajectory_update() -> None:
    """Loss 0, gradient −0.25, parameters 0.025, p 0.50625, next loss ≈ −0.0125, ratios 1.0125 and 0.9875."""
    z = torch.zeros(2, dtype=F64, requires_grad=True)

    def log_probs() -> Tensor:
        return torch.stack([torch.nn.functional.logsigmoid(z), torch.nn.functional.logsigmoid(-z)])

    old = log_probs().detach()
    loss = trajectory_loss(TEACHING, log_probs(), old, [1.0, -1.0])
    loss.backward()
    assert loss.item() == 0
    assert z.grad is not None
    assert z.grad.tolist() == [-0.25, -0.25]
    with torch.no_grad():
        z -= 0.1 * z.grad
    assert z.tolist() == pytest.approx([0.025, 0.025])
    assert torch.sigmoid(z).tolist() == pytest.approx([0.50625, 0.50625], abs=5e-6)
    after = (log_probs() - old).mean(-1).exp()
    assert after.tolist() == pytest.approx([1.0125, 0.9875], abs=1e-4)
    assert trajectory_loss(TEACHING, log_probs(), old, [1.0, -1.0]).item() == pytest.approx(-0.0125, abs=1e-5)


def test_advantages_of_the_two_trajectories() -> None:
    """Rewards 1 and 0: ±1 with the population's deviation; the walkthrough's teaching values."""
    config = get_objective("dynaweb", advantage={"ddof": 0, "eps": 0.0}).advantage
    rewards = torch.tensor([1.0, 0.0], dtype=F64)
    assert group_advantages(rewards, torch.tensor([0, 0]), config).tolist() == [1.0, -1.0]
