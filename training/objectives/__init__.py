"""Objectives: pure torch functions along a few axes; a method is one value per axis.

    config       ObjectiveConfig: the axes, one small record each
    methods/     one preset per method; dynaweb.py
    registry     get_objective("dynaweb", clip={"low": 0.1, "high": 0.1})

    advantages   rewards of a group → advantages (z-score, centred, reward); GAE; WebRL's TD and MC mix
    ratios       log-ratios per token, turn or whole trajectory, in a form that rows can be summed in
    clipping     min(ρA, clip(ρ)A), with a floor for negative advantages
    aggregation  weight of each row: what is averaged over what
    kl           k1, k2, k3 against a reference policy
    experts      numerator, denominator and loss of rows that an expert wrote
    filters      what to do with a group whose rewards are all equal
    preferences  DPO on pairs
    loss         all of it: Σ_rows weight · Σ_tokens mask · loss

    names of tensors    R rows (one prompt and one reply each)   T token positions of a padded batch of replies
                        N trajectories (one or more rows each)   G groups (trajectories of one task)
    e.g. log_probs_RT is [R, T]. A row's mask says which positions the policy itself wrote.

Everything is a function of its arguments: no model, no files, no randomness. docs/objectives/ has a page per method.
"""

from training.objectives.advantages import gae, group_advantages, length_adaptive_lambda, webrl_advantages
from training.objectives.aggregation import row_weights
from training.objectives.clipping import clipped_surrogate
from training.objectives.config import (
    AdvantageConfig,
    ClipConfig,
    ExpertConfig,
    KlConfig,
    ObjectiveConfig,
)
from training.objectives.filters import GroupDecision, decide
from training.objectives.kl import kl_penalty
from training.objectives.loss import Loss, RowTensors, objective_loss
from training.objectives.preferences import dpo_loss
from training.objectives.ratios import log_ratios, trajectory_log_ratios
from training.objectives.registry import METHODS, get_objective

__all__ = [
    "METHODS",
    "AdvantageConfig",
    "ClipConfig",
    "ExpertConfig",
    "GroupDecision",
    "KlConfig",
    "Loss",
    "ObjectiveConfig",
    "RowTensors",
    "clipped_surrogate",
    "decide",
    "dpo_loss",
    "gae",
    "get_objective",
    "group_advantages",
    "kl_penalty",
    "length_adaptive_lambda",
    "log_ratios",
    "objective_loss",
    "row_weights",
    "trajectory_log_ratios",
    "webrl_advantages",
]
