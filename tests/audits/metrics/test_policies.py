"""M7 and M8: ranks, the perfect simulator's band, exploitation, update fidelity."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy import stats

from audits.metrics.exploitation import apparent_gain, exploitation, goodhart, selection_guard, slope
from audits.metrics.panel import panel
from audits.metrics.ranks import kendall_floor, kendall_tau_b, mmrv, ranks, reference_band, regret_at_1
from audits.metrics.updates import advantages, update_fidelity
from audits.records import PolicyRow

from .factory import policies, row


def cell(policy: int, task: int, simulated: float | None, real: float | None, **fields: object) -> PolicyRow:
    known: dict[str, object] = {"policy": f"c{policy}", "updates": policy, "task_id": f"t{task}"}
    return PolicyRow.model_validate(known | {"simulated": simulated, "real": real} | fields)


def test_mmrv_is_the_oracles_and_takes_keywords_only() -> None:
    assert mmrv(sim=[0.1, 0.9, 0.5], real=[0.30, 0.32, 0.34]) == pytest.approx(0.013333333333333345)
    assert mmrv(sim=[0.30, 0.32, 0.34], real=[0.1, 0.9, 0.5]) == pytest.approx(0.26666666666666666), "not symmetric"
    with pytest.raises(TypeError):
        mmrv([0.1], [0.1])  # type: ignore[call-arg, misc]
    assert mmrv(sim=[1, 2, 3], real=[0.1, 0.2, 0.3]) == 0


def test_regret_by_hand() -> None:
    assert regret_at_1(sim=[0.1, 0.9, 0.5], real=[0.30, 0.32, 0.34]) == pytest.approx(0.02)
    assert regret_at_1(sim=[0.5, 0.5], real=[0.2, 0.4]) == pytest.approx(0.1), "equal favourites: their mean"


def test_tau_b_is_scipys_with_ties() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        a, b = generator.integers(0, 4, (2, 6)) / 4
        expected = stats.kendalltau(a, b)[0]
        assert kendall_tau_b(a, b) == (pytest.approx(expected) if np.isfinite(expected) else None)


def test_no_order_of_four_can_be_significant() -> None:
    assert [round(kendall_floor(k), 4) for k in (4, 5, 6)] == [0.0833, 0.0167, 0.0028]
    for k in (4, 5, 6):
        assert kendall_floor(k) == pytest.approx(stats.kendalltau(range(k), range(k)).pvalue)
    assert "5 are needed" in ranks(policies(0, k=4)).warnings[0]


@pytest.mark.parametrize(
    ("tasks", "violation", "q95", "tau"), [(30, 0.081, 0.189, 0.58), (100, 0.026, 0.077, 0.81), (200, 0.010, 0.040, 0.91)]
)
def test_even_a_perfect_simulator_errs(tasks: int, violation: float, q95: float, tau: float) -> None:
    band = reference_band(np.linspace(0.1, 0.4, 6), tasks)
    assert band.mmrv_mean == pytest.approx(violation, abs=0.004) and band.mmrv_q95 == pytest.approx(q95, abs=0.015)
    assert band.tau_mean == pytest.approx(tau, abs=0.015)


def test_ranks_of_a_faithful_simulator() -> None:
    rows = [cell(c, j, float(j < 10 * c), float(j < 10 * c)) for c in range(6) for j in range(60)]
    found = ranks(rows)
    assert found.kendall.value == found.spearman.value == pytest.approx(1) and found.mmrv.value == found.regret.value == 0
    assert found.pairs is not None and found.pairs.discordant == 0 and found.pairs.concordant >= 10
    assert found.pairs.tau_bounds.high == 1 and found.pairs.tau_bounds.low > 0.3
    assert found.kendall_p == pytest.approx(found.kendall_floor)
    reversed_simulator = [r.model_copy(update={"simulated": 1 - (r.simulated or 0)}) for r in rows]
    wrong = ranks(reversed_simulator)
    assert wrong.kendall.value == pytest.approx(-1)
    assert wrong.regret.value == pytest.approx(50 / 60) and wrong.regret_upper is not None and wrong.regret_upper > 50 / 60
    assert wrong.pairs is not None and wrong.pairs.tau_bounds.high < 0


def test_ranks_do_not_depend_on_order_and_count_what_is_left_out() -> None:
    rows = policies(3)
    shuffled = random.Random(1).sample(rows, len(rows))
    assert ranks(shuffled) == ranks(rows)
    dropped = [r.model_copy(update={"real": None}) if r.task_id == "t0" and r.policy == "c2" else r for r in rows]
    assert (ranks(dropped).tasks, ranks(dropped).left_out) == (39, 1)
    assert ranks([]).kendall.value is None and ranks(policies(0, k=1)).regret.value is None


def test_rollouts_of_a_task_are_averaged() -> None:
    rows = [cell(0, 0, 1.0, 0.0, rollouts=3), cell(0, 0, 0.0, 1.0, rollouts=1)]
    data = panel(rows)
    assert data.simulated[0, 0] == pytest.approx(0.75) and data.real[0, 0] == pytest.approx(0.25)


# ------------------------------------------------------------------------------------------------ exploitation


def test_a_constant_bias_is_no_exploitation() -> None:
    rows = [cell(c, j, float(j < 10 + 5 * c), float(j < 5 * c)) for c in range(4) for j in range(40)]
    found = exploitation(rows)
    assert all(c.gap.value == pytest.approx(0.25) and c.exploitation.value == pytest.approx(0) for c in found.checkpoints)
    assert found.goodhart is None and found.slope is not None and found.slope.value == pytest.approx(0)
    assert found.slope_axis == "updates"


def test_a_gap_that_opens_is_found() -> None:
    """The simulator rises by 5 of 40 per checkpoint, reality rises once and then falls."""
    real = [10, 15, 5, 0]
    rows = [cell(c, j, float(j < 10 + 5 * c), float(j < real[c]), kl=0.5 * c) for c in range(4) for j in range(40)]
    found = exploitation(rows)
    assert [c.exploitation.value for c in found.checkpoints] == pytest.approx([0, 0, 0.375, 0.625])
    assert found.goodhart == "c2" and found.slope_axis == "kl"
    assert found.slope is not None
    assert found.slope.value == pytest.approx(np.polyfit([0, 0.5, 1, 1.5], [0, 0, 0.375, 0.625], 1)[0])
    assert goodhart(panel(rows[:80])) is None
    assert slope(np.array([1.0, 1.0]), np.zeros((2, 5)), list("abcde")) is None


def test_picking_the_best_flatters() -> None:
    assert apparent_gain(0.30, 8, 50) == pytest.approx(0.094, abs=0.004)
    apparent, honest = [], []
    for seed in range(40):
        generator = np.random.default_rng(seed)
        rows = [cell(c, j, float(generator.random() < 0.3), 0.3) for c in range(8) for j in range(100)]
        guard = selection_guard(panel(rows), seed=seed)
        assert guard is not None and guard.gap_on_a.value is not None and guard.gap_on_b.value is not None
        assert guard.tasks_a == 50 and guard.gap_on_b.n == 50
        apparent.append(guard.gap_on_a.value)
        honest.append(guard.gap_on_b.value)
    assert np.mean(apparent) == pytest.approx(0.094, abs=0.025) and abs(np.mean(honest)) < 0.03
    assert selection_guard(panel(policies(0, tasks=2))) is None


# ------------------------------------------------------------------------------------------------ updates


def test_advantages_are_normalised_and_dead_groups_silent() -> None:
    assert advantages(np.array([1.0, 0.0, 0.0, 1.0])) == pytest.approx([1, -1, -1, 1])
    assert advantages(np.array([1.0, 0.0, 0.0, 0.0]))[0] == pytest.approx(3**0.5)
    assert advantages(np.ones(4)) == pytest.approx(np.zeros(4))


def test_update_fidelity_by_hand() -> None:
    def group(name: str, cells: list[tuple[bool, bool | None]], start: int) -> list[object]:
        return [row(start + i, d, o, group=name, template=name) for i, (d, o) in enumerate(cells)]

    rows = [
        *group("agree", [(True, True), (False, False)], 0),
        *group("opposed", [(True, False), (False, True)], 10),
        *group("dead dream", [(True, True), (True, False)], 20),
        *group("dead reality", [(True, False), (False, False)], 30),
        *group("incomplete", [(True, None), (False, True)], 40),
        *group("alone", [(True, True)], 50),
    ]
    found = update_fidelity(rows)  # type: ignore[arg-type]
    assert (found.groups, found.complete) == (5, 4)
    assert found.sign_agreement.value == pytest.approx(2 / 6) and found.sign_agreement.n == 6
    assert found.opposed.value == pytest.approx(2 / 6)
    assert found.poisoned_share.value == pytest.approx(2 / 3), "pushed: agree, opposed, dead reality"
    assert found.poisoned_bounds == pytest.approx((2 / 4, 3 / 4)), "and the inconclusive one"
    assert found.dead_simulated.value == pytest.approx(1 / 4) and found.dead_real.value == pytest.approx(1 / 4)
    assert update_fidelity([]).poisoned_share.value is None
