"""One model on one split: ask, store, score, sum up.

    examples ── Answers ──▶ predictions.jsonl.gz ── score ──▶ scores.jsonl.gz ── figures, cuts ──▶ ModelFidelity
    chains, goals, outcomes  ╯ (only if planned)

Without a model (`Answers(folder, None)`) the same code scores what is stored: a changed metric needs no new prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from audits.fidelity import goal_leak
from audits.fidelity.answers import Answers, Progress
from audits.fidelity.calibration import Stated, calibration, detection
from audits.fidelity.cost import cost_figures
from audits.fidelity.free_running import Chain, depths, run_chains
from audits.fidelity.records import Asked, Bin, Figures, ModelFidelity, PageScore
from audits.fidelity.scoring import Example, example_id, score
from audits.fidelity.self_assessment import Outcome, assess
from audits.fidelity.summary import change_table, cuts, figures, malformed_reasons
from harness.errors import UsageError
from results.transitions import write_lines

SCORES = "scores.jsonl.gz"

Stages = Callable[[str], Progress]
"""Name of a stage → its progress."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is asked of each model. Empty parts are not measured."""

    examples: Sequence[Example]
    chains: Sequence[Chain] = ()
    leaks: Sequence[Example] = ()
    outcomes: Sequence[Outcome] = ()
    seen_templates: Collection[str] = ()
    seen_sites: Collection[str] = ()


def measure(answers: Answers, asked: Asked, plan: Plan, stages: Stages) -> tuple[ModelFidelity, list[PageScore]]:
    """Everything in `plan`. Raises UsageError where no example has an answer; what the model raises passes."""
    scores = _pages(answers, plan.examples, stages("pages"))
    found = figures(scores) | cost_figures(scores, asked.parameters)
    unmeasured = {"pages": len(plan.examples) - len(scores)}
    curves: dict[str, tuple[Bin, ...]] = {}
    sure = [Stated(s.confidence, s.right, s.template) for s in scores if s.confidence is not None]
    sureness, curves["confidence"] = calibration(sure, "confidence")
    found |= sureness
    steps = run_chains(plan.chains, answers, stages("free running")) if plan.chains else []
    if plan.leaks:
        leaks, unreadable = goal_leak.run_leak_test(plan.leaks, answers, stages("goal leak"))
        found |= goal_leak.figures(leaks)
        unmeasured["goal leak"] = unreadable
    if plan.outcomes:
        more, curves["self_assessment"], unmeasured["outcomes"] = _self_assessment(answers, plan.outcomes, stages("outcomes"))
        found |= more
    write_lines(answers.folder / SCORES, scores)
    measured = ModelFidelity(
        spec=asked.spec,
        name=asked.name,
        version=asked.version,
        folder=answers.folder.name,
        figures=found,
        change=change_table(scores),
        cuts=cuts(scores, seen_templates=plan.seen_templates, seen_sites=plan.seen_sites),
        depths=depths(steps),
        malformed=malformed_reasons(scores),
        unmeasured={what: n for what, n in unmeasured.items() if n},
        reliability={what: bins for what, bins in curves.items() if bins},
    )
    return measured, scores


def _pages(answers: Answers, examples: Sequence[Example], progress: Progress) -> list[PageScore]:
    rows = answers.answer([(f"teacher {example_id(example)}", example.query) for example in examples], progress)
    scores = [
        score(example, row.predictions, row.seconds) for example, row in zip(examples, rows, strict=True) if row is not None
    ]
    if not scores:
        raise UsageError(
            f"nothing to score: {answers.folder} has no answer to any of the {len(examples)} examples",
            fix="leave --rescore out, or name another --split",
        )
    return scores


def _self_assessment(answers: Answers, outcomes: Sequence[Outcome], progress: Progress) -> tuple[Figures, tuple[Bin, ...], int]:
    stated, silent_ones = assess(outcomes, answers, progress)
    figures_, curve = calibration(stated, "self")
    return figures_ | detection(stated, "self"), curve, silent_ones
