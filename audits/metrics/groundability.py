"""M5: could the dream's actions be executed on the real page at all?

    groundable = exact + contextual (+ no_element);   phantom = absent: the dream invented the element

Shares are of attempted actions, clustered by template. In arm `stop` nothing after the first failure is attempted: a phantom at
page 1 hides later ones, so compare arms only within one arm, or read the share of dreams instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from audits.metrics.numbers import Estimate, proportion
from audits.records import AuditRow, GroundClass
from harness.types import Record

CLASSES: tuple[GroundClass, ...] = get_args(GroundClass)
GROUNDED: frozenset[GroundClass] = frozenset({"exact", "contextual", "no_element"})


class Groundability(Record):
    """Denominators: attempted actions, attempted element actions, dreams with at least one attempted action."""

    actions: dict[GroundClass, Estimate]
    """Share of each class among attempted actions."""
    groundable: Estimate
    """G: exact or contextual, among element actions."""
    phantom: Estimate
    """Absent, among element actions."""
    dreams: Estimate
    """Share of dreams whose every attempted action was grounded or needed no element."""


def groundability(rows: Sequence[AuditRow]) -> Groundability:
    """Of `rows` of one arm."""
    rows = sorted(rows, key=lambda r: (r.dream, r.arm))
    actions = [(kind, r.cluster, r.weight) for r in rows for kind in r.grounding]
    elements = [a for a in actions if a[0] != "no_element"]
    tried = [r for r in rows if r.grounding]

    def share(kinds: frozenset[GroundClass], among: list[tuple[GroundClass, str, float]]) -> Estimate:
        return proportion([a[0] in kinds for a in among], [a[1] for a in among], [a[2] for a in among])

    return Groundability(
        actions={kind: share(frozenset({kind}), actions) for kind in CLASSES},
        groundable=share(GROUNDED, elements),
        phantom=share(frozenset({"absent"}), elements),
        dreams=proportion(
            [GROUNDED.issuperset(r.grounding) for r in tried], [r.cluster for r in tried], [r.weight for r in tried]
        ),
    )
