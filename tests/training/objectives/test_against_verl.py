"""GSPO and the pieces of other methods as verl 0.9.1 has them. Needs `make oracle` (verl cannot be an ordinary extra)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.training.objectives.peers import HIGH, LOW, case, our_loss, their_warnings_ignored, value_and_gradient
from training.objectives import (
    AdvantageConfig,
    KlConfig,
    ObjectiveConfig,
    gae,
    get_objective,
    group_advantages,
    kl_penalty,
    length_adaptive_lambda,
)

pytestmark = pytest.mark.oracle
with their_warnings_ignored():
    core_algos = pytest.importorskip("verl.trainer.ppo.core_algos", reason="verl is not installed: make oracle")
    from verl.workers.config import ActorConfig

F64 = torch.float64


def actor(**more: Any) -> Any:
    return ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, **more)


@pytest.mark.parametrize("seed", range(4))
def test_gspo_is_verls(seed: int) -> None:
    """Value and gradient; theirs differ by 2e-10 from TRL's and ours, from an epsilon in a denominator."""
    data = case(seed)
    config = get_objective("dynaweb", clip={"low": LOW, "high": HIGH})
    advantages = data.advantages_R[:, None].expand(6, 17)

    def verl(new: Tensor, mode: str = "seq-mean-token-mean") -> Any:
        settings = actor(clip_ratio_low=LOW, clip_ratio_high=HIGH)
        return core_algos.compute_policy_loss_gspo(data.old_RT, new, advantages, data.mask_RT.double(), mode, settings)

    ours = value_and_gradient(lambda new: our_loss(config, data, new)[0], data.new_RT)
    theirs = value_and_gradient(lambda new: verl(new)[0], data.new_RT)
    assert ours[0] == pytest.approx(theirs[0], abs=1e-8)
    assert torch.allclose(ours[1], theirs[1], rtol=0, atol=1e-8)
    assert our_loss(config, data, data.new_RT)[1] == pytest.approx(verl(data.new_RT)[1]["actor/pg_clipfrac"], abs=1e-6)
    other = value_and_gradient(lambda new: verl(new, "token-mean")[0], data.new_RT)
    assert not torch.allclose(ours[1], other[1], rtol=0, atol=1e-4)  # verl's default is another objective


def test_decoupled_dual_clip_over_a_constant_is_asyncwebrls() -> None:
    data = case(7, spread=0.3)
    behaviour = data.old_RT + 0.3 * torch.randn(6, 17, generator=torch.Generator().manual_seed(8), dtype=F64)
    weights = (data.old_RT - behaviour).exp()  # π_prox / π_behave; old is π_prox
    settings = actor(clip_ratio=0.2, clip_ratio_low=0.2, clip_ratio_high=0.2, clip_ratio_c=3.0)
    settings.global_batch_info["loss_scale_factor"] = 10
    config = ObjectiveConfig(name="decoupled", aggregation="constant", constant=10, clip={"low": 0.2, "high": 0.2, "dual": 3.0})  # type: ignore[arg-type]
    advantages = data.advantages_R[:, None].expand(6, 17)

    def verl(new: Tensor) -> Tensor:
        loss: Tensor = core_algos.compute_policy_loss_vanilla(
            data.old_RT, new, advantages, data.mask_RT.double(), "seq-mean-token-sum-norm", settings, rollout_is_weights=weights
        )[0]
        return loss

    ours = value_and_gradient(lambda new: our_loss(config, data, new, behaviour_weights_RT=weights)[0], data.new_RT)
    theirs = value_and_gradient(verl, data.new_RT)
    assert ours[0] == pytest.approx(theirs[0], abs=1e-12)
    assert torch.allclose(ours[1], theirs[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("aggregation", "mode", "batch_size"),
    [
        ("turn_sum", "seq-mean-token-mean", 2),
        ("step_mean", "seq-mean-token-mean", None),
        ("token_mean", "token-mean", None),
    ],
)
def test_averages_over_turns(aggregation: Any, mode: str, batch_size: int | None) -> None:
    """Six turns of two trajectories: OpenWebRL, ZeroGUI, and verl's default."""
    data = case(3, spread=0.3)
    settings = ObjectiveConfig(name="turns", aggregation=aggregation)
    ratio = (data.new_RT - data.old_RT).exp()
    advantages = data.advantages_R[:, None]
    per_token = -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
    more = {} if batch_size is None else {"global_batch_size": batch_size}
    theirs = core_algos.agg_loss(per_token, data.mask_RT.double(), mode, **more)
    ours, _ = our_loss(settings, data, data.new_RT, torch.tensor([0, 0, 1, 1, 1, 1]))
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-7)


@pytest.mark.parametrize("kind", ["k1", "k2", "k3"])
def test_kl_estimators_are_verls(kind: Any) -> None:
    data = case(5, spread=0.5)
    ours = kl_penalty(data.new_RT, data.old_RT, data.advantages_R[:, None], KlConfig(kind=kind, beta=1.0))
    assert torch.allclose(ours, core_algos.kl_penalty(data.new_RT, data.old_RT, kind), rtol=0, atol=1e-12)


@pytest.mark.parametrize("lam", [1.0, 0.95, "adaptive"])
def test_gae_is_verls(lam: Any) -> None:
    """Also over text of the page between the policy's tokens. verl whitens its advantages, so returns are compared."""
    data = case(6)
    lengths = data.mask_RT.sum(-1).double()
    values = torch.rand(6, 17, generator=torch.Generator().manual_seed(1), dtype=F64)
    rewards = torch.zeros(6, 17, dtype=F64)
    for row in range(6):
        rewards[row, int(data.mask_RT[row].nonzero().max())] = float(row % 2)
    for row in range(6):
        own = length_adaptive_lambda(lengths[row : row + 1], 0.5) if lam == "adaptive" else lam
        one = slice(row, row + 1)
        mask = data.mask_RT[one]
        ours = gae(rewards[one], values[one], mask, 0.9, own) + values[one]
        number = own.item() if isinstance(own, Tensor) else own
        _, theirs = core_algos.compute_gae_advantage_return(rewards[one], values[one], mask.double(), 0.9, number)
        assert torch.allclose(ours[mask], theirs[mask], rtol=0, atol=1e-12)


def test_group_advantages_are_verls_but_for_the_singleton() -> None:
    rewards = torch.tensor([1.0, 0.0, 1.0, 1.0, 1.0])
    names = np.array(["a", "a", "b", "c", "c"])
    per_token = torch.zeros(5, 3)
    per_token[:, -1] = rewards
    theirs, _ = core_algos.compute_grpo_outcome_advantage(per_token, torch.ones(5, 3), names)
    ours = group_advantages(rewards, torch.tensor([0, 0, 1, 2, 2]), AdvantageConfig(ddof=1, eps=1e-6))
    assert ours.tolist() == pytest.approx([theirs[0, 0].item(), theirs[1, 0].item(), 0, 0, 0])
    assert theirs[2, 0].item() == pytest.approx(1.0, abs=1e-5)  # alone, it keeps its raw reward
    assert ours[2].item() == 0


def test_a_masked_minus_infinity_is_nan_there() -> None:
    data = case(0)
    holes = torch.where(data.mask_RT, data.new_RT, float("-inf"))
    loss = core_algos.compute_policy_loss_gspo(
        data.old_RT, holes, data.advantages_R[:, None].expand(6, 17), data.mask_RT.double(), "seq-mean-token-mean", actor()
    )[0]
    assert math.isnan(loss.item())
