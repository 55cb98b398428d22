"""Two sets of outcomes side by side: two policies on one task set, or one policy in two windows.

    paired(A, B)    join on (task, window, repeat) → both / A only / B only / neither, McNemar, difference in points
    paired_difference(pairs)                       → its statistics alone, for pairs that were joined elsewhere
    windows(A, B)   join on (task, repeat)         → both rates, mean, gap, flip rate, exclusions by one fixed rule

Only pairs that were scored on both sides enter a test; the others are counted by why not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from statsmodels.stats.contingency_tables import mcnemar

from results.intervals import Interval, Rate, paired_interval, rate
from results.outcomes import Outcome, natural

BLOCKED_TWICE = "blocked in both windows"
"""The only rule by which windows leave tasks out. It is fixed here, before any run."""


@dataclass(frozen=True)
class TaskDifference:
    """One task: successes of scored pairs on each side."""

    task_id: str
    site: str
    pairs: int
    first: int
    second: int

    @property
    def difference(self) -> float:
        return (self.second - self.first) / self.pairs


@dataclass(frozen=True)
class Comparison:
    """Paired comparison, second minus first. `planned` pairs are planned on both sides, `pairs` scored on both."""

    planned: int
    only_first_planned: int
    only_second_planned: int
    pairs: int
    both: int
    first_only: int
    second_only: int
    neither: int
    not_scored: dict[tuple[str, str], int]
    """(state of the first, state of the second) → pairs that are in no test."""
    first_rate: float | None
    second_rate: float | None
    difference: float | None
    interval: Interval | None
    """Over templates (`paired_interval`)."""
    p_value: float | None
    """McNemar, exact, two-sided; takes pairs as independent."""
    clusters: int
    differing: tuple[TaskDifference, ...]
    """Tasks whose success differs, largest difference first."""


class Pair(NamedTuple):
    """The same episode twice, scored both times."""

    first: bool
    second: bool
    cluster: str


@dataclass(frozen=True)
class PairedDifference:
    """Second minus first over `pairs`; rates and tests are None where there is no pair."""

    pairs: int
    clusters: int
    table: Mapping[tuple[bool, bool], int]
    """(first succeeds, second succeeds) → pairs."""
    first: float | None = None
    second: float | None = None
    value: float | None = None
    interval: Interval | None = None
    """Over clusters (`paired_interval`)."""
    p_value: float | None = None
    """McNemar, exact, two-sided; takes pairs as independent."""


def paired_difference(pairs: Sequence[Pair]) -> PairedDifference:
    """What both sides do on the same episodes."""
    n = len(pairs)
    table = Counter((pair.first, pair.second) for pair in pairs)
    if not n:
        return PairedDifference(0, 0, table)
    first, second, clusters = zip(*pairs, strict=True)
    only_first, only_second = table[True, False], table[False, True]
    counts = [[table[True, True], only_first], [only_second, table[False, False]]]
    return PairedDifference(
        pairs=n,
        clusters=len(set(clusters)),
        table=table,
        first=fmean(first),
        second=fmean(second),
        value=(only_second - only_first) / n,
        interval=paired_interval(first, second, clusters),
        p_value=float(mcnemar(counts, exact=True).pvalue),
    )


def paired(first: Sequence[Outcome], second: Sequence[Outcome]) -> Comparison:
    """Compare two runs over the episodes that both planned."""
    left, right, keys = _join(first, second, lambda o: (o.task_id, o.window, o.repeat))
    pairs = [(left[key], right[key]) for key in keys]
    scored = [(a, b) for a, b in pairs if a.scored and b.scored]
    found = paired_difference([Pair(a.state == "success", b.state == "success", a.cluster) for a, b in scored])
    return Comparison(
        planned=len(pairs),
        only_first_planned=len(left) - len(pairs),
        only_second_planned=len(right) - len(pairs),
        pairs=found.pairs,
        both=found.table[True, True],
        first_only=found.table[True, False],
        second_only=found.table[False, True],
        neither=found.table[False, False],
        not_scored=dict(Counter((a.state, b.state) for a, b in pairs if not (a.scored and b.scored))),
        first_rate=found.first,
        second_rate=found.second,
        difference=found.value,
        interval=found.interval,
        p_value=found.p_value,
        clusters=found.clusters,
        differing=_differing(scored),
    )


@dataclass(frozen=True)
class WindowComparison:
    """One policy in two time windows. Rates are successes over planned episodes, clustered by task."""

    tasks: int
    first: Rate
    second: Rate
    mean: float | None
    gap: float | None
    """Second minus first."""
    gap_interval: Interval | None
    """Bootstrap over tasks."""
    flips: int
    pairs: int
    """Pairs scored in both windows: the denominator of the flip rate."""
    flip_rate: float | None
    excluded: tuple[tuple[str, str], ...]
    """(task_id, reason) of the tasks that `BLOCKED_TWICE` leaves out of the two rates below."""
    first_kept: Rate
    second_kept: Rate
    mean_kept: float | None


def windows(first: Sequence[Outcome], second: Sequence[Outcome]) -> WindowComparison:
    """Compare two windows over the (task, repeat)s planned in both."""
    left, right, keys = _join(first, second, lambda o: (o.task_id, o.repeat))
    pairs = [(left[key], right[key]) for key in keys]
    excluded = _blocked_twice(pairs)
    kept = [(a, b) for a, b in pairs if a.task_id not in excluded]
    scored = [(a, b) for a, b in pairs if a.scored and b.scored]
    flips = sum(a.state != b.state for a, b in scored)
    a_rate, b_rate = _sides(pairs)
    a_kept, b_kept = _sides(kept)
    return WindowComparison(
        tasks=len({a.task_id for a, _ in pairs}),
        first=a_rate,
        second=b_rate,
        mean=_mean(a_rate, b_rate),
        gap=b_rate.value - a_rate.value if a_rate.value is not None and b_rate.value is not None else None,
        gap_interval=paired_interval([a.success for a, _ in pairs], [b.success for _, b in pairs], [a.task_id for a, _ in pairs]),
        flips=flips,
        pairs=len(scored),
        flip_rate=flips / len(scored) if scored else None,
        excluded=tuple(sorted(excluded.items(), key=lambda item: natural(item[0]))),
        first_kept=a_kept,
        second_kept=b_kept,
        mean_kept=_mean(a_kept, b_kept),
    )


def _join(
    first: Sequence[Outcome], second: Sequence[Outcome], key: Callable[[Outcome], Hashable]
) -> tuple[dict[Hashable, Outcome], dict[Hashable, Outcome], list[Hashable]]:
    left, right = {key(o): o for o in first}, {key(o): o for o in second}
    return left, right, [k for k in left if k in right]


def _sides(pairs: Sequence[tuple[Outcome, Outcome]]) -> tuple[Rate, Rate]:
    tasks = [a.task_id for a, _ in pairs]
    return rate([a.success for a, _ in pairs], tasks), rate([b.success for _, b in pairs], tasks)


def _mean(first: Rate, second: Rate) -> float | None:
    return None if first.value is None or second.value is None else (first.value + second.value) / 2


def _blocked_twice(pairs: Sequence[tuple[Outcome, Outcome]]) -> dict[str, str]:
    """Task → reason, for tasks that were blocked in every planned episode of both windows."""
    open_tasks = {a.task_id for a, b in pairs if not a.state == b.state == "blocked"}
    reasons: dict[str, set[str]] = {}
    for pair in pairs:
        for side in pair:
            if side.task_id not in open_tasks and side.row is not None:
                reasons.setdefault(side.task_id, set()).add(side.row.reason or side.row.error_message or "no reason")
    return {task_id: "; ".join(sorted(found)) for task_id, found in reasons.items()}


def _differing(scored: Sequence[tuple[Outcome, Outcome]]) -> tuple[TaskDifference, ...]:
    tasks: dict[str, list[tuple[Outcome, Outcome]]] = {}
    for a, b in scored:
        tasks.setdefault(a.task_id, []).append((a, b))
    found = [
        TaskDifference(
            task_id=task_id,
            site=pairs[0][0].site,
            pairs=len(pairs),
            first=sum(a.state == "success" for a, _ in pairs),
            second=sum(b.state == "success" for _, b in pairs),
        )
        for task_id, pairs in tasks.items()
        if any(a.state != b.state for a, b in pairs)
    ]
    return tuple(sorted(found, key=lambda d: (-abs(d.difference), natural(d.task_id))))
