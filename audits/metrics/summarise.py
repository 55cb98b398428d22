"""All rows of an audit → `AuditSummary`. Chooses rows for each metric; computes nothing itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np

from audits.metrics.blame import blame
from audits.metrics.calibration import calibration
from audits.metrics.controls import Controls, controls, excess
from audits.metrics.discrimination import auprc, auroc
from audits.metrics.divergence import compare, log_rank, survival
from audits.metrics.exploitation import exploitation
from audits.metrics.groundability import groundability
from audits.metrics.numbers import mean, proportion
from audits.metrics.power import power_card
from audits.metrics.ranks import ranks
from audits.metrics.rates import MAX_INCONCLUSIVE, Rates, headline_rows, rates
from audits.metrics.selective import RiskCoverage, risk_coverage
from audits.metrics.strata import CUTS, cut
from audits.metrics.summary import Anchored, AuditSummary, Counts, Recovery
from audits.metrics.updates import update_fidelity
from audits.metrics.worth import worth
from audits.records import AuditRow, DeterminismRow, PlantedFault, PolicyRow, SamplingPlan

ESTIMANDS = {
    "stop": "E1 trajectory validity: the dreamed actions, executed as dreamed, until one cannot be",
    "skip": "E1 without the actions that cannot be executed",
    "handover": "E3 recoverability: the dreamed actions to the first divergence, then the policy",
    "policy": "E2 policy validity: the same checkpoint, closed loop, from the same start",
}

OTHER_ARMS: tuple[Literal["skip", "handover", "policy"], ...] = ("skip", "handover", "policy")


def summarise(
    rows: Sequence[AuditRow],
    *,
    negative: Sequence[AuditRow] = (),
    planted: Sequence[PlantedFault] = (),
    determinism: Sequence[DeterminismRow] = (),
    policies: Sequence[PolicyRow] = (),
    not_replayed: Sequence[AuditRow] = (),
    plan: SamplingPlan | None = None,
) -> AuditSummary:
    """Every metric of an audit; nothing depends on the order of rows.

    `rows`: replays of dreams, all arms and anchors. `negative`: replays of recorded real successes. `not_replayed`: dreams
    that were not drawn, with whatever outcome ("inconclusive"): simulated results that `worth` may use.
    """
    primary = headline_rows(rows)
    checked = controls(negative, planted, determinism)
    table = rates(primary)
    withheld = headline_withheld(checked, table)
    models = sorted({r.world_model for r in primary})
    copies = [r for r in rows if r.anchor == "copy" and r.arm == "stop"]
    scored = [r for r in primary if r.score is not None and r.real is not None]
    p, y, cluster = [r.score or 0.0 for r in scored], [float(bool(r.real)) for r in scored], [r.cluster for r in scored]
    compared = [r for r in primary if r.unintended_changes is not None]
    dreamed = table.confusion.n11 + table.confusion.n10
    return AuditSummary(
        status=checked.validity.status,
        reasons=checked.validity.reasons,
        warnings=checked.validity.warnings,
        headline=None if withheld else table.ssrf,
        headline_withheld=withheld,
        estimands=ESTIMANDS,
        plan=plan,
        plan_digest=plan.digest if plan else "",
        weighted=bool(primary) and float(np.ptp([r.weight for r in primary])) > 0,
        counts=counts(primary, plan),
        controls=checked,
        rates=table,
        excess=excess(primary, negative) if negative and dreamed else None,
        cuts=tuple(cut(primary, by) for by in CUTS),
        arms={arm: rates(chosen) for arm in OTHER_ARMS if (chosen := _arm(rows, arm))},
        recovery=tuple(recovery(primary, _arm(rows, arm), arm) for arm in OTHER_ARMS if _arm(rows, arm)),
        anchors=tuple(
            _anchored(name, [r for r in rows if r.anchor == name and r.arm == "stop"])
            for name in sorted({r.anchor for r in rows if r.anchor})
        ),
        survival=survival(primary),
        by_world_model=tuple(_anchored(m, [r for r in primary if r.world_model == m]) for m in models) if len(models) > 1 else (),
        world_models_log_rank=log_rank({m: [r for r in primary if r.world_model == m] for m in models}),
        against_copy=compare(primary, copies) if copies and primary else None,
        groundability=groundability(primary),
        side_effects=proportion(
            [bool(r.unintended_changes) for r in compared], [r.cluster for r in compared], [r.weight for r in compared]
        ),
        calibration=calibration(p, y, cluster),
        auroc=auroc(p, y, cluster),
        auprc=auprc(p, y, cluster),
        selective=selective(primary),
        blame=blame(primary),
        updates=update_fidelity(primary) if any(r.group for r in primary) else None,
        worth=worth(primary, not_replayed) if primary else None,
        ranks=ranks(policies) if policies else None,
        exploitation=exploitation(policies) if policies else None,
        power=power_card(dreamed, len({r.cluster for r in primary if r.dreamed and r.real is not None})),
    )


def headline_withheld(checked: Controls, table: Rates) -> tuple[str, ...]:
    """Why SSRF may not be quoted; empty if it may."""
    reasons = list(checked.validity.reasons)
    share = table.ssrf_bounds.inconclusive_share
    if not table.ssrf.n:
        reasons.append("no dreamed success has a real outcome yet")
    elif share is not None and share > MAX_INCONCLUSIVE:
        reasons.append(
            f"{share:.1%} of {table.ssrf_bounds.n} dreamed successes have no real outcome (at most {MAX_INCONCLUSIVE:.0%}): "
            f"SSRF lies between {table.ssrf_bounds.low:.1%} and {table.ssrf_bounds.high:.1%}"
        )
    return tuple(reasons)


def counts(rows: Sequence[AuditRow], plan: SamplingPlan | None) -> Counts:
    """What became of the plan."""
    outcomes = Counter(r.outcome for r in rows)

    def causes(outcome: str) -> dict[str, int]:
        return dict(sorted(Counter(r.cause or "unknown" for r in rows if r.outcome == outcome).items()))

    return Counts(
        planned=plan.drawn if plan else None,
        missing=max(0, plan.drawn - len(rows)) if plan else None,
        replayed=len(rows),
        success=outcomes["success"],
        failure=outcomes["failure"],
        inconclusive=outcomes["inconclusive"],
        failure_causes=causes("failure"),
        inconclusive_causes=causes("inconclusive"),
        clusters=len({r.cluster for r in rows}),
        tasks=len({(r.benchmark, r.task_id) for r in rows}),
        sites=tuple(sorted({r.site for r in rows})),
        policies=tuple(sorted({r.policy for r in rows})),
        world_models=tuple(sorted({r.world_model for r in rows})),
    )


def recovery(primary: Sequence[AuditRow], other: Sequence[AuditRow], arm: Literal["skip", "handover", "policy"]) -> Recovery:
    """Mean of O(arm) − O(stop) over dreams scored in both."""
    first = {r.dream: r for r in primary if r.real is not None}
    pairs = [(first[r.dream], r) for r in other if r.real is not None and r.dream in first]
    difference = mean(
        [float(bool(b.real)) - float(bool(a.real)) for a, b in pairs],
        [a.cluster for a, _ in pairs],
        [a.weight for a, _ in pairs],
        low=-1,
        high=1,
    )
    return Recovery(arm=arm, difference=difference, missing=len(other) - len(pairs))


def selective(rows: Sequence[AuditRow]) -> tuple[RiskCoverage, ...]:
    """One curve per disagreement score, over conclusive dreamed successes that have it; 1 − p̂ is one more score."""
    chosen = [r for r in rows if r.dreamed and r.real is not None]
    names = sorted({name for r in chosen for name in r.uncertainty})
    values = {name: {r.dream: r.uncertainty[name] for r in chosen if name in r.uncertainty} for name in names}
    if any(r.score is not None for r in chosen):
        values["self_assessment"] = {r.dream: 1 - r.score for r in chosen if r.score is not None}
    curves = []
    for name, u in values.items():
        used = [r for r in chosen if r.dream in u]
        curves.append(
            risk_coverage(
                name,
                [u[r.dream] for r in used],
                [r.real is False for r in used],
                [r.cluster for r in used],
                [r.dream for r in used],
            )
        )
    return tuple(curves)


def _arm(rows: Sequence[AuditRow], arm: str) -> list[AuditRow]:
    return sorted((r for r in rows if r.arm == arm and not r.anchor), key=lambda r: r.dream)


def _anchored(name: str, rows: Sequence[AuditRow]) -> Anchored:
    ordered = sorted(rows, key=lambda r: r.dream)
    return Anchored(name=name, rates=rates(ordered), survival=survival(ordered))
