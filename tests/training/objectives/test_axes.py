"""The axes one by one: weights, advantages, KL, experts, filters, configuration."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from harness.errors import UsageError
from training.objectives import (
    AdvantageConfig,
    ClipConfig,
    KlConfig,
    RowTensors,
    clipped_surrogate,
    decide,
    gae,
    get_objective,
    group_advantages,
    kl_penalty,
    length_adaptive_lambda,
    objective_loss,
    row_weights,
    webrl_advantages,
)

F64 = torch.float64
TOKENS = torch.tensor([2, 4, 3, 0, 1])
TRAJECTORY = torch.tensor([0, 0, 1, 1, 2])


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("trajectory_mean", [1 / 18, 1 / 18, 1 / 9, 0, 1 / 3]),
        ("turn_sum", [1 / 6, 1 / 12, 1 / 9, 0, 1 / 3]),
        ("constant", [1 / 30, 1 / 30, 1 / 30, 0, 1 / 30]),
        ("step_mean", [1 / 8, 1 / 16, 1 / 12, 0, 1 / 4]),
        ("token_mean", [0.1, 0.1, 0.1, 0, 0.1]),
        ("three_level", [1 / 12, 1 / 24, 1 / 9, 0, 1 / 3]),
    ],
)
def test_weights_by_hand(kind: Any, wanted: list[float]) -> None:
    """Three trajectories of rows with 2 and 4, 3 and none, 1 token; the row without tokens counts nowhere."""
    assert row_weights(kind, TOKENS, TRAJECTORY, constant=10).tolist() == pytest.approx(wanted)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=12))
def test_the_means_are_means(rows: list[tuple[int, int]]) -> None:
    """Weights times tokens add up to 1, unless nothing has tokens."""
    tokens = torch.tensor([count for count, _ in rows])
    trajectory = torch.tensor([index for _, index in rows])
    for kind in ("trajectory_mean", "step_mean", "token_mean", "three_level"):
        total = (row_weights(kind, tokens, trajectory) * tokens).sum().item()  # type: ignore[arg-type]
        assert total == pytest.approx(1.0 if tokens.sum() else 0.0)


@pytest.mark.parametrize("ddof", [0, 1])
def test_z_scores(ddof: Any) -> None:
    rewards = torch.tensor([1.0, 0, 0, 1, 5, 0.5, 0.5], dtype=F64)
    group = torch.tensor([0, 0, 0, 0, 1, 2, 2])
    found = group_advantages(rewards, group, AdvantageConfig(ddof=ddof, eps=0.1))
    scale = math.sqrt(4 * 0.25 / (4 - ddof)) + 0.1
    assert found[:4].tolist() == pytest.approx([0.5 / scale, -0.5 / scale, -0.5 / scale, 0.5 / scale])
    assert found[4:].tolist() == [0, 0, 0]  # alone; equal rewards


@given(st.floats(-10, 10), st.integers(1, 9))
def test_equal_rewards_have_no_advantage_whatever_rounding_does(reward: float, size: int) -> None:
    rewards = torch.full((size,), reward)
    assert group_advantages(rewards, torch.zeros(size, dtype=torch.long), AdvantageConfig(eps=0.0)).tolist() == [0.0] * size


def test_experts_outside_the_baseline_get_their_reward_minus_the_mean() -> None:
    rewards = torch.tensor([1.0, 0, 0, 0, 1, 0, 0], dtype=F64)
    group = torch.tensor([0, 0, 0, 0, 1, 1, 1])
    inside = torch.tensor([False, True, True, True, False, True, True])
    found = group_advantages(rewards, group, AdvantageConfig(), inside)
    assert found.tolist() == [1.0, 0, 0, 0, 1.0, 0, 0]  # not 1/eps
    assert group_advantages(rewards[:1], group[:1], AdvantageConfig(), inside[:1]).tolist() == [0.0]  # nothing to compare with


def test_other_advantages() -> None:
    rewards, group = torch.tensor([1.0, 0, 0.5]), torch.tensor([0, 0, 0])
    assert group_advantages(rewards, group, AdvantageConfig(kind="centred")).tolist() == [0.5, -0.5, 0.0]
    assert group_advantages(rewards, group, AdvantageConfig(kind="reward")).tolist() == [1.0, 0.0, 0.5]


def test_gae_with_lambda_1_is_the_return_minus_the_value() -> None:
    rewards = torch.tensor([[0.0, 0, 0, 1, 0]], dtype=F64)
    values = torch.tensor([[0.1, 9, 0.4, 0.7, 9]], dtype=F64)
    mask = torch.tensor([[True, False, True, True, False]])
    assert gae(rewards, values, mask, 1.0, 1.0)[0].tolist() == pytest.approx([0.9, 0, 0.6, 0.3, 0])


def test_length_adaptive_lambda_stays_in_its_range() -> None:
    """The paper's formula is −2.3 for 6 tokens."""
    assert length_adaptive_lambda(torch.tensor([0.0, 6.0, 20.0, 40.0])).tolist() == pytest.approx([0, 0, 0, 0.5])


def test_webrl_advantages_by_hand() -> None:
    values = torch.tensor([0.2, 0.6], dtype=F64)
    assert webrl_advantages(values, 1.0).tolist() == pytest.approx([0.5 * 0.4 + 0.5 * 0.8, 0.5 * 0.4 + 0.5 * 0.4])
    discounted = webrl_advantages(values, 1.0, gamma=0.9)
    assert discounted.tolist() == pytest.approx([0.5 * (0.54 - 0.2) + 0.5 * (0.9 - 0.2), 0.4])


def test_dual_clip_limits_what_a_failure_can_do() -> None:
    ratio = torch.tensor([5.0, 5.0, 0.5], dtype=F64)
    advantage = torch.tensor([-1.0, 1.0, -1.0], dtype=F64)
    result = clipped_surrogate(ratio, advantage, ClipConfig(low=0.2, high=0.2, dual=3.0))
    assert result.objective_RT.tolist() == pytest.approx([-3.0, 1.2, -0.8])
    assert result.clipped_RT.tolist() == [True, True, True]


def test_without_bounds_nothing_is_clipped() -> None:
    result = clipped_surrogate(torch.tensor([9.0]), torch.tensor([2.0]), ClipConfig(low=None, high=None))
    assert (result.objective_RT.item(), result.clipped_RT.item()) == (18.0, False)


def test_the_capped_kl_pulls_no_harder_than_the_advantage_pushes() -> None:
    new = torch.tensor([[-1.0, -9.0]], dtype=F64, requires_grad=True)
    reference = torch.tensor([[-1.5, -1.0]], dtype=F64)
    config = KlConfig(kind="k2", beta=0.1, cap_at_advantage=True)
    penalty = kl_penalty(new, reference, torch.tensor([[0.2]], dtype=F64), config)
    penalty.sum().backward()
    assert penalty.tolist() == [pytest.approx([0.1 * 0.125, 0.1 * 32])]
    assert new.grad is not None
    assert new.grad.tolist() == [pytest.approx([0.05, -0.2])]


def rows(new: Tensor, advantage: float, **more: Any) -> RowTensors:
    fields: dict[str, Any] = {
        "log_probs_RT": new,
        "mask_RT": torch.ones_like(new, dtype=torch.bool),
        "weights_R": torch.ones(new.shape[0], dtype=F64) / new.shape[1],
        "advantages_RT": torch.full((new.shape[0], 1), advantage, dtype=F64),
        "expert_R": torch.zeros(new.shape[0], dtype=torch.bool),
    }
    return RowTensors(**{**fields, **more})


def test_the_first_step_has_ratio_1_and_a_gradient_all_the_same() -> None:
    """Old := detach(new). The loss is −A, its gradient that of −A·mean log π ("the ratio is always 1" is no fault)."""
    new = torch.tensor([[-0.5, -2.0]], dtype=F64, requires_grad=True)
    loss = objective_loss(get_objective("dynaweb"), rows(new, 2.0))
    loss.total.backward()
    assert new.grad is not None
    assert (loss.total.item(), new.grad.tolist(), loss.ratio_RT.tolist()) == (-2.0, [[-1.0, -1.0]], [[1.0, 1.0]])


def test_likelihood_is_the_cross_entropy_of_successes() -> None:
    """WebGym eq. 1: failures weigh 0."""
    new = torch.tensor([[-0.5, -2.0], [-1.0, -1.0]], dtype=F64)
    config = get_objective("dynaweb", form="likelihood", advantage={"kind": "reward"}, aggregation="constant")
    advantages = torch.tensor([[1.0], [0.0]], dtype=F64)
    weights = row_weights("constant", torch.tensor([2, 2]), torch.tensor([0, 1]))
    loss = objective_loss(config, rows(new, 1.0, advantages_RT=advantages, weights_R=weights))
    assert loss.total.item() == pytest.approx(2.5 / 2)


def test_regression_has_the_gradient_of_webrl() -> None:
    """∇(β·logratio − A)² = 2β(β·logratio − A)·∇log π."""
    new = torch.tensor([[-0.5, -2.0]], dtype=F64, requires_grad=True)
    reference = torch.tensor([[-0.7, -1.5]], dtype=F64)
    config = get_objective("dynaweb", form="regression", beta=0.3, aggregation="step_mean")
    loss = objective_loss(config, rows(new, 0.4, reference_log_probs_RT=reference))
    loss.total.backward()
    slope = 2 * 0.3 * (0.3 * -0.3 - 0.4)
    assert loss.total.item() == pytest.approx((0.3 * -0.3 - 0.4) ** 2)
    assert new.grad is not None
    assert new.grad.tolist() == [pytest.approx([slope, slope])]


def test_expert_rows_of_luffy_and_sft() -> None:
    new = torch.tensor([[-0.5, -2.0]], dtype=F64, requires_grad=True)
    expert = torch.tensor([True])
    p = new.detach().exp()
    luffy = objective_loss(get_objective("dynaweb", expert={"policy": "luffy"}), rows(new, 2.0, expert_R=expert))
    assert luffy.total.item() == pytest.approx(-2.0 * (p / (p + 0.1)).mean().item())
    sft = objective_loss(
        get_objective("dynaweb", expert={"policy": "sft", "sft_coefficient": 0.5}), rows(new, 2.0, expert_R=expert)
    )
    assert sft.total.item() == pytest.approx(0.5 * 1.25)


def test_a_snapshot_expert_is_clipped_like_everyone() -> None:
    new = torch.tensor([[-0.5]], dtype=F64)
    loss = objective_loss(
        get_objective("dynaweb"),
        rows(new, 1.0, expert_R=torch.tensor([True]), trajectory_log_ratio_R=torch.tensor([0.1], dtype=F64)),
    )
    assert loss.clipped_RT.tolist() == [[True]]
    assert loss.total.item() == pytest.approx(-(1 + 4e-4))


def test_the_kl_part_is_told_apart() -> None:
    new, reference = torch.tensor([[-0.5]], dtype=F64), torch.tensor([[-1.0]], dtype=F64)
    config = get_objective("dynaweb", kl={"kind": "k1", "beta": 0.2})
    loss = objective_loss(config, rows(new, 1.0, reference_log_probs_RT=reference))
    assert (loss.kl.item(), loss.total.item()) == (pytest.approx(0.1), pytest.approx(-0.9))
    with pytest.raises(ValueError, match="reference"):
        objective_loss(config, rows(new, 1.0))


@pytest.mark.parametrize(
    ("rewards", "keep", "drop", "resample", "replay"),
    [
        ([1.0, 0.0], "use", "use", "use", "use"),
        ([0.0, 0.0], "use", "drop", "resample", "replay"),
        ([1.0, 1.0], "use", "drop", "resample", "use"),
        ([1.0], "use", "drop", "resample", "use"),
        ([], "drop", "drop", "resample", "drop"),
    ],
)
def test_filters(rewards: list[float], keep: str, drop: str, resample: str, replay: str) -> None:
    found = [decide(rewards, strategy) for strategy in ("keep", "drop", "resample", "replay")]  # type: ignore[arg-type]
    assert found == [keep, drop, resample, replay]


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("gspo", {}, "objectives: dynaweb"),
        ("dynaweb", {"aggregation": "step_mean"}, "no objective of its own"),
        ("dynaweb", {"kl": {"kind": "k2"}}, "go together"),
        ("dynaweb", {"kl": {"kind": "k3", "beta": 0.1, "cap_at_advantage": True}}, "k2 only"),
        ("dynaweb", {"clip": {"lower": 0.1}}, "clip.lower"),
        ("dynaweb", {"expert": {"policy": "teacher"}}, "expert.policy"),
    ],
)
def test_what_makes_no_sense_is_one_line(name: str, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as error:
        get_objective(name, **changes)
    assert says in f"{error.value} {error.value.fix}"


def test_changes_keep_what_they_do_not_name() -> None:
    changed = get_objective("dynaweb", clip={"low": 0.1})
    assert (changed.clip.low, changed.clip.high, changed.kl.kind) == (0.1, 4e-4, "none")
