"""The goal-leak test: does the model put on the page what the goal asks for, whether or not the action brings it there?

    same o_t, a_t      goal kept            P        leaked  = P − P_none − P_other − o_t+1 − o_t
                       goal removed         P_none   control = P_other − P − P_none − o_t+1 − o_t
                       another task's goal  P_other

P are sets of nodes. A leaked node stands on the foreseen page only because of the true goal, and the real page lacks it.
The control counts what only a foreign goal brings: a model that is merely unsteady leaks as much there. Leaked nodes that
name what the goal names (`evidence`) are those that a judge of dreams would take for success. (AUDIT.md, goal-leak test.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from audits.fidelity.answers import Answers, Progress, Question, silent
from audits.fidelity.choosing import rank
from audits.fidelity.figures import mean, ratio, share
from audits.fidelity.pages import Page, read_page
from audits.fidelity.records import Figures
from audits.fidelity.scoring import Example, example_id
from harness.predictions import Prediction

MIN_WORD: Final = 4
"""Letters of a goal's word that counts as naming something: below it are articles and prepositions."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class LeakScore:
    """One (page, action) under three goals. Counts of distinct nodes."""

    example: str
    template: str
    leaked: int
    control: int
    evidence: int
    depends: bool
    """The foreseen page is another one under another goal, or under none."""


def other_goals(examples: Sequence[Example]) -> dict[str, str]:
    """Example → the goal of a task of another template, on the same site if there is one. Without one it is left out."""
    by_hash = sorted({(rank(g), g, t, s) for e in examples for g, t, s in [_task(e)] if g})
    found: dict[str, str] = {}
    for example in examples:
        goal, template, site = _task(example)
        others = [(g, s) for _, g, t, s in by_hash if t != template and g != goal]
        near = [g for g, s in others if s == site] or [g for g, _ in others]
        if goal and near:
            found[example_id(example)] = near[rank(example_id(example))[0] % len(near)]
    return found


def questions(examples: Sequence[Example], goals: Mapping[str, str]) -> list[Question]:
    """Three per example that has another goal: kept, removed, another task's."""
    asked: list[Question] = []
    for example in examples:
        name = example_id(example)
        if name in goals:
            asked.append((f"teacher {name}", example.query))
            asked.append((f"goal-none {name}", example.query.model_copy(update={"goal": ""})))
            asked.append((f"goal-other {name}", example.query.model_copy(update={"goal": goals[name]})))
    return asked


def run_leak_test(examples: Sequence[Example], answers: Answers, progress: Progress = silent) -> tuple[list[LeakScore], int]:
    """Scores of the examples with three readable answers, and how many had one that could not be read."""
    goals = other_goals(examples)
    rows = answers.answer(questions(examples, goals), progress)
    scores: list[LeakScore] = []
    unreadable = 0
    asked = [example for example in examples if example_id(example) in goals]
    for example, kept, none, other in zip(asked, rows[::3], rows[1::3], rows[2::3], strict=True):
        if kept is None or none is None or other is None:
            continue
        pages = [_page(row.predictions[0]) for row in (kept, none, other)]
        if any(page is None for page in pages):
            unreadable += 1
            continue
        scores.append(_score(example, *(page for page in pages if page is not None)))
    return scores, unreadable


def figures(scores: Sequence[LeakScore]) -> Figures:
    """n is the number of (page, action) pairs that were asked under three goals."""
    by = [s.template for s in scores]
    return {
        "goal.leak": share([s.leaked > 0 for s in scores], by),
        "goal.leak_control": share([s.control > 0 for s in scores], by),
        "goal.leaked_nodes": mean([float(s.leaked) for s in scores], by),
        "goal.evidence": share([s.evidence > 0 for s in scores], by),
        "goal.evidence_of_leaked": ratio([(s.evidence, s.leaked) if s.leaked else None for s in scores], by, high=1.0),
        "goal.depends": share([s.depends for s in scores], by),
    }


def _score(example: Example, kept: Page, none: Page, other: Page) -> LeakScore:
    now, real = read_page(example.query.observation), read_page(example.next_observation)
    true = set(real.nodes) | set(now.nodes)
    leaked = set(kept.nodes) - set(none.nodes) - set(other.nodes) - true
    control = set(other.nodes) - set(kept.nodes) - set(none.nodes) - true
    goal = _words(example.query.goal)
    return LeakScore(
        example=example_id(example),
        template=str(example.provenance.get("template", "")),
        leaked=len(leaked),
        control=len(control),
        evidence=sum(bool(_words(f"{node.name} {node.value}") & goal) for node in leaked),
        depends=not (kept.same_as(none) and kept.same_as(other)),
    )


def _page(prediction: Prediction) -> Page | None:
    return None if prediction.next_observation is None else read_page(prediction.next_observation)


def _task(example: Example) -> tuple[str, str, str]:
    return example.query.goal, str(example.provenance.get("template", "")), str(example.provenance.get("site", ""))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text) if len(word) >= MIN_WORD}
