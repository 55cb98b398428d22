"""What the world model is taught: r and Δ of a transition, from one of three labelers behind one protocol.

records     Label, Labeler, Rejected
diffing     DiffLabeler       computed from both pages: never wrong, wooden words
"""

from training.world_model.labels.diffing import DiffLabeler
from training.world_model.labels.records import Label, Labeler, Rejected

__all__ = ["DiffLabeler", "Label", "Labeler", "Rejected"]
