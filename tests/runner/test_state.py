"""What a progress display is told: counts over the whole plan, costs that stay unknown, a time that is an estimate."""

from __future__ import annotations

import time

from harness.runner import RunState
from harness.types import Episode, EpisodeSpec, Start, Status, Trajectory, Usage
from tests.results.factory import step
from tests.runner.strategies import task, verdict


def episode(status: Status, usage: Usage = Usage()) -> Episode:
    a = task("a")
    trajectory = Trajectory(
        task=a, source="real", start=Start(task_id="a"), goal="", seed=0, stop_reason="stop", steps=(step(0, usage=usage),)
    )
    return Episode(
        run_id="r", spec=EpisodeSpec(task=a, seed=0, order_index=0), trajectory=trajectory,
        verdict=verdict(status), started_at="", wall_seconds=1.0,
    )  # fmt: skip


def test_retries_are_counted_apart_from_results() -> None:
    state = RunState(total=5, done_before=2)
    state.book(episode("success"), retried=False)
    state.book(episode("error"), retried=True)
    state.book(episode("failure"), retried=False)
    assert (state.done, state.retried) == (4, 1)
    assert dict(state.statuses) == {"success": 1, "failure": 1}


def test_a_cost_is_unknown_from_the_first_call_without_a_price_on() -> None:
    state = RunState(total=3)
    state.book(episode("success", Usage(requests=2, cost_usd=0.5)), retried=False)
    state.book(episode("success"), retried=False)
    assert state.cost_usd == 0.5, "an episode without model calls costs nothing"
    state.book(episode("error", Usage(requests=1)), retried=True)
    assert state.cost_usd is None
    state.book(episode("success", Usage(requests=1, cost_usd=0.5)), retried=False)
    assert state.cost_usd is None


def test_the_time_left_is_that_of_this_sittings_pace() -> None:
    state = RunState(total=100, done_before=90, started=time.monotonic() - 10)
    assert state.eta_seconds is None
    for _ in range(5):
        state.book(episode("success"), retried=False)
    eta = state.eta_seconds
    assert eta is not None
    assert 10 <= eta < 60, "five in ten seconds: about ten more for the last five"
