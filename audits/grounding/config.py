"""What the ladder may be told: fixed before an audit, written into its manifest and its report."""

from __future__ import annotations

from pydantic import Field

from harness.types import Record


class Weights(Record):
    """Shares of a similarity. Similo's (Nass et al. 2022, arXiv:2208.00677, table 2): 1.5 for what rarely changes, 0.5 for the
    rest, with a tree's terms for a document's: role for tag, ancestors for XPath, k of N for location."""

    role: float = Field(default=1.5, ge=0)
    name: float = Field(default=1.5, ge=0)
    neighbours: float = Field(default=1.5, ge=0)
    path: float = Field(default=0.5, ge=0)
    landmark: float = Field(default=0.5, ge=0)
    value: float = Field(default=0.5, ge=0)
    position: float = Field(default=0.5, ge=0)


class GroundingConfig(Record):
    """The resolver ladder's knobs."""

    threshold: float = Field(default=0.88, ge=0, le=1)
    """θ: the least similarity at which an element without equal role and name is taken for the one meant. One that agrees
    in all but its name scores 0.77: it is another one. Chosen on half of the arena's templates (audits.grounding.measure)."""
    margin: float = Field(default=0.05, ge=0, le=1)
    """δ: by how much the best candidate must lead the second; a smaller lead is AMBIGUOUS."""
    similarity: bool = True
    """Off: strict grounding, by equal role and name alone."""
    weights: Weights = Weights()
