"""What the world model is taught: r and Δ of a transition, from one of three labelers behind one protocol.

records          Label, Labeler, Rejected
diffing          DiffLabeler            `diff`             computed from both pages: never wrong, wooden words
language_model   LanguageModelLabeler   `llm`, `diff+llm`  a model writes r and Δ, or r alone
validating       contradiction          a model's Δ against what really happened
"""

from training.world_model.labels.diffing import DiffLabeler
from training.world_model.labels.language_model import LanguageModelLabeler
from training.world_model.labels.records import Label, Labeler, Rejected

__all__ = ["DiffLabeler", "Label", "Labeler", "LanguageModelLabeler", "Rejected"]
