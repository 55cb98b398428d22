"""How a query is put to a world model and how its answer is read back: one strategy per output format.

prompt(query)                 what the model reads       never sees o_t+1: it is not an argument
target(query, o_t+1, label)   what it is taught to write
read(query, text)             what its text foretells    the same code for a taught and for a generated text

read(q, target(q, o, label)).next_observation has o's tree, up to what the format's own docstring leaves out.
"""

from __future__ import annotations

from typing import Protocol

from harness.predictions import WorldModelQuery
from harness.types import Observation, Record
from training.world_model.labels.records import Label
from training.world_model.memory import PageMemory


class Reading(Record):
    """A model's text, understood. Its fields are those of `harness.predictions.Prediction` with the same names."""

    rationale: str = ""
    delta: str = ""
    next_observation: Observation | None = None
    """None where nothing of the text could be applied; `malformed` then says why."""
    terminal: bool | None = None
    malformed: str = ""
    """Also set beside a page, where some lines could not be applied and were left out: always surfaced, always counted."""
    retrieved: str = ""
    """`kind key` of the remembered page that served as next page (kind: exact, title, similar, history), else empty."""


class Answers(Protocol):
    """Which texts can still become a readable answer to one query: what a constrained decode asks."""

    def allows(self, text: str) -> bool:
        """May an answer begin so?"""

    def ends(self, text: str) -> bool:
        """Is it a whole answer?"""


class Format(Protocol):
    """One spelling of queries and answers. Frozen: `with_memory` makes another."""

    @property
    def name(self) -> str: ...

    @property
    def memory(self) -> PageMemory:
        """The remembered pages that `target` and `read` may name instead of writing them out."""

    def with_memory(self, memory: PageMemory) -> Format:
        """The same format over other remembered pages (a label is made without the pages of its own episode)."""

    def prompt(self, query: WorldModelQuery) -> str: ...

    def target(self, query: WorldModelQuery, next_observation: Observation, label: Label) -> str: ...

    def delta(self, text: str) -> str:
        """Δ of an answer in the format's own spelling, without r; empty where the text says nothing."""

    def read(self, query: WorldModelQuery, text: str) -> Reading:
        """Never raises on a text, however hostile: what cannot be read is `malformed`."""

    def grammar(self, query: WorldModelQuery) -> Answers | None:
        """None where a format has none: then what is malformed stays so."""
