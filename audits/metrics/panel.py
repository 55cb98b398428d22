"""K policies × tasks, simulated and real, on the tasks that every policy has both of: what ranks and exploitation stand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audits.metrics.numbers import Floats, cluster_sums, floats
from audits.records import PolicyRow


@dataclass(frozen=True)
class Panel:
    """Policies in order of `updates`. `simulated`, `real`: [K, J] means over rollouts."""

    policies: tuple[str, ...]
    updates: Floats
    kl: Floats | None
    """[K]; None unless every policy has one."""
    tasks: tuple[str, ...]
    cluster: tuple[str, ...]
    """[J]: cluster of each task."""
    simulated: Floats
    real: Floats
    left_out: int
    """Tasks that some policy lacks, or has no conclusive rollout of."""

    @property
    def clusters(self) -> int:
        return len(set(self.cluster))

    def rates(self, chosen: np.ndarray | None = None) -> tuple[Floats, Floats]:
        """[K], [K]: simulated and real success rates, over the tasks flagged by `chosen` [J] if given."""
        if chosen is None:
            return self.simulated.mean(axis=1), self.real.mean(axis=1)
        return self.simulated[:, chosen].mean(axis=1), self.real[:, chosen].mean(axis=1)

    def resampled(self, resamples: int, seed: int) -> tuple[Floats, Floats]:
        """[B, K] twice: rates over clusters drawn with replacement, the same draw for every policy, simulated and real."""
        cluster = list(self.cluster)
        sizes = cluster_sums(np.ones(len(cluster)), cluster)
        count = len(sizes)
        draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples)
        n = (draws @ sizes)[:, None]
        return draws @ cluster_sums(self.simulated.T, cluster) / n, draws @ cluster_sums(self.real.T, cluster) / n


def panel(rows: Sequence[PolicyRow]) -> Panel:
    """Join rows into a panel. Several rows of one policy and task are averaged by rollouts."""
    by_cell: dict[tuple[str, str], list[PolicyRow]] = {}
    for row in rows:
        by_cell.setdefault((row.policy, row.task_id), []).append(row)
    updates = {row.policy: row.updates for row in rows}
    policies = tuple(sorted(updates, key=lambda p: (updates[p], p)))
    all_tasks = sorted({row.task_id for row in rows})
    cells = {
        key: mean
        for key, found in by_cell.items()
        if (mean := _mean([r for r in found if r.simulated is not None and r.real is not None])) is not None
    }
    tasks = tuple(t for t in all_tasks if all((p, t) in cells for p in policies))
    cluster_of = {row.task_id: row.cluster for row in rows}
    kls = {row.policy: row.kl for row in rows if row.kl is not None}
    return Panel(
        policies=policies,
        updates=floats([updates[p] for p in policies]),
        kl=floats([kls[p] for p in policies]) if policies and len(kls) == len(policies) else None,
        tasks=tasks,
        cluster=tuple(cluster_of[t] for t in tasks),
        simulated=floats([[cells[p, t][0] for t in tasks] for p in policies]),
        real=floats([[cells[p, t][1] for t in tasks] for p in policies]),
        left_out=len(all_tasks) - len(tasks),
    )


def _mean(rows: Sequence[PolicyRow]) -> tuple[float, float] | None:
    n = sum(r.rollouts for r in rows)
    if not n:
        return None
    return sum((r.simulated or 0) * r.rollouts for r in rows) / n, sum((r.real or 0) * r.rollouts for r in rows) / n
