"""M9 and the power card: the design's numbers, the oracle's estimate, and the limits of a useless and a perfect simulator."""

from __future__ import annotations

import numpy as np
import pytest

from audits.metrics.power import (
    controls_without_failure,
    design_effect,
    half_width,
    mcnemar_pairs,
    power_card,
    replays_for_half_width,
    two_rates,
)
from audits.metrics.worth import ppi_mean, worth

from .factory import row


def names(prefix: str, n: int) -> list[str]:
    return [f"{prefix}{i:04d}" for i in range(n)]


def test_ppi_is_the_oracles() -> None:
    """Numbers of audit_metrics_oracle.ppi_pp; its λ uses the pooled variance of f, ours each side's own: they differ by 2 %."""
    generator = np.random.default_rng(4)
    y = (generator.random(40) < 0.3).astype(float)
    f = np.where(generator.random(40) < 0.7, y, generator.random(40) < 0.5).astype(float)
    more = (generator.random(300) < 0.4).astype(float)
    found = ppi_mean(y, f, names("a", 40), more, names("b", 300))
    assert found.ppi.value == pytest.approx(0.19898705123782734, abs=0.005)
    assert found.lam == pytest.approx(0.22487860535463153, abs=0.05)
    assert found.ppi.interval is not None
    assert found.ppi.interval.high - found.ppi.interval.low == pytest.approx(0.3121767933 - 0.0857973092, rel=0.15)


def test_a_perfect_simulator_is_worth_all_and_a_random_one_nothing() -> None:
    generator = np.random.default_rng(0)
    y, more = (generator.random(60) < 0.3).astype(float), (generator.random(5000) < 0.3).astype(float)
    perfect = ppi_mean(y, y, names("a", 60), more, names("b", 5000))
    assert perfect.rho.value == pytest.approx(1) and perfect.lam == pytest.approx(1, abs=0.02)
    assert perfect.saved == pytest.approx(1 / (1 + 60 / 5000))
    assert perfect.ppi.value == pytest.approx(more.mean(), abs=0.01)
    y = (generator.random(600) < 0.3).astype(float)
    useless = ppi_mean(y, generator.random(600), names("a", 600), generator.random(5000), names("b", 5000))
    assert useless.lam is not None and useless.lam < 0.2 and useless.rho2 is not None and useless.rho2.low == 0
    assert useless.ppi.value == pytest.approx(y.mean(), abs=0.03)


def test_bias_of_the_simulator_cancels() -> None:
    generator = np.random.default_rng(1)
    found = []
    for _ in range(150):
        y, more = generator.random(50) < 0.3, generator.random(500) < 0.3
        optimistic, optimistic_more = y | (generator.random(50) < 0.5), more | (generator.random(500) < 0.5)
        estimate = ppi_mean(
            y.astype(float), optimistic.astype(float), names("a", 50), optimistic_more.astype(float), names("b", 500)
        )
        found.append(estimate.ppi.value)
        assert estimate.simulated_only is not None and estimate.simulated_only > 0.5
    assert np.mean(found) == pytest.approx(0.3, abs=0.02)


def test_unfinished_rows_lend_their_simulated_outcome() -> None:
    rows = [row(i, i % 2 == 0, (i % 4 == 0) if i < 60 else None, score=0.9 if i % 2 == 0 else 0.1) for i in range(100)]
    found = worth(rows)
    assert found.real_only.n == 60 and found.unlabelled == 40
    assert worth([row(0, True, True)]).ppi.value is None
    assert worth(rows[:60]).ppi.value == pytest.approx(worth(rows[:60]).real_only.value), "nothing to borrow from"


def test_the_card_is_the_designs() -> None:
    assert [controls_without_failure(x) for x in (0.10, 0.05, 0.02)] == [36, 72, 183]
    assert [two_rates(a, b) for a, b in ((0.20, 0.35), (0.20, 0.30), (0.10, 0.20))] == [138, 294, 199]
    assert [mcnemar_pairs(a, b) for a, b in ((0.25, 0.10), (0.20, 0.10))] == [120, 234]
    assert design_effect(8, 0.3) == pytest.approx(3.1)
    assert replays_for_half_width(0.3, 0.10) == pytest.approx(80, abs=3)
    assert replays_for_half_width(0.3, 0.05) == pytest.approx(320, abs=5)
    assert half_width(0.3, 80) == pytest.approx(0.099, abs=5e-4) and half_width(0.3, 320) == pytest.approx(0.050, abs=5e-4)
    card = power_card(240, 30)
    assert card.design_effect == pytest.approx(3.1) and card.effective == pytest.approx(240 / 3.1)
    assert card.small_site == pytest.approx((0.10, 0.65), abs=0.005)


def test_more_replays_show_smaller_differences() -> None:
    cards = [power_card(n, n) for n in (30, 100, 1000)]
    assert [c.half_width for c in cards] == sorted([c.half_width for c in cards], reverse=True)
    detectable = [c.detectable for c in cards]
    assert all(x is not None for x in detectable) and detectable == sorted(detectable, reverse=True)  # type: ignore[type-var]
    assert power_card(0, 0).detectable is None and power_card(3, 3).detectable is None
