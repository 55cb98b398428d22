"""Rows to train on: a page memory from the train split, and targets made without the pages of their own episode.

    remember(examples)                        PageMemory     one pass over the train split
    build_rows(examples, format, labeler)     Row …          a second pass; streamed

Had a label the pages of its own episode to name, the model would be trained on perfect hits that never occur later.
So the target of a train row is written with `format.memory.without(its episode)`, plus what the episode has shown
before the action (that is in the query). Rows of other splits are not in the memory anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from harness.predictions import WorldModelQuery
from harness.types import JsonDict, Observation, Record
from training.world_model.formats.protocol import Format
from training.world_model.labels.records import Labeler, Rejected
from training.world_model.memory import PageMemory


class Example(Protocol):
    """What is read of `training.world_model.transitions.WorldModelExample`."""

    @property
    def query(self) -> WorldModelQuery: ...
    @property
    def next_observation(self) -> Observation: ...
    @property
    def provenance(self) -> JsonDict: ...


class Row(Record):
    """A prompt and the answer that is taught."""

    prompt: str
    target: str
    provenance: JsonDict


def episode_of(provenance: JsonDict) -> str:
    """The episode a row comes from, as the memory knows it."""
    return f"{provenance.get('run', '')}/{provenance.get('episode', '')}"


def remember(examples: Iterable[Example], memory: PageMemory | None = None) -> PageMemory:
    """The pages of `examples` as they open: those after a change of address, and each episode's first."""
    memory = PageMemory() if memory is None else memory
    before = ""
    for example in examples:
        episode, now = episode_of(example.provenance), example.query.observation
        if episode != before:
            memory.add(now, example.query.site, episode)
            before = episode
        after = example.next_observation
        if after.url != now.url:
            memory.add(after, example.query.site, episode)
    return memory


def build_rows(examples: Iterable[Example], format: Format, labeler: Labeler) -> Iterator[Row]:
    """One row per example whose label is true; the labeler counts the others (`labeler.rejects`)."""
    view, of = format, ""
    for example in examples:
        episode = episode_of(example.provenance)
        if episode != of:
            view, of = format.with_memory(format.memory.without(episode)), episode
        try:
            label = labeler.label(example.query, example.next_observation, terminal=example.provenance.get("terminated") is True)
        except Rejected:
            continue
        yield Row(
            prompt=view.prompt(example.query),
            target=view.target(example.query, example.next_observation, label),
            provenance=example.provenance,
        )
