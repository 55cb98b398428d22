"""Trajectories of several rows: two passes over rows give the joint gradient, and ratios per turn do not."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from training.objectives import (
    ObjectiveConfig,
    RowTensors,
    get_objective,
    objective_loss,
    row_weights,
    trajectory_log_ratios,
)
from training.objectives.ratios import log_ratios, trajectory_sums

F64 = torch.float64
VOCABULARY, HIDDEN = 17, 8


class Problem:
    """Random contexts and replies of several turns per trajectory, and a linear softmax policy."""

    def __init__(self, seed: int, turns: Sequence[int]) -> None:
        generator = torch.Generator().manual_seed(seed)
        rng = random.Random(seed)
        self.embedding = torch.randn(VOCABULARY, HIDDEN, generator=generator, dtype=F64)
        self.weight = (torch.randn(HIDDEN, VOCABULARY, generator=generator, dtype=F64) / 2).requires_grad_(True)
        self.old = self.weight.detach() + 0.03 * torch.randn(HIDDEN, VOCABULARY, generator=generator, dtype=F64)
        self.rows = [
            (index, [rng.randrange(VOCABULARY) for _ in range(rng.randint(2, 6))])
            for index, count in enumerate(turns)
            for _ in range(count)
        ]
        self.advantages = [1.0, -1.0, 0.7, -0.7][: len(turns)]
        self.trajectories = len(turns)

    def log_probs(
        self, weight: Tensor, rows: Sequence[tuple[int, list[int]]], pad: float = float("-inf")
    ) -> tuple[Tensor, Tensor]:
        """[R, T] and mask; the first token of a row is its context, masked positions hold `pad`."""
        longest = max(len(tokens) for _, tokens in rows)
        out = torch.full((len(rows), longest), pad, dtype=F64)
        mask = torch.zeros(len(rows), longest, dtype=torch.bool)
        for r, (_, tokens) in enumerate(rows):
            logits = torch.log_softmax(self.embedding[tokens[:-1]] @ weight, -1)
            out[r, 1 : len(tokens)] = logits[torch.arange(len(tokens) - 1), tokens[1:]]
            mask[r, 1 : len(tokens)] = True
        return out, mask

    def joint(self, low: float, high: float) -> Tensor:
        """The textbook objective, every row of every trajectory in one graph."""
        new, mask = self.log_probs(self.weight, self.rows)
        old, _ = self.log_probs(self.old, self.rows)
        terms = []
        for i, advantage in enumerate(self.advantages):
            mine = torch.tensor([index == i for index, _ in self.rows])
            s = (new[mine][mask[mine]] - old[mine][mask[mine]]).mean().exp()
            terms.append(torch.minimum(s * advantage, s.clamp(1 - low, 1 + high) * advantage))
        return -torch.stack(terms).mean()

    def two_passes(self, config: ObjectiveConfig, split: Sequence[Sequence[int]]) -> Tensor:
        """Our way: numbers first, then the rows of each part on their own. Returns the summed loss; gradients add up."""
        new, mask = self.log_probs(self.weight.detach(), self.rows)
        old, _ = self.log_probs(self.old, self.rows)
        index = torch.tensor([i for i, _ in self.rows])
        sums, tokens = trajectory_sums(new, old, mask)
        log_s = trajectory_log_ratios(sums, tokens, index, self.trajectories)
        weights = row_weights(config.aggregation, tokens, index, constant=config.constant)
        total = torch.zeros((), dtype=F64)
        for part in split:
            part_new, part_mask = self.log_probs(self.weight, [self.rows[r] for r in part])
            part_old, _ = self.log_probs(self.old, [self.rows[r] for r in part])
            rows = RowTensors(
                log_probs_RT=part_new,
                mask_RT=part_mask,
                weights_R=weights[list(part)],
                advantages_RT=torch.tensor([[self.advantages[self.rows[r][0]]] for r in part], dtype=F64),
                expert_R=torch.zeros(len(part), dtype=torch.bool),
                old_log_probs_RT=part_old,
                trajectory_log_ratio_R=log_s[index[list(part)]],
            )
            loss = objective_loss(config, rows).total
            loss.backward()
            total += loss.detach()
        return total


def gradient(problem: Problem, loss: Tensor | None = None) -> Tensor:
    if loss is not None:
        loss.backward()
    assert problem.weight.grad is not None
    found = problem.weight.grad.clone()
    problem.weight.grad = None
    return found


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), turns=st.lists(st.integers(1, 4), min_size=2, max_size=4), data=st.data())
def test_any_split_into_rows_gives_the_joint_loss_and_gradient(seed: int, turns: list[int], data: st.DataObject) -> None:
    problem = Problem(seed, turns)
    order = data.draw(st.permutations(range(sum(turns))))
    size = data.draw(st.integers(1, len(order)))
    split = [order[i : i + size] for i in range(0, len(order), size)]
    joint = problem.joint(0.02, 0.03)
    wanted = gradient(problem, joint)
    total = problem.two_passes(get_objective("dynaweb", clip={"low": 0.02, "high": 0.03}), split)
    assert torch.allclose(gradient(problem), wanted, rtol=0, atol=1e-14)
    assert total.item() == pytest.approx(joint.item(), abs=1e-14)


def test_ratios_per_turn_are_another_gradient() -> None:
    """What stacks do that treat each step as a sequence of its own (TRAINING.md: cosine 0.71)."""
    problem = Problem(1, [3, 2, 4, 1])
    wanted = gradient(problem, problem.joint(0.02, 0.03))
    config = get_objective("dynaweb", ratio="turn", aggregation="step_mean", clip={"low": 0.02, "high": 0.03})
    problem.two_passes(config, [range(10)])
    cosine = torch.nn.functional.cosine_similarity(gradient(problem).flatten(), wanted.flatten(), 0)
    assert cosine < 0.95


@pytest.mark.parametrize("level", ["token", "turn", "trajectory"])
@pytest.mark.parametrize("hole", [float("-inf"), float("nan")])
def test_what_a_masked_position_holds_does_not_matter(level: str, hole: float) -> None:
    """−inf in padding makes TRL's and verl's losses NaN (shared oracle)."""
    config = get_objective("dynaweb", ratio=level, kl={"kind": "k3", "beta": 0.1}, expert={"policy": "luffy"})
    mask = torch.tensor([[True, True, False], [True, False, False]])
    found = []
    for filling in (0.0, hole):
        new = torch.tensor([[-0.3, -0.4, filling], [-0.2, filling, filling]], dtype=F64, requires_grad=True)
        rows = RowTensors(
            log_probs_RT=new,
            mask_RT=mask,
            weights_R=torch.tensor([0.25, 0.5], dtype=F64),
            advantages_RT=torch.tensor([[1.0], [-1.0]], dtype=F64),
            expert_R=torch.tensor([False, True]),
            old_log_probs_RT=torch.where(mask, -0.35, filling).to(F64),
            trajectory_log_ratio_R=torch.tensor([0.0, 0.1], dtype=F64),
            behaviour_weights_RT=torch.where(mask, 1.0, filling).to(F64),
            reference_log_probs_RT=torch.where(mask, -0.5, filling).to(F64),
        )
        loss = objective_loss(config, rows)
        loss.total.backward()
        assert new.grad is not None
        found.append((loss.total.item(), new.grad.tolist(), loss.ratio_RT.tolist()))
    assert found[0] == found[1]
    assert all(value == value for value in found[0][1][0])


def test_the_ratio_of_a_trajectory_must_be_given() -> None:
    one = torch.zeros(1, 1, dtype=F64)
    with pytest.raises(ValueError, match="whole trajectory"):
        log_ratios("trajectory", one, one, torch.ones(1, 1, dtype=torch.bool))


def test_a_trajectory_without_tokens_has_ratio_1() -> None:
    log_s = trajectory_log_ratios(torch.tensor([0.4, 0.0]), torch.tensor([2, 0]), torch.tensor([0, 1]), 2)
    assert log_s.tolist() == pytest.approx([0.2, 0.0])
