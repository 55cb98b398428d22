"""Groups without signal: where all rewards are equal, every advantage is 0.

keep      stays in the averages with advantage 0
drop      leaves the update                                                      WebArena-style GRPO with dynamic sampling
resample  leaves it, and another group is rolled out in its place                OpenWebRL, AsyncWebRL
replay    if all failed, one stored success takes the place of one failure       ARPO §3.5; all-success groups stay
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from training.objectives.config import GroupFilter

GroupDecision = Literal["use", "drop", "resample", "replay"]


def decide(rewards: Sequence[float], strategy: GroupFilter, success: float = 1.0) -> GroupDecision:
    """What becomes of a group with these valid rewards. A group of one has nothing to be compared with: like equal rewards."""
    if not rewards:
        return "resample" if strategy == "resample" else "drop"
    if max(rewards) > min(rewards) or strategy == "keep":
        return "use"
    if strategy == "replay":
        return "replay" if max(rewards) < success else "use"
    return strategy
