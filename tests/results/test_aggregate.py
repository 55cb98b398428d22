"""Every number states its denominator: hand-worked cases, and properties that no denominator may break."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.types import Action, ActionError, ErrorInfo, Score, Usage
from results import aggregate as agg
from results.frames import outcomes_frame, rows_frame
from results.index import EpisodeRow, row_of
from results.outcomes import STATES, Outcome, group_by, outcomes, outcomes_of
from results.reader import RunReader
from tests.results.factory import episode, make_run, plan, step, task, usage


def rows_of(*episodes: object) -> list[EpisodeRow]:
    return [row_of(e, 1) for e in episodes]  # type: ignore[arg-type]


def outcomes_with(statuses: list[str], templates: list[str] | None = None) -> list[Outcome]:
    """One task per status; "missing" = not played."""
    names = templates or [""] * len(statuses)
    specs = plan([task(f"t{i}", template=name) for i, name in enumerate(names)])
    latest = {
        spec.key: row_of(episode(spec, status), 1)  # type: ignore[arg-type]
        for spec, status in zip(specs, statuses, strict=True)
        if status != "missing"
    }
    return outcomes(specs, latest)


def test_errors_blocks_and_gaps_stay_in_the_denominator_of_planned() -> None:
    found = outcomes_with(["success", "success", "failure", "error", "blocked", "inconclusive", "missing", "failure"])
    counts = agg.count(found)
    assert [counts[state] for state in STATES] == [2, 2, 1, 1, 1, 1]
    assert (counts.planned, counts.scored) == (8, 4)
    assert agg.rate_of_planned(found).value == 2 / 8
    scored = agg.rate_of_scored(found)
    assert (scored.value, scored.n) == (2 / 4, 4)


def test_repeats_are_averaged_never_the_best_taken(tmp_path: Path) -> None:
    specs = plan([task("a"), task("b")], repeats=3)
    make_run(tmp_path / "r", specs, ["failure", "failure", "success", "failure", "failure", "failure"])
    found = outcomes_of(RunReader.open(tmp_path / "r"))
    by_task = group_by(found, lambda o: o.task_id)
    assert agg.rate_of_planned(by_task["a"]).value == pytest.approx(1 / 3)
    assert agg.rate_of_planned(found).value == pytest.approx(1 / 6)
    assert agg.rate_of_planned(found).clusters == 2, "repeats of one task are one cluster"


def test_a_task_that_was_never_played_is_not_dropped(tmp_path: Path) -> None:
    specs = plan([task(str(i)) for i in range(10)])
    make_run(tmp_path / "r", specs, ["success", *[None] * 9])
    assert agg.rate_of_planned(outcomes_of(RunReader.open(tmp_path / "r"))).value == 0.1


def test_no_scored_episode_gives_no_rate() -> None:
    found = outcomes_with(["error", "missing"])
    assert agg.rate_of_scored(found).value is None
    assert agg.rate_of_planned(found).value == 0


@given(st.lists(st.tuples(st.sampled_from(STATES), st.sampled_from(["", "x", "y"])), max_size=25), st.integers())
def test_counts_add_up_and_order_is_nothing(drawn: list[tuple[str, str]], seed: int) -> None:
    found = outcomes_with([state for state, _ in drawn], [template for _, template in drawn])
    counts = agg.count(found)
    assert sum(counts.by_state.values()) == counts.planned == len(drawn)
    planned, scored = agg.rate_of_planned(found), agg.rate_of_scored(found)
    if planned.value is not None and scored.value is not None:
        assert planned.value <= scored.value
    groups = group_by(found, lambda o: o.cluster)
    assert sum(agg.count(g)["success"] for g in groups.values()) == counts["success"]
    shuffled = list(found)
    random.Random(seed).shuffle(shuffled)
    assert (agg.count(shuffled), agg.rate_of_planned(shuffled), agg.rate_of_scored(shuffled)) == (counts, planned, scored)


def test_floor_of_always_answering_that_it_cannot_be_done() -> None:
    specs = plan([task(str(i), unachievable=i < 36) for i in range(812)])
    assert agg.floor_unachievable(outcomes(specs, {})) == pytest.approx(0.0443, abs=1e-4)
    assert agg.floor_unachievable([]) is None


def test_other_profiles_have_the_same_denominator() -> None:
    specs = plan([task("a"), task("b"), task("c")])
    other = {"other_scores": (Score(profile="errata", version="1", status="success"),)}
    latest = {
        specs[0].key: row_of(episode(specs[0], "failure", verdict=other), 1),
        specs[1].key: row_of(episode(specs[1], "success"), 1),
    }
    found = outcomes(specs, latest)
    assert agg.profiles(found) == ["errata"]
    assert agg.profile_rate(found, "errata").value == pytest.approx(1 / 3)
    assert agg.profile_statuses(found, "errata") == {("failure", "success"): 1}


def test_raw_reward_beside_threshold() -> None:
    specs = plan([task("find-greatest"), task("other")])
    partial = {"raw_reward": 0.1, "threshold": 0.99}
    found = outcomes(specs, {specs[0].key: row_of(episode(specs[0], "failure", verdict=partial), 1)})
    assert agg.mean_raw_reward(found) == 0.1
    assert agg.threshold(found) == 0.99
    assert agg.mean_raw_reward(found[1:]) is None, "not 0"


def test_action_errors_are_shares_of_steps() -> None:
    spec = plan([task("a")])[0]
    stale, hidden = ActionError(kind="stale", message=""), ActionError(kind="hidden", message="")
    rows = rows_of(
        episode(spec, steps=[step(0, error=stale), step(1, error=stale), step(2, error=hidden), step(3)]),
        episode(spec, steps=[step(0, error=stale)]),
    )
    assert agg.action_errors(rows) == [agg.Share("stale", 3, 5, 2), agg.Share("hidden", 1, 5, 1)]
    assert agg.action_errors(rows)[0].value == 0.6


def test_invalid_actions_are_counted() -> None:
    spec = plan([task("a")])[0]
    rows = rows_of(episode(spec, steps=[step(0, action=Action(name="invalid", error="no call")), step(1)]))
    flags = {share.name: share.count for share in agg.step_flags(rows)}
    assert flags == {"invalid action": 1, "slow page": 0, "page over the node cap": 0, "tree over the token budget": 0}


@pytest.mark.parametrize(
    ("costs", "priced", "total"),
    [([0.5, 0.25], 2, 0.75), ([0.5, None], 1, 0.5), ([None, None], 0, None), ([], 0, 0.0)],
)
def test_unknown_cost_is_unknown_not_zero(costs: list[float | None], priced: int, total: float | None) -> None:
    specs = plan([task(str(i)) for i in range(3)])
    rows = rows_of(*(episode(s, steps=[step(0, usage=usage(cost=c))]) for s, c in zip(specs, costs, strict=False)))
    spending = agg.agent_spending(rows)
    assert (spending.used, spending.priced, spending.cost_usd) == (len(costs), priced, total)
    assert spending.prompt_tokens == 100 * len(costs)


def test_judging_is_paid_for_separately() -> None:
    spec = plan([task("a")])[0]
    rows = rows_of(episode(spec, steps=[step(0, usage=usage(cost=1.0))], verdict={"usage": Usage(requests=2, cost_usd=0.5)}))
    assert agg.agent_spending(rows).cost_usd == 1.0
    assert agg.judge_spending(rows).cost_usd == 0.5


def test_faults_by_what_broke() -> None:
    specs = plan([task(name) for name in "abcd"])
    timeout = {"error": ErrorInfo(boundary="timeout", kind="episode", message="")}
    rows = rows_of(
        episode(specs[0], "error"), episode(specs[1], "error"), episode(specs[2], "error", verdict=timeout), episode(specs[3])
    )
    assert agg.faults(rows) == [
        ("error", "site", "infra_error", 2, "a__A__r0__a0"),
        ("error", "timeout", "episode", 1, "c__A__r0__a0"),
    ]


def test_pace() -> None:
    specs = plan([task(name) for name in "ab"])
    rows = rows_of(episode(specs[0], steps=[step(0)], wall_seconds=1), episode(specs[1], steps=[step(0)] * 3, wall_seconds=5))
    pace = agg.pace(rows)
    assert (pace.steps, pace.mean_steps, pace.median_seconds, pace.total_seconds, pace.max_seconds) == (4, 2, 3, 6, 5)
    assert pace.phases["policy"] == pytest.approx(0.5)
    assert agg.pace([]).mean_steps is None


def test_order_inversions_per_instance() -> None:
    specs = plan([task(str(i)) for i in range(4)])
    finish = [2, 0, 1, 3]
    rows = rows_of(*(episode(s, finish_index=f) for s, f in zip(specs, finish, strict=True)))
    assert agg.order_inversions(rows) == 1
    apart = rows_of(
        *(episode(s.model_copy(update={"instance": int(f == 2)}), finish_index=f) for s, f in zip(specs, finish, strict=True))
    )
    assert agg.order_inversions(apart) == 0


def test_frames_have_a_line_per_episode_and_na_for_missing(tmp_path: Path) -> None:
    specs = plan([task("a"), task("b"), task("c")])
    make_run(tmp_path / "r", specs, ["success", "error", None])
    run = RunReader.open(tmp_path / "r")
    rows = rows_frame(run.rows())
    assert list(rows["status"]) == ["success", "error"]
    assert rows["seconds_policy"].sum() == 1.0
    table = outcomes_frame(outcomes_of(run))
    assert list(table["state"]) == ["success", "error", "missing"]
    assert table["steps"].isna().tolist() == [False, False, True]
    assert table["reward"].isna().tolist() == [False, True, True], "an error has no reward: not 0"
    assert "status" in rows_frame([]).columns
