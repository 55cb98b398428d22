"""Who stands in a group, who counts, and who is compared with whom."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.agent.support import sample, task
from training.agent.grouping import Grouping
from training.agent.ledger import Ledger, rollout_cost
from training.agent.mixture import GroupRequest, MixtureConfig, plan
from training.agent.replay import PER_TASK, ReplayBuffer
from training.agent.rows import RowLimits, Sample, prepare
from training.objectives import get_objective

LIMITS = RowLimits(max_row_tokens=10, vocabulary=29)


def request(key: str = "g", size: int = 8) -> GroupRequest:
    return GroupRequest(key, task(), size, 0)


def pool(count: int) -> dict[str, list[Sample]]:
    return {"t": [sample("", f"e{k}", source="expert") for k in range(count)]}


@given(st.floats(0, 1), st.integers(0, 3), st.integers(1, 4), st.integers(0, 1000))
def test_a_group_has_its_size_and_every_draw_is_accounted_for(ratio: float, experts: int, copies: int, seed: int) -> None:
    config = MixtureConfig(real_ratio=ratio, max_copies=copies)
    plans, log = plan([request("a"), request("b", 5)], pool(experts), config, random.Random(seed))
    assert [one.request.size + len(one.experts) for one in plans] == [8, 5]
    assert log.places == 13
    assert log.asked == log.replaced + log.capped + log.without_expert
    assert log.replaced == sum(len(one.experts) for one in plans)
    for one in plans:
        names = [expert.name for expert in one.experts]
        assert len(set(names)) == len(names) <= experts * copies
        assert all(expert.expert and expert.group == one.request.key for expert in one.experts)


def test_real_ratio_0_and_1() -> None:
    none, _ = plan([request()], pool(1), MixtureConfig(real_ratio=0.0), random.Random(0))
    every, log = plan([request()], pool(1), MixtureConfig(real_ratio=1.0, max_copies=8), random.Random(0))
    assert (none[0].request.size, every[0].request.size, log.replaced) == (8, 0, 8)


def test_half_of_the_places_are_replaced_where_nothing_caps_it() -> None:
    requests = [request(str(k)) for k in range(200)]
    _, log = plan(requests, pool(1), MixtureConfig(real_ratio=0.5, max_copies=8), random.Random(1))
    assert log.replaced / log.places == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": "error", "reward": None}, "error"),
        ({"status": "blocked", "reward": None}, "blocked"),
        ({"status": "inconclusive", "reward": None}, "inconclusive"),
        ({"turns": 0}, "no_steps"),
        ({"tokens": None}, "no_token_ids"),
        ({"prompt": None}, "no_token_ids"),
        ({"logprobs": (-1.0,)}, "uneven_logprobs"),
        ({"prompt": (1,) * 8}, "too_long"),
        ({"tokens": (), "logprobs": ()}, "empty_row"),
        ({"tokens": (5, 29, 2)}, "foreign_tokens"),
        ({"expert": True}, "not_encodable"),
    ],
)
def test_why_a_sample_is_invalid(changes: dict[str, Any], reason: str) -> None:
    assert prepare(sample("g", "s", **changes), LIMITS).invalid == reason


def test_rows_keep_the_samplers_ids() -> None:
    rows = prepare(sample("g", "s", turns=2), LIMITS).rows
    assert [row.key for row in rows] == [("g", "s", 0), ("g", "s", 1)]
    assert (rows[0].prompt_ids, rows[0].response_ids, rows[0].sampler_log_probs) == ((1, 3, 4), (5, 6, 2), (-1.0, -2.0, -0.5))


def test_an_expert_is_encoded_once_per_step_or_not_at_all() -> None:
    limits = RowLimits(max_row_tokens=10, vocabulary=29, encode=lambda t: [([1, k + 3], [7, 2]) for k in range(len(t.steps))])
    rows = prepare(sample("g", "e", expert=True), limits).rows
    assert [(row.prompt_ids, row.response_ids, row.expert) for row in rows] == [((1, 3), (7, 2), True), ((1, 4), (7, 2), True)]
    cut = RowLimits(max_row_tokens=10, vocabulary=29, encode=lambda _: [([1], [2])])
    assert prepare(sample("g", "e", expert=True), cut).invalid == "not_encodable"
    recorded = RowLimits(max_row_tokens=10, vocabulary=29, recorded_experts=True)
    assert prepare(sample("g", "e", expert=True, logprobs=None), recorded).invalid == "no_logprobs"
    assert prepare(sample("g", "e", expert=True), recorded).rows[0].sampler_log_probs == (-1.0, -2.0, -0.5)


def grouped(*groups: list[Sample], **changes: Any) -> Grouping:
    objective = get_objective("dynaweb", **{"advantage": {"ddof": 0, "eps": 0.0}, **changes})
    limits = RowLimits(max_row_tokens=10, vocabulary=29, encode=lambda t: [([1], [2])] * len(t.steps))
    grouping = Grouping(objective, limits, ReplayBuffer(), random.Random(0))
    for samples in groups:
        grouping.add(samples)
    return grouping


def test_advantages_reach_the_rows_of_their_own_trajectory() -> None:
    """Rows of different lengths and two groups (SkyRL#1492: advantages on the wrong rows)."""
    first = [sample("a", "0", 1.0, turns=3), sample("a", "1", 0.0, turns=1)]
    second = [sample("b", "0", 0.0, turns=2), sample("b", "1", None, status="error"), sample("b", "2", 1.0, turns=1)]
    batch = grouped(first, second).batch()
    assert batch.advantages_N == (1.0, -1.0, -1.0, 1.0)
    assert batch.trajectory_R == (0, 0, 0, 1, 2, 2, 3)
    assert [row.trajectory for row in batch.rows] == ["0", "0", "0", "1", "0", "0", "2"]


def test_experts_in_and_out_of_the_baseline() -> None:
    samples = [sample("a", "0", 0.0), sample("a", "1", 0.0), sample("a", "e", 1.0, expert=True)]
    inside = grouped(samples).batch().advantages_N
    outside = grouped(samples, expert={"in_baseline": False}).batch().advantages_N
    assert inside == pytest.approx((-(0.5**0.5), -(0.5**0.5), 2**0.5))
    assert outside == (0.0, 0.0, 1.0)


def test_a_group_in_which_all_fail_gets_a_stored_success() -> None:
    grouping = grouped([sample("a", "0", 1.0), sample("a", "1", 0.0)], group_filter="replay")
    assert grouping.add([sample("b", "0", 0.0), sample("b", "1", 0.0)])
    assert grouping.log.replayed_groups == 1
    batch = grouping.batch()
    assert sorted(batch.advantages_N[2:]) == [-1.0, 1.0]
    assert {row.trajectory for row in batch.rows if row.group == "b"} & {"replay/a/0"}


def test_the_buffer_forgets_the_oldest_and_survives_a_restart(tmp_path: Path) -> None:
    buffer = ReplayBuffer()
    buffer.add([prepare(sample("g", str(k), 1.0), LIMITS) for k in range(PER_TASK + 3)])
    buffer.save(tmp_path)
    again = ReplayBuffer()
    again.load(tmp_path)
    drawn = []
    for one in (buffer, again):
        rng = random.Random(3)
        drawn.append([kept.sample.name for _ in range(50) if (kept := one.draw("t", rng)) is not None])
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) <= {str(k) for k in range(3, PER_TASK + 3)}
    assert again.draw("t", random.Random(0)) == buffer.draw("t", random.Random(0))
    assert again.draw("other", random.Random(0)) is None


def test_a_cost_that_is_not_known_is_not_zero() -> None:
    cost = rollout_cost([sample("g", "s", turns=2)], valid=1, seconds=2.0)
    assert (cost.policy_prompt_tokens, cost.policy_tokens, cost.world_model_tokens) == (6, 6, 0)
    assert (cost + Ledger(trained_cells=30, computed_cells=10)).operations(100, None) == 100 * (2 * 12 + 6 * 10)
    dreamt = cost + Ledger(world_model_tokens=5)
    assert dreamt.operations(100, None) is None
    assert dreamt.operations(100, 1000) == 100 * 2 * 12 + 1000 * 2 * 5
    assert cost.summary(100, None)["per_valid_sample"] == {
        "seconds": 2.0, "policy_tokens": 6.0, "world_model_tokens": 0.0, "operations": 2400.0,
    }  # fmt: skip
