"""GSPO and DPO as TRL has them: value, gradient and clip fraction in float64."""

from __future__ import annotations

import math
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.training.objectives.peers import HIGH, LOW, Case, case, our_loss, their_warnings_ignored, value_and_gradient
from training.objectives import dpo_loss, get_objective

F64 = torch.float64

with their_warnings_ignored():
    from trl.trainer.grpo_trainer import GRPOTrainer


class OneProcess:
    """The part of an Accelerator that the loss asks for."""

    num_processes = 1
    sync_gradients = True

    def gather(self, value: Any) -> Any:
        return value

    gather_for_metrics = gather

    def reduce(self, value: Any, reduction: str = "sum") -> Any:
        return value


def trl_loss(data: Case, new_RT: Tensor, metrics: dict[str, list[float]], level: str = "sequence") -> Tensor:
    """`GRPOTrainer._compute_loss` itself, with the model's forward pass replaced by the given log-probabilities."""
    rows, tokens = new_RT.shape
    trainer = SimpleNamespace(
        importance_sampling_level=level, loss_type="grpo", beta=0.0, epsilon_low=LOW, epsilon_high=HIGH,
        args=SimpleNamespace(delta=None, use_bias_correction_kl=False, steps_per_generation=1),
        top_entropy_quantile=1.0, off_policy_mask_threshold=None, aux_loss_enabled=False, use_vllm=False,
        vllm_importance_sampling_correction=False, current_gradient_accumulation_steps=1,
        model=SimpleNamespace(training=True), _entropy_bonus_enabled=False, accelerator=OneProcess(),
        max_completion_length=tokens, _metrics={"train": metrics},
        _get_per_token_logps_and_entropies=lambda *_args, **_more: (new_RT, torch.zeros_like(new_RT), None),
    )  # fmt: skip
    mask = data.mask_RT.double()
    inputs = {
        "prompt_ids": torch.zeros(rows, 2, dtype=torch.long),
        "prompt_mask": torch.ones(rows, 2),
        "completion_ids": torch.zeros(rows, tokens, dtype=torch.long),
        "completion_mask": torch.ones(rows, tokens),
        "tool_mask": mask,
        "advantages": data.advantages_R,
        "old_per_token_logps": data.old_RT,
        "num_items_in_batch": mask.sum(),
    }
    loss: Tensor = GRPOTrainer._compute_loss(trainer, None, inputs)
    return loss


@pytest.mark.parametrize("seed", range(4))
def test_gspo_is_trls(seed: int) -> None:
    data = case(seed)
    metrics: dict[str, list[float]] = defaultdict(list)
    config = get_objective("dynaweb", clip={"low": LOW, "high": HIGH})
    theirs = value_and_gradient(lambda new: trl_loss(data, new, metrics), data.new_RT)
    ours = value_and_gradient(lambda new: our_loss(config, data, new)[0], data.new_RT)
    assert ours[0] == pytest.approx(theirs[0], abs=1e-14)
    assert torch.allclose(ours[1], theirs[1], rtol=0, atol=1e-14)
    clipped_rows = our_loss(config, data, data.new_RT)
    assert metrics["clip_ratio/region_mean"][0] > 0
    assert clipped_rows[1] > 0


@pytest.mark.parametrize("seed", range(2))
def test_grpo_per_token_is_trls(seed: int) -> None:
    data = case(seed)
    config = get_objective("dynaweb", ratio="token", clip={"low": LOW, "high": HIGH})
    theirs = value_and_gradient(lambda new: trl_loss(data, new, defaultdict(list), "token"), data.new_RT)
    ours = value_and_gradient(lambda new: our_loss(config, data, new)[0], data.new_RT)
    assert ours[0] == pytest.approx(theirs[0], abs=1e-14)
    assert torch.allclose(ours[1], theirs[1], rtol=0, atol=1e-14)


def test_a_masked_minus_infinity_is_nan_there_and_nothing_here() -> None:
    data = case(0)
    holes = torch.where(data.mask_RT, data.new_RT, float("-inf"))
    config = get_objective("dynaweb", clip={"low": LOW, "high": HIGH})
    assert math.isnan(trl_loss(data, holes, defaultdict(list)).item())
    assert our_loss(config, data, holes)[0].item() == our_loss(config, data, data.new_RT)[0].item()


def test_the_first_dpo_loss_is_log_2() -> None:
    """Policy and reference are still equal, whatever the pairs are."""
    chosen, rejected = torch.tensor([-3.0, -7.0], dtype=F64), torch.tensor([-2.0, -9.0], dtype=F64)
    assert dpo_loss(chosen, rejected, chosen, rejected, 0.1).tolist() == pytest.approx([math.log(2)] * 2)
    better = dpo_loss(chosen + 1, rejected, chosen, rejected, 0.1)
    assert better.tolist() == pytest.approx([math.log1p(math.exp(-0.1))] * 2)
