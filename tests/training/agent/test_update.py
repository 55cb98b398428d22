"""The update itself, on a real (tiny) Llama: any split gives the same gradient, and it is the textbook one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.training.agent.support import batch, tiny_llama
from training.agent.grouping import Batch
from training.agent.log_probs import collate, score, split
from training.agent.update import ACTIVATION_BYTES, BYTES_PER_CELL, Updater, UpdateSettings, fitting_cells, self_ratio_noise
from training.objectives import ObjectiveConfig, get_objective

F64 = torch.float64
GSPO = get_objective("dynaweb", clip={"low": 0.05, "high": 0.05})
ACCELERATOR = Accelerator(cpu=True)


def updater(model: Any, objective: ObjectiveConfig = GSPO, lr: float = 0.05, **more: Any) -> Updater:
    chosen = {"max_grad_norm": 1e9, "micro_batch_cells": 60, **more}
    reference = chosen.pop("reference", None)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    return Updater(model, optimizer, ACCELERATOR, objective, UpdateSettings(**chosen), reference)


def weights(model: Any) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def change(data: Batch, **more: Any) -> Tensor:
    """How an update moves the weights."""
    model = tiny_llama()
    before = weights(model)
    updater(model, **more).run(data)
    return weights(model) - before


def with_copies(data: Batch) -> Batch:
    """Every trajectory twice, the second time with another advantage, and with a mask of its own on its first row."""
    count = len(data.advantages_N)
    copies = [replace(row, trajectory=f"{row.trajectory}-copy") for row in data.rows]
    copies[0] = replace(copies[0], mask=(True,) * len(copies[0].mask))
    return Batch(
        (*data.rows, *copies),
        (*data.trajectory_R, *(number + count for number in data.trajectory_R)),
        (*data.advantages_N, *(0.5 - advantage for advantage in data.advantages_N)),
        1,
    )


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 99), turns=st.lists(st.integers(1, 3), min_size=2, max_size=4), cells=st.integers(1, 400))
def test_any_micro_batches_give_the_same_gradient(seed: int, turns: list[int], cells: int) -> None:
    """Two inner epochs on two mini-batches: ratios leave 1, some are clipped."""
    data = batch(seed, turns)
    more = {"inner_epochs": 2, "minibatches": 2}
    whole = change(data, micro_batch_cells=10**6, **more)
    parts = change(data, micro_batch_cells=cells, **more)
    assert torch.allclose(parts, whole, rtol=0, atol=1e-12)
    assert whole.abs().max() > 1e-6


def joint_loss(model: Any, old: Any, data: Batch, low: float, high: float) -> Tensor:
    """GSPO as the paper writes it, row by row without padding, all in one graph."""
    terms = []
    for number, advantage in enumerate(data.advantages_N):
        differences = []
        for row, index in zip(data.rows, data.trajectory_R, strict=True):
            if index == number:
                ids = torch.tensor([[*row.prompt_ids, *row.response_ids]])
                start = len(row.prompt_ids)
                at = torch.arange(start - 1, ids.shape[1] - 1)
                new_T = model(input_ids=ids).logits[0].log_softmax(-1)[at, ids[0, start:]]
                old_T = old(input_ids=ids).logits[0].log_softmax(-1)[at, ids[0, start:]].detach()
                differences.append((new_T - old_T)[torch.tensor(row.mask)])
        s = torch.cat(differences).mean().exp()
        terms.append(torch.minimum(s * advantage, s.clamp(1 - low, 1 + high) * advantage))
    return -torch.stack(terms).mean()


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("cells", [60, 10**6])
def test_two_inner_steps_are_those_of_the_textbook(cells: int, copied: bool) -> None:
    """The first at ratio 1, the second with ratios of whole trajectories, each against the joint graph, which computes every row
    by itself; in many micro-batches with a pass before, and in one without; with rows that are computed once for two."""
    data, model, old, lr = batch(3, [2, 3, 1]), tiny_llama(), tiny_llama(), 0.05
    if copied:
        data = with_copies(data)
    expected = tiny_llama()
    for _ in range(2):
        loss = joint_loss(expected, old, data, 0.05, 0.05)
        gradients = torch.autograd.grad(loss, list(expected.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(expected.parameters(), gradients, strict=True):
                parameter -= lr * gradient
    statistics = updater(model, inner_epochs=2, lr=lr, micro_batch_cells=cells).run(data)
    rounding = 1e-7 if copied else 1e-12  # Llama's norm computes in float32: gradients of copies are added before it, not after
    assert torch.allclose(weights(model), weights(expected), rtol=0, atol=rounding)
    assert statistics.steps[0].sums["clipped"] == 0
    assert (statistics.steps[0].peaks["ratio_max"], statistics.steps[1].peaks["ratio_max"] > 1.001) == (1.0, True)
    assert statistics.cells == statistics.computed * (2 if copied else 1)


def test_the_update_raises_what_was_good_and_lowers_what_was_bad() -> None:
    data = Batch(batch(5, [1, 1]).rows, (0, 1), (1.0, -1.0), 1)
    model = tiny_llama()

    def log_probs() -> list[float]:
        return [
            score(model, collate(data.rows, [place]), 1.0).log_probs_RT[0][torch.tensor(data.rows[place].mask)].mean().item()
            for place in (0, 1)
        ]

    before = log_probs()
    updater(model).run(data)
    after = log_probs()
    assert after[0] > before[0]
    assert after[1] < before[1]


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_padding_changes_no_log_probability(temperature: float) -> None:
    """Among others, alone, and straight from the model: the same number, at the sampler's temperature."""
    model, data = tiny_llama(), batch(1, [3, 2])
    together = score(model, collate(data.rows, range(5)), temperature)
    for place, row in enumerate(data.rows):
        ids = torch.tensor([[*row.prompt_ids, *row.response_ids]])
        logits = model(input_ids=ids).logits[0, len(row.prompt_ids) - 1 : -1] / temperature
        wanted = logits.log_softmax(-1).gather(-1, torch.tensor(row.response_ids)[:, None])[:, 0]
        count = len(row.response_ids)
        assert torch.allclose(together.log_probs_RT[place, :count], wanted, rtol=0, atol=1e-12)
        entropy = -(logits.log_softmax(-1) * logits.softmax(-1)).sum(-1)
        assert torch.allclose(together.entropy_RT[place, :count], entropy, rtol=0, atol=1e-12)


@given(st.integers(0, 50), st.integers(1, 300))
def test_every_row_is_in_one_micro_batch(seed: int, cells: int) -> None:
    data = with_copies(batch(seed, [3, 1, 4]))
    parts = split(data.rows, range(len(data.rows)), cells)
    assert sorted(place for part in parts for place in part) == list(range(len(data.rows)))
    for part in parts:
        found = collate(data.rows, part)
        assert found.cells == 2 * found.computed  # copies stay together
        assert len(found.input_ids_SL) == 1 or found.computed <= cells


def test_a_masked_token_is_attended_to_but_not_trained_on() -> None:
    """The loss mask is no attention mask (TRL#4974): changing such a token changes what follows it."""
    row = next(row for row in batch(7, [4]).rows if len(row.response_ids) > 2)
    assert row.mask[1] is False
    changed = (row.response_ids[0], (row.response_ids[1] + 1) % 29, *row.response_ids[2:])
    other = replace(row, response_ids=changed)
    model = tiny_llama()
    a, b = (score(model, collate([one], [0]), 1.0).log_probs_RT[0] for one in (row, other))
    assert a[0] == b[0]
    assert a[2] != b[2]


def test_the_kl_penalty_pulls_towards_the_reference() -> None:
    data = Batch(batch(5, [1, 1]).rows, (0, 1), (0.0, 0.0), 1)
    objective = get_objective("dynaweb", kl={"kind": "k2", "beta": 0.5})
    assert change(data, objective=objective, reference=tiny_llama(0)).abs().max() == 0
    assert change(data, objective=objective, reference=tiny_llama(1)).abs().max() > 1e-6


def test_recorded_experts_have_their_own_denominator() -> None:
    """Their ratio is not 1 at the first step; the policy's own rows are."""
    data = batch(4, [2, 2])
    rows = tuple(replace(row, expert=row.trajectory == "t1") for row in data.rows)
    mixed = Batch(rows, data.trajectory_R, (1.0, 1.0), 1)
    objective = get_objective("dynaweb", clip={"low": None, "high": None}, expert={"policy": "recorded"})
    statistics = updater(tiny_llama(), objective).run(mixed)
    summary = statistics.summary()
    assert summary["ratio_min"] != 1.0 or summary["ratio_max"] != 1.0
    assert 1.0 in (summary["ratio_min"], summary["ratio_max"])
    snapshot = updater(tiny_llama(), get_objective("dynaweb")).run(mixed).summary()
    assert (snapshot["ratio_min"], snapshot["ratio_max"]) == (1.0, 1.0)


def test_a_gradient_that_is_not_finite_leaves_the_weights_alone() -> None:
    model, data = tiny_llama(), batch(5, [1, 1])
    broken = Batch(data.rows, data.trajectory_R, (float("inf"), 1.0), 1)
    before = weights(model)
    summary = updater(model).run(broken).summary()
    assert summary["skipped_steps"] == 1
    assert torch.equal(weights(model), before)


def test_the_models_own_attention_is_back_after_an_update() -> None:
    """Rollouts, checkpoints and evaluations between updates take it."""
    model = tiny_llama()
    before = model.config._attn_implementation
    updater(model).run(batch(5, [1, 1]))
    assert model.config._attn_implementation == before


def test_nothing_to_train_on_changes_nothing() -> None:
    model = tiny_llama()
    before = weights(model)
    assert updater(model).run(Batch()).summary() == {}
    assert torch.equal(weights(model), before)


def test_the_gap_to_the_sampler_is_measured() -> None:
    """Log-probabilities of another temperature are told from those of the weights in hand."""
    model, data = tiny_llama(), batch(6, [2, 1])

    def sampled(temperature: float) -> Batch:
        rows = []
        for place, row in enumerate(data.rows):
            scores = score(model, collate(data.rows, [place]), temperature).log_probs_RT[0]
            rows.append(replace(row, sampler_log_probs=tuple(scores.tolist())))
        return Batch(tuple(rows), data.trajectory_R, data.advantages_N, 1)

    assert updater(model, lr=0.0).run(sampled(1.0)).sampler_gap == pytest.approx(0, abs=1e-6)
    gap = updater(model, lr=0.0).run(sampled(0.5)).sampler_gap
    assert gap is not None
    assert gap > 0.1


def test_float32_noise_is_below_the_clip_band_and_bfloat16_is_measured() -> None:
    data = batch(8, [4, 4, 4])
    single = self_ratio_noise(updater(tiny_llama(dtype=torch.float32)), data)
    half = self_ratio_noise(updater(tiny_llama(dtype=torch.bfloat16)), data)
    assert single < 1e-5
    assert half > single


def test_statistics_say_what_was_trained() -> None:
    data = batch(9, [2, 2], experts=[1])
    summary = updater(tiny_llama()).run(data).summary()
    tokens = sum(row.tokens for row in data.rows)
    expert = sum(row.tokens for row in data.rows if row.expert)
    assert summary["trained_tokens"] == tokens
    assert summary["expert_share"] == pytest.approx(expert / tokens)
    assert summary["clip_fraction"] == 0
    assert 0 < summary["entropy"] < 3.4  # ln 29 = 3.37


def test_a_larger_model_takes_fewer_positions_at_once() -> None:
    """SmolLM2-135M in rows of 16,384 positions asked for more than the 24 GiB of a laptop, and was killed."""

    def cells(width: int, layers: int) -> int:
        return fitting_cells(SimpleNamespace(config=SimpleNamespace(hidden_size=width, num_hidden_layers=layers)))

    assert cells(256, 8) == cells(1, 1) == 16_384
    assert 3_000 < cells(576, 30) < 4_096
    assert cells(576, 30) * 576 * 30 * BYTES_PER_CELL <= ACTIVATION_BYTES
    assert cells(8_192, 80) == 512
    assert fitting_cells(object()) == 16_384
