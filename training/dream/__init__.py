"""Dreams: short rollouts of a policy in a world model, begun on real pages, judged by the simulator itself.

    starts       which real state a dream begins in, with the actions that lead there
    env          DreamEnv: a world model behind the Env protocol, driven by the one rollout loop
    truncation   when a dream stops before its length: disagreement, confidence
    meeting      all live dreams advance together: one batch per round for policy, world model and judge
    generate     starts × group_size → trajectories and their self-assessed verdicts
    storing      dreams as a run: manifest, episodes

DynaWeb §3.3 (arXiv 2601.22149): start at the first or a middle state of an expert trajectory, at most 5 steps, stop at a terminal
state, reward 0 or 1 by self-assessment.
"""

from training.dream.config import DreamConfig, DreamRules
from training.dream.env import DreamEnv
from training.dream.generate import Dream, PlannedDream, dream, plan_dreams, plan_groups
from training.dream.starts import DreamStart, sample_starts

__all__ = [
    "Dream", "DreamConfig", "DreamEnv", "DreamRules", "DreamStart", "PlannedDream", "dream", "plan_dreams", "plan_groups",
    "sample_starts",
]  # fmt: skip
