"""The numbers of one run. Each is a pure function of outcomes that states its denominator.

    success rate (of planned) = success / (tasks x windows x repeats)   primary: errors, blocks and gaps are no successes
    success rate (of scored)  = success / (success + failure)           beside it, with its own n

Repeats are averaged: a task solved in one of three repeats counts a third, never one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from harness.types import Status
from results.index import EpisodeRow
from results.intervals import Rate, rate
from results.outcomes import STATES, Outcome, State


@dataclass(frozen=True)
class Counts:
    """Planned episodes by what became of them; they add up to `planned`."""

    planned: int
    by_state: dict[State, int]

    @property
    def scored(self) -> int:
        return self.by_state["success"] + self.by_state["failure"]

    def __getitem__(self, state: State) -> int:
        return self.by_state[state]


def count(outcomes: Sequence[Outcome]) -> Counts:
    """Counts over all planned episodes."""
    seen = Counter(outcome.state for outcome in outcomes)
    return Counts(planned=len(outcomes), by_state={state: seen[state] for state in STATES})


def rate_of_planned(outcomes: Sequence[Outcome]) -> Rate:
    """Successes over all planned episodes, clustered by template."""
    return rate([o.success for o in outcomes], [o.cluster for o in outcomes])


def rate_of_scored(outcomes: Sequence[Outcome]) -> Rate:
    """Successes over the episodes that ended in success or failure, clustered by template."""
    scored = [o for o in outcomes if o.scored]
    return rate([o.success for o in scored], [o.cluster for o in scored])


def floor_unachievable(outcomes: Sequence[Outcome]) -> float | None:
    """What an agent that always answers "cannot be done" would get: such episodes over all planned. None if n = 0."""
    return fmean(o.unachievable for o in outcomes) if outcomes else None


def profiles(outcomes: Iterable[Outcome]) -> list[str]:
    """Names of the other score profiles that occur, sorted."""
    return sorted({name for o in outcomes if o.row for name in o.row.other_scores})


def profile_rate(outcomes: Sequence[Outcome], profile: str) -> Rate:
    """Successes by another scorer over all planned episodes; an episode that it did not score is no success."""
    return rate([_profile_success(o.row, profile) for o in outcomes], [o.cluster for o in outcomes])


def profile_statuses(outcomes: Iterable[Outcome], profile: str) -> Counter[tuple[State, Status]]:
    """(main status, status by `profile`) → episodes, over those that the profile scored."""
    pairs = ((o.state, o.row.other_scores[profile].status) for o in outcomes if o.row and profile in o.row.other_scores)
    return Counter(pairs)


def mean_raw_reward(outcomes: Iterable[Outcome]) -> float | None:
    """Mean raw reward over the episodes that have one; None if none has."""
    return _mean(o.row.raw_reward for o in outcomes if o.row and o.row.raw_reward is not None)


def threshold(outcomes: Iterable[Outcome]) -> float | None:
    """The success threshold of these episodes, if they have one and the same."""
    values = {o.row.threshold for o in outcomes if o.row and o.row.threshold is not None}
    return values.pop() if len(values) == 1 else None


@dataclass(frozen=True)
class Share:
    """`count` of `of`; and the number of episodes concerned. `value` is None for an empty denominator."""

    name: str
    count: int
    of: int
    episodes: int

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None


def step_shares(rows: Sequence[EpisodeRow], counter: Callable[[EpisodeRow], dict[str, int]]) -> list[Share]:
    """Counts by name over all steps of all rows, most frequent first."""
    steps = sum(row.steps for row in rows)
    total: Counter[str] = Counter()
    episodes: Counter[str] = Counter()
    for row in rows:
        found = {name: n for name, n in counter(row).items() if n}
        total.update(found)
        episodes.update(found.keys())
    return [Share(name, n, steps, episodes[name]) for name, n in _ranked(total)]


def action_errors(rows: Sequence[EpisodeRow]) -> list[Share]:
    """Action errors by kind over all steps."""
    return step_shares(rows, lambda row: row.action_errors)


def step_flags(rows: Sequence[EpisodeRow]) -> list[Share]:
    """Steps with an unreadable reply, a page still busy, a page cut at extraction, a tree cut for the policy."""
    steps = sum(row.steps for row in rows)
    flags: dict[str, Callable[[EpisodeRow], int]] = {
        "invalid action": lambda row: row.invalid_actions,
        "slow page": lambda row: row.slow_steps,
        "page over the node cap": lambda row: row.capped_steps,
        "tree over the token budget": lambda row: row.cut_steps,
    }
    return [Share(name, sum(map(of, rows)), steps, sum(of(row) > 0 for row in rows)) for name, of in flags.items()]


def stop_reasons(rows: Sequence[EpisodeRow]) -> list[Share]:
    """How episodes ended, over stored episodes."""
    found = Counter[str](row.stop_reason for row in rows)
    return [Share(name, n, len(rows), n) for name, n in _ranked(found)]


def faults(rows: Sequence[EpisodeRow]) -> list[tuple[Status, str, str, int, str]]:
    """(status, boundary, kind, episodes, one episode's id) of episodes that say nothing about the agent."""
    groups: dict[tuple[Status, str, str], list[str]] = {}
    for row in rows:
        if row.status in ("error", "blocked", "inconclusive"):
            groups.setdefault((row.status, row.error_boundary or "", row.error_kind), []).append(row.episode_id)
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [(*key, len(ids), min(ids)) for key, ids in ranked]


@dataclass(frozen=True)
class Spending:
    """Model use over stored episodes. `cost_usd` covers the `priced` of `used` episodes that called a model."""

    requests: int
    prompt_tokens: int
    cached_tokens: int | None
    completion_tokens: int
    used: int
    priced: int
    cost_usd: float | None
    """None = unknown: no episode that called a model has a price. 0.0 = no model was called."""


def agent_spending(rows: Sequence[EpisodeRow]) -> Spending:
    """What the policy used."""
    costs = [row.agent_cost_usd for row in rows if row.agent_requests]
    return Spending(
        requests=sum(row.agent_requests for row in rows),
        prompt_tokens=sum(row.agent_prompt_tokens for row in rows),
        cached_tokens=sum(row.agent_cached_tokens for row in rows),
        completion_tokens=sum(row.agent_completion_tokens for row in rows),
        used=len(costs),
        priced=sum(cost is not None for cost in costs),
        cost_usd=_cost(costs),
    )


def judge_spending(rows: Sequence[EpisodeRow]) -> Spending:
    """What scoring used."""
    costs = [row.judge_cost_usd for row in rows if row.judge_requests]
    return Spending(
        requests=sum(row.judge_requests for row in rows),
        prompt_tokens=sum(row.judge_prompt_tokens for row in rows),
        cached_tokens=None,
        completion_tokens=sum(row.judge_completion_tokens for row in rows),
        used=len(costs),
        priced=sum(cost is not None for cost in costs),
        cost_usd=_cost(costs),
    )


@dataclass(frozen=True)
class Pace:
    """Steps and seconds per stored episode. `phases`: mean seconds per step by phase."""

    episodes: int
    steps: int
    mean_steps: float | None
    median_steps: float | None
    total_seconds: float
    median_seconds: float | None
    max_seconds: float | None
    phases: dict[str, float]


def pace(rows: Sequence[EpisodeRow]) -> Pace:
    """How long episodes took. `total_seconds` adds up over workers: it is not the run's duration."""
    steps, seconds = [row.steps for row in rows], [row.seconds for row in rows]
    phases: Counter[str] = Counter()
    for row in rows:
        phases.update(row.timing)
    return Pace(
        episodes=len(rows),
        steps=sum(steps),
        mean_steps=_mean(steps),
        median_steps=median(steps) if steps else None,
        total_seconds=sum(seconds),
        median_seconds=median(seconds) if seconds else None,
        max_seconds=max(seconds, default=None),
        phases={name: total / sum(steps) for name, total in sorted(phases.items())} if sum(steps) else {},
    )


def order_inversions(rows: Sequence[EpisodeRow]) -> int:
    """Episodes that finished after one planned later on the same site instance: state may have leaked out of order."""
    late = 0
    latest: dict[tuple[str, int], int] = {}
    for row in sorted(rows, key=lambda row: row.finish_index):
        place = (row.window, row.instance)
        late += row.order_index < latest.get(place, -1)
        latest[place] = max(latest.get(place, -1), row.order_index)
    return late


def _profile_success(row: EpisodeRow | None, profile: str) -> float:
    score = row.other_scores.get(profile) if row else None
    return float(score is not None and score.status == "success")


def _cost(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known or not costs else None


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return fmean(numbers) if numbers else None


def _ranked(counter: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counter.items(), key=lambda item: (-item[1], item[0]))
