"""Rows to train on: a page memory from the train split, and targets made without what their own episode put into it.

    remember(examples)                           PageMemory     first pass over the train split: pages
    learn(examples, format, labeler)             targets        second pass: what is taught; what it was is remembered, too
    build_rows(examples, format, targets)        Row …          third pass: prompts; streamed

Had a row the pages or answers of its own episode to look up, the model would be trained on perfect hits that never
occur later. So prompt and target of a train row are made with `format.memory.without(its episode)`; what the episode has
shown before the action is in the query. For every second episode its whole template is left out, too: at test time templates
are new, in dreams they are not, and a model must know both. Rows of other splits are not in the memory anyway: for them
`learn` is called with `remembered=False`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
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


def episode_of(example: Example) -> str:
    """The episode of an example, as the memory knows it."""
    return f"{example.provenance.get('run', '')}/{example.provenance.get('episode', '')}"


def template_of(example: Example) -> str:
    """The cluster of tasks of an example."""
    return str(example.provenance.get("template", ""))


def left_out(example: Example) -> tuple[str, ...]:
    """What the memory must not know when a train row is made: its episode, and for every second episode its template."""
    episode, template = episode_of(example), template_of(example)
    both = bool(template) and zlib.crc32(episode.encode()) % 2 == 0
    return (episode, template) if both else (episode,)


def remember(examples: Iterable[Example], memory: PageMemory | None = None) -> PageMemory:
    """The pages of `examples` as they open: those after a change of address, and each episode's first."""
    memory = PageMemory() if memory is None else memory
    for episode, group in groupby(examples, key=episode_of):
        for number, example in enumerate(group):
            now, after = example.query.observation, example.next_observation
            if number == 0:
                memory.add(now, example.query.site, episode, template_of(example))
            if after.url != now.url:
                memory.add(after, example.query.site, episode, template_of(example))
    return memory


def learn(examples: Iterable[Example], form: Format, labeler: Labeler, *, remembered: bool = True) -> list[str | None]:
    """The target of each example in order, None where the labeler rejected it (and counted it).

    `remembered`: the examples are those of the memory; then each answer also becomes one of its links.
    """
    targets: list[str | None] = []
    for origins, group in groupby(examples, key=left_out):
        view = form.with_memory(form.memory.without(*origins)) if remembered else form
        for example in group:
            ended = example.provenance.get("terminated") is True
            try:
                label = labeler.label(example.query, example.next_observation, terminal=ended)
            except Rejected:
                targets.append(None)
                continue
            target = view.target(example.query, example.next_observation, label)
            targets.append(target)
            if remembered and (answer := view.delta(target)):
                form.memory.add_link(example.query, answer, episode_of(example), template_of(example))
    return targets


def build_rows(
    examples: Iterable[Example], form: Format, targets: Sequence[str | None], *, remembered: bool = True
) -> Iterator[Row]:
    """One row per example that has a target (`learn`)."""
    numbered = zip(examples, targets, strict=True)
    for origins, group in groupby(numbered, key=lambda pair: left_out(pair[0])):
        view = form.with_memory(form.memory.without(*origins)) if remembered else form
        for example, target in group:
            if target is not None:
                yield Row(prompt=view.prompt(example.query), target=target, provenance=example.provenance)
