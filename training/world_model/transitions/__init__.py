"""Real transitions: collect or import them, clean them with counted reasons, split them without leaks, read them."""

from training.world_model.transitions.reading import read_dataset, read_episodes, read_outcomes
from training.world_model.transitions.records import SPLITS, OutcomeExample, WorldModelExample

__all__ = ["SPLITS", "OutcomeExample", "WorldModelExample", "read_dataset", "read_episodes", "read_outcomes"]
