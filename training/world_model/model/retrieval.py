"""World models that look the answer up in the training transitions, without any training (after R-WoM).

    the nearest transition's edits, spelt for its page, applied to this page        (shown to a model instead: `prompted`)

Edits name the acted element (`it`), what was typed (`{typed}`) and remembered pages, so one transition answers for its
namesakes: this is the strongest answer without learning. Where the edits of the nearest transition do not fit this page,
the next nearest is tried; where none fits, the answer is malformed, never a silent copy.

R-WoM retrieves tutorials from documentation; our sites have none, so transitions stand in for them, and its ranking of
actions is the lookahead policy's business.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from harness.predictions import Prediction, WorldModelQuery
from harness.types import Usage
from training.world_model.formats import Format
from training.world_model.labels import DiffLabeler
from training.world_model.memory import PageMemory
from training.world_model.model.neighbours import Neighbours, example_name
from training.world_model.transitions import WorldModelExample

TRIED: Final = 5
"""Neighbours whose edits are tried on the page."""


class RetrievalWorldModel:
    """Answers with what the nearest training transitions did."""

    name = "retrieval"
    parameters = 0

    def __init__(self, examples: Iterable[WorldModelExample], make_format: Callable[[PageMemory], Format]) -> None:
        """`examples` are kept. `make_format` gets a memory of all their pages."""
        kept = list(examples)
        memory = PageMemory()
        for example in kept:
            episode = f"{example.provenance.get('run', '')}/{example.provenance.get('episode', '')}"
            for page in (example.query.observation, example.next_observation):
                memory.add(page, example.query.site, episode)
        self._neighbours = Neighbours(kept)
        self._format = make_format(memory)
        self._labeler = DiffLabeler()
        self._answers: dict[str, str] = {}
        self.version = f"1 {self._format.name} {len(kept)} transitions"

    def predict(self, queries: Sequence[WorldModelQuery], samples: int = 1) -> list[list[Prediction]]:
        return [[self._answer(query)] * samples for query in queries]

    def close(self) -> None: ...

    def examples(self, query: WorldModelQuery, k: int) -> list[tuple[str, str]]:
        """(prompt, answer) of the k nearest transitions, nearest first."""
        return [(self._format.prompt(near.query), self._taught(near)) for near in self._neighbours.nearest(query, k)]

    @property
    def format(self) -> Format:
        return self._format

    def _answer(self, query: WorldModelQuery) -> Prediction:
        began = time.perf_counter()
        why = "no transition to retrieve"
        for near in self._neighbours.nearest(query, TRIED):
            text = self._taught(near)
            reading = self._format.read(query, text)
            if reading.next_observation is not None and not reading.malformed:
                return Prediction(
                    world_model=f"{self.name} {self.version}",
                    next_observation=reading.next_observation,
                    rationale=f"as in {example_name(near)}",
                    delta=reading.delta,
                    terminal=reading.terminal,
                    retrieved=reading.retrieved,
                    text=text,
                    usage=Usage(seconds=time.perf_counter() - began),
                )
            why = f"no retrieved edits fit: {reading.malformed}"
        return Prediction(world_model=f"{self.name} {self.version}", next_observation=None, malformed=why)

    def _taught(self, example: WorldModelExample) -> str:
        name = example_name(example)
        if name not in self._answers:
            terminal = example.provenance.get("terminated") is True
            label = self._labeler.label(example.query, example.next_observation, terminal=terminal)
            self._answers[name] = self._format.target(example.query, example.next_observation, label)
        return self._answers[name]
