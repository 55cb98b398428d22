"""Rows of the training: a prompt, and what is to be written after it.

    transition   prompt = format.prompt(query)              completion = format.target(query, o_t+1, label)
    assessment   prompt = format.prompt of the last page    completion = `success` or `failure`   (model.assessment)

Labels are made with the page memory as a later episode would find it: without the row's own episode, else the answer to "which
page opens?" would always be "one that I remember word for word".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from harness.axtree import CountTokens
from training.world_model.formats import Format
from training.world_model.labels import Labeler, Rejected
from training.world_model.memory import PageMemory
from training.world_model.model.assessment import FAILURE, SUCCESS, assessment_prompt, outcome_query
from training.world_model.transitions import OutcomeExample, WorldModelExample

Kind = Literal["transition", "assessment"]


class Row(NamedTuple):
    kind: Kind
    prompt: str
    completion: str


def episode_of(example: WorldModelExample) -> str:
    """Whose pages these are, for the memory."""
    return f"{example.provenance.get('run', '')}/{example.provenance.get('episode', '')}"


def remember(examples: Iterable[WorldModelExample]) -> PageMemory:
    """All pages of the examples, in order."""
    memory = PageMemory()
    for example in examples:
        for page in (example.query.observation, example.next_observation):
            memory.add(page, example.query.site, episode_of(example))
    return memory


def transition_rows(
    examples: Iterable[WorldModelExample], form: Format, labeler: Labeler, refused: Counter[str]
) -> Iterator[Row]:
    """One row per transition; what the labeler rejects is counted in `refused` as `label <reason>`."""
    for example in examples:
        ended = example.provenance.get("terminated") is True
        try:
            label = labeler.label(example.query, example.next_observation, terminal=ended)
        except Rejected as rejected:
            refused[f"label {rejected.reason}"] += 1
            continue
        taught = form.with_memory(form.memory.without(episode_of(example)))
        yield Row("transition", form.prompt(example.query), taught.target(example.query, example.next_observation, label))


def assessment_rows(outcomes: Iterable[OutcomeExample], form: Format) -> Iterator[Row]:
    """One row per finished episode."""
    for outcome in outcomes:
        query = outcome_query(outcome.goal, outcome.history, outcome.observation, outcome.answer, outcome.site)
        yield Row("assessment", assessment_prompt(form, query), SUCCESS if outcome.success else FAILURE)


def remembering(count: CountTokens, size: int = 65_536) -> CountTokens:
    """`count` with its latest answers kept: lines of pages come again and again."""
    from functools import lru_cache

    return lru_cache(maxsize=size)(count)
