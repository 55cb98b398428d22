"""Fidelity: how well a world model foresees real pages, with denominators, intervals and the copy baseline (AUDIT.md, M4).

    pages, overlap, delta        what is compared, and how: pure functions
    scoring                      (example, predictions) → PageScore
    answers, choosing            what is asked, stored once, of a sample that depends on names alone
    free_running, goal_leak, self_assessment, calibration, cost
    summary, measuring, tables   PageScores → ModelFidelity → FidelityReport → tables
    records                      the schema of what `harness fidelity` writes

A world model is handed in as the protocol `harness.protocols.WorldModel`; nothing here imports one.
"""

from audits.fidelity.answers import Answers, claim, read_asked
from audits.fidelity.choosing import spread
from audits.fidelity.delta import Delta, Edit, compare, delta
from audits.fidelity.free_running import MAX_DEPTH, chains, run_chains
from audits.fidelity.measuring import Plan, measure
from audits.fidelity.overlap import Overlap, lenient, strict
from audits.fidelity.pages import Element, Page, read_page
from audits.fidelity.records import Asked, FidelityReport, Figure, ModelFidelity, PageScore
from audits.fidelity.scoring import Example, delta_f1, example_id, score
from audits.fidelity.self_assessment import Outcome
from audits.fidelity.summary import differences, figures
from audits.fidelity.tables import report

__all__ = [
    "MAX_DEPTH",
    "Answers",
    "Asked",
    "Delta",
    "Edit",
    "Element",
    "Example",
    "FidelityReport",
    "Figure",
    "ModelFidelity",
    "Outcome",
    "Overlap",
    "Page",
    "PageScore",
    "Plan",
    "chains",
    "claim",
    "compare",
    "delta",
    "delta_f1",
    "differences",
    "example_id",
    "figures",
    "lenient",
    "measure",
    "read_asked",
    "read_page",
    "report",
    "run_chains",
    "score",
    "spread",
    "strict",
]  # fmt: skip
