"""M8, for group-normalised RL: would reality have pushed the policy the same way as the dream did?

Group of G dreams from one start; rewards normalised within it (Shao et al. 2024, GRPO; Zheng et al. 2025, GSPO):

    Â_i = (r_i − mean) / std           once with dreamed rewards R̂, once with real outcomes O; 0 where all G are equal

    sign agreement   share of members with sign Â^sim = sign Â^real, in groups whose real outcomes differ
    poisoned share   Σ Â_i over members with Â_i > 0 and O_i = 0, of Σ Â_i over Â_i > 0: positive push given to real failures
    dead groups      share of groups without variance: they teach nothing, in the dream and in reality

std has the divisor G (ddof = 0); another divisor scales all members of equal-sized groups alike. Clusters by template.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audits.metrics.numbers import Estimate, Floats, cluster_codes, floats, proportion, share_from_influences, undefined
from audits.records import AuditRow
from harness.types import Record


class UpdateFidelity(Record):
    groups: int
    """Groups with at least two members."""
    complete: int
    """Groups whose every member has a real outcome: only they enter sign agreement and the two rates of dead groups."""
    sign_agreement: Estimate
    """n = members of complete groups with real variance. A member of a dead dreamed group (Â = 0) agrees with nothing."""
    opposed: Estimate
    """Share of the same members with strictly opposite signs: updates that unlearn."""
    poisoned_share: Estimate
    """n = members with Â^sim > 0 and a real outcome."""
    poisoned_bounds: tuple[float | None, float | None]
    """If all inconclusive members had succeeded, and if all had failed."""
    dead_simulated: Estimate
    dead_real: Estimate


def update_fidelity(rows: Sequence[AuditRow]) -> UpdateFidelity:
    """Of `rows` of one arm; rows without a group, and groups of one, are left out."""
    by_group: dict[str, list[AuditRow]] = {}
    for row in sorted(rows, key=lambda r: (r.group, r.dream)):
        if row.group:
            by_group.setdefault(row.group, []).append(row)
    groups = [members for members in by_group.values() if len(members) > 1]
    complete = [members for members in groups if all(r.real is not None for r in members)]
    pairs = [
        (float(s), float(r), row.cluster)
        for members in complete
        for s, r, row in zip(advantages(_dreamed(members)), advantages(_real(members)), members, strict=True)
        if r != 0
    ]
    cluster = [c for _, _, c in pairs]
    pushed = [
        (float(a), row) for members in groups for a, row in zip(advantages(_dreamed(members)), members, strict=True) if a > 0
    ]
    return UpdateFidelity(
        groups=len(groups),
        complete=len(complete),
        sign_agreement=proportion([s * r > 0 for s, r, _ in pairs], cluster),
        opposed=proportion([s * r < 0 for s, r, _ in pairs], cluster),
        poisoned_share=poisoned_share([(a, row) for a, row in pushed if row.real is not None]),
        poisoned_bounds=_bounds(pushed),
        dead_simulated=_dead(complete, [_dreamed(m) for m in complete]),
        dead_real=_dead(complete, [_real(m) for m in complete]),
    )


def advantages(rewards: Floats) -> Floats:
    """[G] → [G]: (r − mean) / std with divisor G; all 0 for a group without variance."""
    if np.ptp(rewards) == 0:
        return np.zeros_like(rewards)
    return floats((rewards - rewards.mean()) / rewards.std())


def _dreamed(members: Sequence[AuditRow]) -> Floats:
    return floats([r.dreamed for r in members])


def _real(members: Sequence[AuditRow]) -> Floats:
    return floats([bool(r.real) for r in members])


def poisoned_share(pushed: Sequence[tuple[float, AuditRow]]) -> Estimate:
    """Σ Â over real failures / Σ Â. pushed: (Â > 0, row with a real outcome). Wilson on an effective n, rows weighing by Â."""
    if not pushed:
        return undefined()
    push = floats([a for a, _ in pushed])
    failed = floats([row.real is False for _, row in pushed])
    cluster = [row.cluster for _, row in pushed]
    value = float((push * failed).sum() / push.sum())
    made = share_from_influences(value, push * (failed - value) / push.sum(), cluster, push)
    return made.model_copy(update={"k": float(failed.sum()), "clusters": cluster_codes(cluster)[0]})


def _bounds(pushed: Sequence[tuple[float, AuditRow]]) -> tuple[float | None, float | None]:
    total = sum(a for a, _ in pushed)
    if not total:
        return None, None
    low = sum(a for a, row in pushed if row.real is False) / total
    return low, low + sum(a for a, row in pushed if row.real is None) / total


def _dead(groups: Sequence[Sequence[AuditRow]], rewards: Sequence[Floats]) -> Estimate:
    return proportion([np.ptp(r) == 0 for r in rewards], [members[0].cluster for members in groups])
