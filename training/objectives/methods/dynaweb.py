"""DynaWeb (§3.3, eqs. 6–10, appendix A.3): GSPO on dreams mixed with whole expert trajectories, no KL.

    J = 1/N Σ_i min(s_i A_i, clip(s_i, 1 − ε_low, 1 + ε_high) A_i)      s_i over all agent tokens of the trajectory

Where this differs from the paper, or fills what it leaves open (also docs/paper-map.md):
- ε is undisclosed: GSPO's own 3e-4 and 4e-4.
- The expert branch is written under π_old and not explained: `snapshot` in the group's baseline; docs/objectives/dynaweb.md
  has the alternatives.
- Groups with equal rewards are dropped. Their gradient is 0 either way; dropped, they do not dilute the others.
- ddof and eps of the z-score are undisclosed: 1 and 1e-6.
"""

from __future__ import annotations

from training.objectives.config import AdvantageConfig, ClipConfig, ObjectiveConfig

DYNAWEB = ObjectiveConfig(
    name="dynaweb",
    form="surrogate",
    ratio="trajectory",
    clip=ClipConfig(low=3e-4, high=4e-4),
    advantage=AdvantageConfig(kind="z_score", ddof=1, eps=1e-6),
    aggregation="trajectory_mean",
    group_filter="drop",
    undisclosed=(
        "clip.low",
        "clip.high",
        "advantage.ddof",
        "advantage.eps",
        "expert.policy",
        "expert.in_baseline",
        "group_filter",
    ),
)
