"""What `harness audit report` prints and the dashboard shows: one frozen record, stored as JSON.

    AuditSummary
    ├── status, headline          may the audit be believed; the one number, None unless it may
    ├── plan, digest, counts      what was sampled, what became of it
    ├── controls                  M2
    ├── rates, excess, cuts       M1 for the primary arm        ├── arms, recovery     M1 for the others
    ├── survival, by_world_model  M3                            ├── anchors            copy, oracle, random
    ├── groundability             M5                            ├── calibration …      M6, blame
    └── ranks, exploitation       M7, M8                        └── updates, worth     M8, M9

Reading one needs neither scikit-learn nor lifelines. A field is None (or empty) where its rows do not exist: not measured.
"""

from __future__ import annotations

from typing import Literal

from audits.metrics.blame import Blame
from audits.metrics.calibration import Calibration
from audits.metrics.controls import Controls, Status
from audits.metrics.divergence import Difference, Survival
from audits.metrics.exploitation import Exploitation
from audits.metrics.groundability import Groundability
from audits.metrics.numbers import Estimate
from audits.metrics.power import PowerCard
from audits.metrics.ranks import Ranks
from audits.metrics.rates import Rates
from audits.metrics.selective import RiskCoverage
from audits.metrics.strata import CutTable
from audits.metrics.updates import UpdateFidelity
from audits.metrics.worth import Worth
from audits.records import SamplingPlan
from harness.types import Record

SUMMARY_SCHEMA_VERSION = 1


class Counts(Record):
    """Rows of the primary arm. planned = replayed + missing; replayed = success + failure + inconclusive."""

    planned: int | None
    """Dreams that the plan drew; None without a plan."""
    missing: int | None
    """Planned dreams without a row: the audit is unfinished by as many."""
    replayed: int
    success: int
    failure: int
    inconclusive: int
    failure_causes: dict[str, int]
    inconclusive_causes: dict[str, int]
    clusters: int
    tasks: int
    sites: tuple[str, ...]
    policies: tuple[str, ...]
    world_models: tuple[str, ...]


class Anchored(Record):
    """One world model with a known answer, or one of several audited ones."""

    name: str
    rates: Rates
    survival: Survival


class Recovery(Record):
    """Real success of another arm minus that of arm `stop`, over dreams with a real outcome in both (E3 − E1 or E2 − E1)."""

    arm: Literal["skip", "handover", "policy"]
    difference: Estimate
    missing: int
    """Dreams of the arm whose pair has no real outcome."""


class AuditSummary(Record):
    """All of an audit's numbers; each carries its n. Percentages nowhere: shares are in [0, 1]."""

    schema_version: int = SUMMARY_SCHEMA_VERSION
    status: Status
    """INVALID: the controls do not allow these numbers to be believed. They are stored all the same."""
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    headline: Estimate | None
    """SSRF of the primary arm (E1, trajectory validity). None if INVALID, or if more than 5 % of its rows are inconclusive."""
    headline_withheld: tuple[str, ...]
    """Why `headline` is None; sentences for a person."""
    estimands: dict[str, str]
    """What arms estimate, in words: always shown beside their numbers."""
    plan: SamplingPlan | None
    plan_digest: str
    weighted: bool
    """Rows have unequal Horvitz–Thompson weights: shares are of the population of dreams, counts of rows."""
    counts: Counts
    controls: Controls
    rates: Rates
    excess: Estimate | None
    """SSRF beyond the replayer's own false alarms (Abbott 1925)."""
    cuts: tuple[CutTable, ...]
    arms: dict[str, Rates]
    recovery: tuple[Recovery, ...]
    anchors: tuple[Anchored, ...]
    survival: Survival
    by_world_model: tuple[Anchored, ...]
    """Empty with one world model."""
    world_models_log_rank: float | None
    """p-value that all world models diverge alike (Mantel 1966), dreams taken as independent; None with one."""
    against_copy: Difference | None
    """Agreeing pages of the audited dreams minus the copy anchor's."""
    groundability: Groundability
    side_effects: Estimate
    """Share of replays with a state change that the goal did not ask for, among those whose state was compared."""
    calibration: Calibration
    auroc: Estimate
    auprc: Estimate
    selective: tuple[RiskCoverage, ...]
    blame: Blame
    updates: UpdateFidelity | None
    worth: Worth | None
    ranks: Ranks | None
    exploitation: Exploitation | None
    power: PowerCard
