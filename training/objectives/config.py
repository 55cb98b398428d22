"""The axes along which the methods differ, as frozen records. A method is one value per axis (training.objectives.methods).

form          what a row contributes: a clipped ratio, a plain log-likelihood, WebRL's regression
ratio         over what the probability ratio is taken: token, turn, trajectory
clip          how far it may move the policy
advantage     how rewards become advantages
aggregation   what is averaged over what
kl            the leash to a reference policy
expert        how rows that an expert wrote enter
group_filter  what becomes of groups whose rewards are all equal
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from harness.types import Record

Form = Literal["surrogate", "likelihood", "regression"]
RatioLevel = Literal["token", "turn", "trajectory"]
AdvantageKind = Literal["z_score", "centred", "reward"]
Aggregation = Literal["trajectory_mean", "turn_sum", "constant", "step_mean", "token_mean", "three_level"]
KlKind = Literal["none", "k1", "k2", "k3"]
ExpertPolicy = Literal["snapshot", "recorded", "luffy", "sft"]
GroupFilter = Literal["keep", "drop", "resample", "replay"]
TRAJECTORY_AGGREGATIONS: tuple[Aggregation, ...] = ("trajectory_mean", "constant", "token_mean")
"""Those that give all tokens of a trajectory one weight."""


class ClipConfig(Record):
    """Bounds of the probability ratio ρ."""

    low: float | None = Field(default=0.2, ge=0, lt=1)
    """ε_low: ρ is clipped below at 1 − ε_low. None: not clipped."""
    high: float | None = Field(default=0.2, ge=0)
    """ε_high: ρ is clipped above at 1 + ε_high. None: not clipped."""
    dual: float | None = Field(default=None, gt=1)
    """c of dual clipping: with a negative advantage A the objective is at least c·A. None: no floor."""


class AdvantageConfig(Record):
    """From the rewards of a group to advantages."""

    kind: AdvantageKind = "z_score"
    """`z_score` (r − mean)/(std + eps); `centred` r − mean; `reward` r itself."""
    ddof: Literal[0, 1] = 1
    """Degrees of freedom taken off in the standard deviation; TRL and verl take 1."""
    eps: float = Field(default=1e-6, ge=0)
    """Added to the standard deviation; verl has 1e-6, TRL 1e-4."""


class KlConfig(Record):
    """Penalty β·KL(π_θ ‖ π_ref) per token, weighted like the objective."""

    kind: KlKind = "none"
    beta: float = Field(default=0.0, ge=0)
    cap_at_advantage: bool = False
    """The gradient of the penalty on a token is at most |A| in size (ZeroGUI's released code); k2 only."""

    @model_validator(mode="after")
    def _consistent(self) -> KlConfig:
        if (self.kind == "none") != (self.beta == 0):
            raise ValueError("kl.beta and kl.kind go together: either both are off, or both are set")
        if self.cap_at_advantage and self.kind != "k2":
            raise ValueError("kl.cap_at_advantage is defined for k2 only")
        return self


class ExpertConfig(Record):
    """Rows written by an expert and not by the policy. docs/objectives/dynaweb.md has the formulas."""

    policy: ExpertPolicy = "snapshot"
    """Denominator of an expert token's ratio. `snapshot`: the policy at the beginning of the update, as if it had written the
    token. `recorded`: the probability that the expert's own model gave it. `luffy`: 1, with the ratio shaped and not clipped.
    `sft`: no ratio; the token's cross entropy."""
    in_baseline: bool = True
    """Do expert rewards count in the group's mean and deviation? If not, an expert's advantage is its reward minus the mean of
    the policy's own rewards."""
    luffy_gamma: float = Field(default=0.1, gt=0)
    """γ of LUFFY's shaping p/(p + γ)."""
    sft_coefficient: float = Field(default=1.0, ge=0)
    """Weight of the cross entropy with `sft`."""


class ObjectiveConfig(Record):
    """A method. `undisclosed` names fields whose values the paper does not give: they are ours."""

    name: str
    form: Form = "surrogate"
    ratio: RatioLevel = "token"
    clip: ClipConfig = ClipConfig()
    advantage: AdvantageConfig = AdvantageConfig()
    aggregation: Aggregation = "trajectory_mean"
    constant: float = Field(default=1.0, gt=0)
    """k of the aggregation `constant`: tokens are summed and divided by k times the number of trajectories."""
    kl: KlConfig = KlConfig()
    expert: ExpertConfig = ExpertConfig()
    group_filter: GroupFilter = "drop"
    beta: float = Field(default=1.0, gt=0)
    """β of the form `regression`."""
    undisclosed: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _exact(self) -> ObjectiveConfig:
        # The rows of a trajectory share its ratio, so they must share its weight per token.
        if self.form == "surrogate" and self.ratio == "trajectory" and self.aggregation not in TRAJECTORY_AGGREGATIONS:
            raise ValueError(
                f"a ratio per trajectory with aggregation {self.aggregation} is no objective of its own: "
                f"use {', '.join(TRAJECTORY_AGGREGATIONS)}"
            )
        return self
