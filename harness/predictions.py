"""What a world model is asked and what it answers. Like harness.types: frozen records that import nothing heavy.

WorldModelQuery   goal?, o_t, a_t, what came before        →   Prediction   r, Δ, o_t+1?, terminal?, reward?
                                                               kept in a dreamed Step's metadata["prediction"]
"""

from __future__ import annotations

from typing import Final

from harness.types import Action, Observation, Record, Usage

RETOLD: Final = "retold"
"""Key of `Task.metadata`: this is about a page whose names were changed, which no browser has."""


class PastStep(Record):
    """A page that was acted on earlier in the episode, and the action."""

    observation: Observation
    action: Action


class WorldModelQuery(Record):
    """What becomes of this page after this action? Holds nothing from after the action."""

    goal: str = ""
    """Empty where the world model is not told it (the goal-leak test compares both)."""
    observation: Observation
    action: Action
    """Element actions carry a `target` descriptor: models that name elements need it."""
    history: tuple[PastStep, ...] = ()
    """Oldest first; the page memory of the episode is made from it."""
    site: str = ""
    """`Task.site`: the shelf of the page memory. Not a hint about the outcome."""
    seed: int = 0


class Prediction(Record):
    """One sampled answer to a `WorldModelQuery`."""

    world_model: str
    """Name and version, or checkpoint, of what answered."""
    next_observation: Observation | None
    """None where the answer cannot be read or applied: `malformed` says why. Never a silent copy of o_t."""
    rationale: str = ""
    """r of DynaWeb §3.1: why the page changes so."""
    delta: str = ""
    """Δ in the model's own spelling: edits, or English."""
    terminal: bool | None = None
    """The episode ends here; None where the model does not say."""
    self_assessed_reward: float | None = None
    """The model's own probability in [0, 1] that the goal is reached at this state; None where it does not say."""
    malformed: str = ""
    repaired: bool = False
    """The answer was decoded again under a grammar."""
    retrieved: str = ""
    """Key of the remembered page that served as next page; empty if none did."""
    text: str = ""
    """The raw answer."""
    token_ids: tuple[int, ...] | None = None
    token_logprobs: tuple[float, ...] | None = None
    """Per token of the answer; None where the backend gives none."""
    finish_reason: str = ""
    usage: Usage = Usage()
