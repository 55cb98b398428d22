"""Real transitions: collect or import them, clean them with counted reasons, split them without leaks, read them.

    sources    open_source(name, kind): runs, exports, NNetNav's rows, Go-Browse's    runs  nnetnav  gobrowse  lines  raw
    building   build(sources, out, options, …) → Card                                 cleaning  splitting  selecting  leaks
    reading    read_dataset, read_outcomes, read_episodes                             records
    card       read_card;  leaks.check_dataset recomputes every key

What a data set holds is described in docs/data.md.
"""

from training.world_model.transitions.building import BuildOptions, build
from training.world_model.transitions.card import Card, SplitCard, read_card
from training.world_model.transitions.leaks import LeakCheck, check_dataset
from training.world_model.transitions.reading import read_dataset, read_episodes, read_outcomes
from training.world_model.transitions.records import (
    HISTORY_PAGES,
    SPLITS,
    OutcomeExample,
    StoredEpisode,
    StoredOutcome,
    StoredStep,
    WorldModelExample,
)
from training.world_model.transitions.sources import KINDS, open_source

__all__ = [
    "HISTORY_PAGES",
    "KINDS",
    "SPLITS",
    "BuildOptions",
    "Card",
    "LeakCheck",
    "OutcomeExample",
    "SplitCard",
    "StoredEpisode",
    "StoredOutcome",
    "StoredStep",
    "WorldModelExample",
    "build",
    "check_dataset",
    "open_source",
    "read_card",
    "read_dataset",
    "read_episodes",
    "read_outcomes",
]
