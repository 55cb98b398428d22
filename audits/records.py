"""What an audit knows about one dream, one control and one policy: small frozen rows that metrics are computed from.

    AuditRow         one dream, replayed in a real browser under one arm     audits.replay → audits.metrics
    PlantedFault     one positive control: a fault of a known kind at a known page
    DeterminismRow   the same real actions, twice
    PolicyRow        one policy checkpoint on one task, simulated and real, closed loop
    SamplingPlan     what was drawn from what, fixed before the first browser starts

Pages of a dream of T actions are numbered 1 … T+1. The agent acts on page t with action t; page T+1 is the last one, from
which success is claimed. "Diverged at t" means: dreamed page t is the first that disagrees with the real page t, or action t
could not be executed there. A negative control is an `AuditRow` too: a recorded real success pushed through the same path.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from harness.types import Record

AUDIT_SCHEMA_VERSION = 1

Outcome = Literal["success", "failure", "inconclusive"]
"""What reality said. `inconclusive` (infrastructure, safety block, no oracle) is never counted as a failure of the dream."""

Arm = Literal["stop", "skip", "handover", "policy"]
"""stop = execute the dreamed actions, end at the first that cannot be executed (estimand E1, primary); skip = leave such
actions out and go on; handover = replay to the first divergence, then the policy goes on (E3); policy = the checkpoint plays
closed loop from the same start (E2)."""

DivergenceCause = Literal["exec", "url", "crit", "any"]
"""exec = target not groundable, or the action had an error; url = other URL, title, dialog or login; crit = an element that a
later dreamed action uses, or that the goal needs, is missing or contradicted; any = delta F1 below the controls' threshold."""

GroundClass = Literal[
    "exact", "contextual", "fuzzy", "ambiguous", "absent", "wrong_state", "off_origin", "invalid_argument", "no_element",
]  # fmt: skip
"""How an action's target was found on the real page. `no_element`: a valid action that needs none (scroll, go back, stop)."""

Anchor = Literal["", "copy", "oracle", "random"]
"""World models with a known answer, shown beside the audited one and never mixed with it. Empty: the audited one."""

Cause = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$|^$")]
"""A short word for counting (`exec`, `oracle`, `safety`, `infrastructure`, `start_mismatch`, `timeout_site` …), or empty."""

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Weight = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class AuditRow(Record):
    """One dream and what reality made of it, under one arm. (`dream`, `arm`) is unique in an audit."""

    dream: str
    """`run_id/episode_id` of the stored dream (of the recorded real episode, in a negative control)."""
    benchmark: str = ""
    task_id: str
    template: str = ""
    """`Task.intent_template_id`; empty means the task is its own cluster."""
    site: str = ""
    """`Task.site`."""
    task_type: str = ""
    """Kind of task for cutting tables (`read`, `write`, `navigate` …); empty where unknown."""
    arm: Arm = "stop"
    anchor: Anchor = ""
    world_model: str = ""
    policy: str = ""
    group: str = ""
    """Dreams whose rewards were normalised together (one GSPO group); empty where there was none."""
    length: Annotated[int, Field(ge=0)]
    """T: dreamed actions, the stop included."""
    dreamed: bool
    """R̂: the dream's self-assessed reward, 1 or 0."""
    score: Share | None = None
    """p̂: the self-assessment as a probability of success; None where only 1 or 0 is known."""
    outcome: Outcome
    cause: Cause = ""
    """Why it failed or was inconclusive; empty for a success."""
    compared: Annotated[int, Field(ge=0)] = 0
    """Pages 1 … `compared` were compared with reality (at most T+1): where survival is censored if nothing diverged."""
    divergence: Annotated[int, Field(ge=1)] | None = None
    """τ: the first page that diverged; None if none did up to `compared`."""
    divergence_cause: DivergenceCause | None = None
    judge_on_real: bool | None = None
    """J_r: the same judge's verdict on the real pages of the replay; None where it was not asked or gave none."""
    grounding: tuple[GroundClass, ...] = ()
    """One class per action that was attempted, in order."""
    delta_f1: tuple[Share | None, ...] = ()
    """Fidelity of dreamed page t+1 to the real one, by t; None where it is undefined. Computed by audits.fidelity."""
    uncertainty: dict[str, Finite] = Field(default_factory=dict)
    """Disagreement scores u known when the dream was made, larger = less trusted (`token_nll`, `judge_votes` …)."""
    weight: Weight = 1.0
    """Horvitz–Thompson weight: 1 / probability that the sampling plan drew this dream."""
    unintended_changes: Annotated[int, Field(ge=0)] | None = None
    """Changes of the site's state that the goal did not ask for; None where state was not compared."""
    evidence: str = ""
    """Path of the evidence bundle, relative to the audit directory."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.divergence is None) != (self.divergence_cause is None):
            raise ValueError("a divergence has a cause, and a cause a divergence")
        if self.divergence is not None and self.divergence > self.compared:
            raise ValueError("a divergence lies on a compared page")
        if self.compared > self.length + 1:
            raise ValueError("a dream of T actions has T+1 pages")
        if self.outcome == "inconclusive" and not self.cause:
            raise ValueError("an inconclusive replay says why (cause)")
        return self

    @property
    def cluster(self) -> str:
        """The resampling unit: tasks of one template, and dreams of one task, are not independent."""
        return self.template or self.task_id

    @property
    def real(self) -> bool | None:
        """O as a truth value; None if inconclusive."""
        return None if self.outcome == "inconclusive" else self.outcome == "success"


FAULTS = (
    "renamed_target", "deleted_node", "fake_success", "wrong_count", "stale_copy", "swapped_order", "phantom_login", "wrong_url",
    "wrong_value",
)  # fmt: skip
"""Kinds of planted faults that come with the audit; a row may name another."""


class PlantedFault(Record):
    """A positive control: a fault planted into a recorded real success, and what the audit found."""

    dream: str
    task_id: str
    template: str = ""
    site: str = ""
    fault: Cause
    planted_at: Annotated[int, Field(ge=1)]
    """k: the page that was changed."""
    expected_cause: DivergenceCause
    outcome: Outcome
    """`inconclusive` rows count for nothing but themselves."""
    found_at: Annotated[int, Field(ge=1)] | None = None
    """τ̂: the first divergence reported; None if none was."""
    found_cause: DivergenceCause | None = None

    @property
    def cluster(self) -> str:
        return self.template or self.task_id


class DeterminismRow(Record):
    """The same real actions executed twice from the same snapshot."""

    task_id: str
    template: str = ""
    site: str = ""
    pages: Annotated[int, Field(ge=0)]
    """Pages that both runs reached and that were compared after masking."""
    equal: Annotated[int, Field(ge=0)]
    """Of those, pages whose normalised trees are equal."""
    masked_nodes: Annotated[int, Field(ge=0)] = 0
    """Nodes left out as volatile (clocks, tokens, counters)."""
    cause: Cause = ""
    """Why it could not be compared; empty if it was."""

    @property
    def cluster(self) -> str:
        return self.template or self.task_id


class PolicyRow(Record):
    """One policy checkpoint on one task, closed loop: mean simulated and mean real success over `rollouts`."""

    policy: str
    updates: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Position on the training axis; the reference checkpoint π_0 has the smallest."""
    kl: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """KL(π_c ‖ π_0) in nats per token; None where it was not measured."""
    task_id: str
    template: str = ""
    site: str = ""
    simulated: Share | None
    real: Share | None
    """None: no conclusive rollout. Such tasks leave the paired comparison, and are counted."""
    rollouts: Annotated[int, Field(ge=1)] = 1

    @property
    def cluster(self) -> str:
        return self.template or self.task_id


class Stratum(Record):
    """One stratum of a sampling plan."""

    name: str
    available: Annotated[int, Field(ge=1)]
    drawn: Annotated[int, Field(ge=0)]

    @property
    def weight(self) -> float:
        """1 / inclusion probability; infinite where nothing was drawn."""
        return self.available / self.drawn if self.drawn else math.inf


class SamplingPlan(Record):
    """Which dreams were to be replayed: drawn without replacement within strata, by `seed`, before any replay."""

    source: str
    """The run of dreams that was sampled."""
    rule: str
    """In words: what makes a stratum, and how the seed orders dreams."""
    seed: int
    strata: tuple[Stratum, ...]

    @property
    def drawn(self) -> int:
        return sum(s.drawn for s in self.strata)

    @property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 of the plan's canonical JSON: printed beside every headline."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]
