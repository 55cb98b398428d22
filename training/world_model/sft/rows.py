"""Rows of the training: a prompt, and what is to be written after it.

    transition   training.world_model.formats.rows: prompt and target of a query, as the format spells them
    assessment   prompt = format.prompt of the last page    completion = `success` or `failure`   (model.assessment)

Rows of the train split are made with the page memory as a later episode would find it (formats.rows.left_out).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from harness.axtree import CountTokens
from training.world_model.formats import Format
from training.world_model.formats.rows import build_rows, learn, left_out
from training.world_model.labels import Labeler
from training.world_model.model.assessment import FAILURE, SUCCESS, assessment_prompt, outcome_query
from training.world_model.transitions import OutcomeExample, WorldModelExample

Kind = Literal["transition", "assessment"]
Examples = Callable[[str], Iterable[WorldModelExample]]
"""What is being done with them (for the progress) → the examples, from the beginning."""


class Row(NamedTuple):
    kind: Kind
    prompt: str
    completion: str


def transition_rows(
    examples: Examples, form: Format, labeler: Labeler, refused: Counter[str], *, remembered: bool
) -> Iterator[Row]:
    """One row per transition; what the labeler rejects is counted in `refused` as `label <reason>`.

    `remembered`: these are the examples that the format's memory was made of; their answers are added to it.
    """
    targets = learn(examples("labels"), form, labeler, remembered=remembered)
    refused.update({f"label {reason}": count for reason, count in labeler.rejects.items()})
    for row in build_rows(examples("rows"), form, targets, remembered=remembered):
        yield Row("transition", row.prompt, row.target)


def assessment_rows(outcomes: Iterable[OutcomeExample], form: Format, *, remembered: bool) -> Iterator[Row]:
    """One row per finished episode."""
    for outcome in outcomes:
        view = form.with_memory(form.memory.without(*left_out(outcome))) if remembered else form  # type: ignore[arg-type]
        query = outcome_query(outcome.goal, outcome.history, outcome.observation, outcome.answer, outcome.site)
        yield Row("assessment", assessment_prompt(view, query), SUCCESS if outcome.success else FAILURE)


def remembering(count: CountTokens, size: int = 65_536) -> CountTokens:
    """`count` with its latest answers kept: lines of pages come again and again."""
    return lru_cache(maxsize=size)(count)
