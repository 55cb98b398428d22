"""Which element of a real page does a dreamed action mean? No bid takes part, and no language model.

    ladder      resolve(tree, descriptor) → Grounding: the rung that found it, its score, or why there is none
    similarity  how alike are two descriptors (Similo's weights), the last rung
    measure     how often the ladder is wrong, on recorded pages changed in known ways

A bid is a counter of one loaded document: a dreamed "18" nearly always exists on the real page and is something else. A
language model as resolver would repair dreams and so hide the failures that an audit looks for.
"""

from audits.grounding.config import GroundingConfig
from audits.grounding.ladder import GROUNDED, STRICT, Candidate, Grounding, Kind, Rung, ground, ground_other, resolve

__all__ = [
    "GROUNDED",
    "STRICT",
    "Candidate",
    "Grounding",
    "GroundingConfig",
    "Kind",
    "Rung",
    "ground",
    "ground_other",
    "resolve",
]
