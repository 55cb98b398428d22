"""What a world model is taught about one transition, and who writes it.

    Labeler.label(query, o_t+1)  →  Label   r, Δ as edits, Δ as sentences, the end?
                                 →  Rejected (raised): this labeler has no true label for this transition; counted

o_{t+1} is read here to write the label, and nowhere else: no prompt is made from a Label (tests/training/formats).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, Protocol

from harness.axtree import Diff
from harness.predictions import WorldModelQuery
from harness.types import Observation, Usage

RejectReason = Literal["unreadable", "empty", "contradicts", "truncated", "server"]
"""unreadable: no r and Δ in the reply; contradicts: it tells of something that did not happen;
truncated: the reply was cut at its token limit; server: the model gave no answer at all."""


@dataclass(frozen=True, slots=True)
class Label:
    """The taught answer to one query."""

    rationale: str
    """r of DynaWeb §3.1: why the page changes so. One line."""
    edits: Diff
    """Δ from the normalised tree of o_t to that of o_t+1 (`harness.axtree.normalise`, bids dropped)."""
    sentences: tuple[str, ...]
    """Δ in plain English, one line each; empty if nothing changed."""
    terminal: bool = False
    """The episode ends with this action."""
    labeler: str = "diff"
    usage: Usage = field(default_factory=Usage)


class Rejected(Exception):
    """A labeler's answer that must not be taught. `reason` is for counting, `str()` for a person."""

    def __init__(self, reason: RejectReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


class Labeler(Protocol):
    """Writes labels. `name` goes into the checkpoint; `rejects` counts what was refused, by reason."""

    name: str
    rejects: Counter[str]

    def label(self, query: WorldModelQuery, next_observation: Observation, *, terminal: bool = False) -> Label:
        """Raises `Rejected` (and counts it) instead of returning a label that is not true."""
