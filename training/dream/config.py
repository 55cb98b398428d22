"""`[dream]`: how dreams are begun, bounded and judged."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.types import Record


class DreamRules(Record):
    """How one dream is begun, bounded and told. Defaults are the paper's where it states them (DynaWeb §3.3, §4.1, App. A.3)."""

    dream_length: int = Field(default=5, ge=1, le=50)
    """Policy outputs per dream, at most."""
    middle_share: float = Field(default=0.5, ge=0, le=1)
    """Chance that a dream begins at a middle state of its expert trajectory, not at the first (undisclosed in the paper)."""
    truncation: Literal["fixed", "disagreement", "confidence"] = "fixed"
    """fixed: only length and terminal states end a dream. The others also end it where the world model is unsure."""
    samples: int = Field(default=3, ge=2, le=16)
    """disagreement: answers asked for each step; the first one is dreamed on."""
    max_disagreement: float = Field(default=0.5, ge=0, le=1)
    """disagreement: 1 − mean pairwise F1 of the foreseen changes, above which the dream ends."""
    min_confidence: float = Field(default=0.5, ge=0, le=1)
    """confidence: geometric mean of the answer's token probabilities, below which the dream ends."""
    tell_goal: bool = True
    """The world model is told the goal, as in the paper. False rules out that it leaks the answer into the page."""


class DreamConfig(DreamRules):
    """A set of dreams outside training: also how many, and from which seed."""

    group_size: int = Field(default=8, ge=1)
    """Dreams per start: the group over which advantages are taken (the paper's n)."""
    seed: int = 0
    """Starts, policy and world model draw from this; equal seeds dream equal dreams."""
