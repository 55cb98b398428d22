"""The planned episodes joined with what became of them: the one table that every number is computed from.

    plan (each key once) ⋈ last attempt of the key → Outcome(state = its status, or `missing`)

Not what was stored but what was planned is the denominator: an episode that crashed, or was never reached, stays in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from harness.types import EpisodeSpec, Status
from results.index import EpisodeRow
from results.reader import RunReader

State = Literal["success", "failure", "error", "blocked", "inconclusive", "missing"]
STATES: tuple[State, ...] = get_args(State)
SCORED: frozenset[State] = frozenset({"success", "failure"})
"""The states that say something about the agent."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One planned episode. `row` is None where it is missing: not played, interrupted, or its file unreadable."""

    key: str
    task_id: str
    site: str
    cluster: str
    window: str
    repeat: int
    order_index: int
    evaluator: str
    unachievable: bool
    state: State
    row: EpisodeRow | None

    @property
    def scored(self) -> bool:
        return self.state in SCORED

    @property
    def success(self) -> float:
        return float(self.state == "success")


def outcomes(plan: Sequence[EpisodeSpec], latest: Mapping[str, EpisodeRow]) -> list[Outcome]:
    """One outcome per planned key, in plan order."""
    return [_outcome(spec, latest.get(spec.key)) for spec in plan]


def outcomes_of(run: RunReader) -> list[Outcome]:
    """The outcomes of a stored run."""
    return outcomes(run.plan(), run.latest())


def group_by(items: Iterable[Outcome], key: Callable[[Outcome], str]) -> dict[str, list[Outcome]]:
    """Outcomes by `key`, groups sorted by name; numbers sort as numbers."""
    groups: dict[str, list[Outcome]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return dict(sorted(groups.items(), key=lambda pair: natural(pair[0])))


def natural(name: str) -> tuple[int, int, str]:
    """Sort key: "9" before "10", numbers before words."""
    return (0, int(name), "") if name.isascii() and name.isdecimal() and len(name) < 19 else (1, 0, name)


def _outcome(spec: EpisodeSpec, row: EpisodeRow | None) -> Outcome:
    state: State | Status = row.status if row is not None and row.final else "missing"
    return Outcome(
        key=spec.key,
        task_id=spec.task.task_id,
        site=spec.task.site,
        cluster=spec.task.cluster,
        window=spec.window,
        repeat=spec.repeat,
        order_index=spec.order_index,
        evaluator=spec.task.evaluator.kind,
        unachievable=spec.task.unachievable,
        state=state,
        row=row if state != "missing" else None,
    )
