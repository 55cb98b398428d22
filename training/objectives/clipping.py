"""PPO's clipped surrogate (Schulman et al. 2017, eq. 7), with separate bounds (DAPO) and a floor for negative advantages.

J = min(ρ A, clip(ρ, 1 − ε_low, 1 + ε_high) A)          dual clip (Ye et al. 2020):  A < 0  →  max(J, c A)
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from training.objectives.config import ClipConfig


class Surrogate(NamedTuple):
    objective_RT: Tensor
    """To be maximised."""
    clipped_RT: Tensor
    """Where the bound holds and the gradient is therefore 0 (bool)."""


def clipped_surrogate(ratio_RT: Tensor, advantage_RT: Tensor, clip: ClipConfig) -> Surrogate:
    """Element by element; any shapes that broadcast."""
    free_RT = ratio_RT * advantage_RT
    low = None if clip.low is None else 1 - clip.low
    high = None if clip.high is None else 1 + clip.high
    bounded_RT = free_RT if low is None and high is None else ratio_RT.clamp(low, high) * advantage_RT
    objective_RT = torch.minimum(free_RT, bounded_RT)
    clipped_RT = bounded_RT < free_RT
    if clip.dual is not None:
        floor_RT = clip.dual * advantage_RT
        negative_RT = advantage_RT < 0
        clipped_RT = clipped_RT | (negative_RT & (floor_RT > objective_RT))
        objective_RT = torch.where(negative_RT, torch.maximum(objective_RT, floor_RT), objective_RT)
    return Surrogate(objective_RT, clipped_RT)
