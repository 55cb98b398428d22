"""M3: against the oracle's product limit, lifelines, binomials, and the rule of the recommended length."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from lifelines import AalenJohansenFitter, KaplanMeierFitter
from lifelines.utils import restricted_mean_survival_time

from audits.metrics.divergence import (
    CAUSES,
    bootstrap_bands,
    compare,
    cumulative_incidence,
    log_rank,
    product_limit,
    recommended_length,
    survival,
)
from audits.records import AuditRow
from results.intervals import wilson

from .factory import audit, row

TIME = [1, 2, 2, 3, 3, 5, 5, 6, 7, 7]
EVENT = [1, 1, 0, 1, 0, 1, 1, 0, 1, 0]
ORACLE = {1: (10, 1, 0.9), 2: (9, 1, 0.8), 3: (7, 1, 0.6857142857), 5: (5, 2, 0.4114285714), 7: (2, 1, 0.2057142857)}


def dreams(times: list[int], events: list[int], cause: str = "exec", **fields: object) -> list[AuditRow]:
    return [
        row(i, True, not e, length=20, compared=t, divergence=t if e else None, divergence_cause=cause if e else None, **fields)
        for i, (t, e) in enumerate(zip(times, events, strict=True))
    ]


def test_product_limit_is_the_oracles() -> None:
    pages = {p.page: p for p in survival(dreams(TIME, EVENT)).pages}
    for page, (at_risk, events, value) in ORACLE.items():
        assert (pages[page].at_risk, pages[page].events) == (at_risk, events)
        assert pages[page].survival.value == pytest.approx(value, abs=1e-9)
    assert pages[4].survival.value == pages[3].survival.value, "level where nothing diverged"


def test_influences_give_greenwood_and_log_log_is_lifelines() -> None:
    generator = np.random.default_rng(0)
    time, event = generator.integers(1, 9, 200), generator.random(200) < 0.5
    curve, influence = product_limit(time, event, np.ones(200), 8)
    fitter = KaplanMeierFitter().fit(time, event)
    assert curve == pytest.approx(fitter.survival_function_at_times(range(1, 9)).to_numpy())
    greenwood = [sum(greenwood_term(time, event, s) for s in range(1, t + 1)) * curve[t - 1] ** 2 for t in range(1, 8)]
    assert (influence**2).sum(axis=0)[:7] == pytest.approx(greenwood, rel=1e-6)
    limits = fitter.confidence_interval_survival_function_.loc[3].to_numpy()
    rows = dreams(time.tolist(), event.astype(int).tolist())
    assert survival(rows).pages[2].log_log == pytest.approx(tuple(limits))


def greenwood_term(time: np.ndarray, event: np.ndarray, page: int) -> float:
    n, d = (time >= page).sum(), ((time == page) & event).sum()
    return float(d / (n * (n - d)))


def test_without_divergence_the_lower_limit_still_depends_on_n() -> None:
    few, many = (survival(dreams([5] * n, [0] * n)) for n in (5, 100))
    assert few.pages[0].survival.interval == pytest.approx(wilson(5, 5))
    assert (few.h_max, many.h_max) == (0, 5), "five dreams prove nothing"
    assert many.open_ended and not few.open_ended


def test_recommended_length_stops_at_the_first_doubt() -> None:
    times, events = [1] * 2 + [3] * 60 + [6] * 140, [1] * 2 + [1] * 60 + [0] * 140
    found = survival(dreams(times, events))
    assert found.h_max == 2 and not found.open_ended
    assert recommended_length(found.pages, 0.5) == 6
    assert recommended_length((), 0.8) == 0


def test_causes_compete_and_add_up() -> None:
    found = survival(audit(5))
    for page in found.pages:
        total = sum(page.incidence[cause].value or 0 for cause in CAUSES)
        assert total + (page.survival.value or 0) == pytest.approx(1, abs=1e-12)
    values = [[p.incidence[c].value or 0 for p in found.pages] for c in CAUSES]
    assert all(a <= b + 1e-12 for curve in values for a, b in pairwise(curve))


def test_incidence_is_lifelines_where_times_are_not_tied() -> None:
    generator = np.random.default_rng(2)
    time = generator.permutation(np.arange(1, 61))
    cause = generator.integers(0, 3, 60)
    curve, influence = product_limit(time, cause > 0, np.ones(60), 60)
    mine, _ = cumulative_incidence(time, cause == 1, curve, influence, cause > 0, np.ones(60))
    theirs = AalenJohansenFitter(calculate_variance=False).fit(time, cause, event_of_interest=1).cumulative_density_
    assert mine == pytest.approx(theirs.reindex(range(1, 61), method="ffill").iloc[:, 0].to_numpy())


def test_weights_act_as_copies() -> None:
    time, event = np.array(TIME), np.array(EVENT, dtype=bool)
    weight = np.arange(1.0, 11.0)
    copies = np.repeat(np.arange(10), weight.astype(int))
    weighted, _ = product_limit(time, event, weight, 7)
    copied, _ = product_limit(time[copies], event[copies], np.ones(len(copies)), 7)
    assert weighted == pytest.approx(copied)


def test_restricted_mean_and_log_rank_are_lifelines() -> None:
    first, second = dreams(TIME, EVENT), dreams([t + 2 for t in TIME], EVENT, template="")
    found = compare(first, second, horizon=5)
    assert found is not None
    fitter = KaplanMeierFitter().fit(TIME, EVENT)
    assert found.first == pytest.approx(restricted_mean_survival_time(fitter, t=6) - 1)
    assert found.difference.value == pytest.approx(found.first - found.second)
    assert found.difference.value is not None and found.difference.value < 0
    assert found.log_rank_p == pytest.approx(log_rank({"a": first, "b": second}), abs=1e-9)
    same = compare(first, first)
    assert same is not None and same.difference.value == 0 and same.log_rank_p == pytest.approx(1)
    assert compare(first, []) is None and log_rank({"a": first}) is None


def test_replays_that_compared_nothing_are_counted_apart() -> None:
    found = survival([*dreams(TIME, EVENT), row(99, True, None, compared=0)])
    assert (found.n, found.not_compared, found.diverged) == (10, 1, 6)
    empty = survival([row(99, True, None, compared=0)])
    assert empty.pages == () and empty.h_max == 0 and empty.not_compared == 1


def test_bands_need_clusters_and_hold_the_curve() -> None:
    generator = np.random.default_rng(0)
    time, event = generator.integers(1, 6, 150), generator.random(150) < 0.4
    names = [f"c{i:03d}" for i in range(150)]
    bands = bootstrap_bands(time, event, names, np.ones(150), resamples=400)
    curve, _ = product_limit(time, event, np.ones(150), 5)
    assert bands is not None and all(low <= s <= high for s, (low, high) in zip(curve, bands, strict=True))
    assert bootstrap_bands(time, event, ["c"] * 150, np.ones(150)) is None


def test_order_of_rows_does_not_matter() -> None:
    rows = audit(7, n=60)
    assert survival(random.Random(0).sample(rows, len(rows))) == survival(rows)
