"""Does a model know when it is right? Stated probabilities beside what happened; the estimators are those of audits.metrics.

confidence        exp(mean token log-probability)  beside  the delta was foreseen (F1 ≥ 0.99)
self-assessment   stated probability of success    beside  the recorded outcome of the real episode

Brier   mean (stated − happened)²
ECE     Σ_bins n_b/n · |mean stated − share happened|, ten bins of equal mass; debiased (Kumar et al., arXiv:1909.10155),
        without an interval, since none is known that covers near 0; the plain one is beside it
AUROC   chance that one that happened was stated higher than one that did not; None where all or none happened
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from audits.fidelity.figures import from_estimate, share
from audits.fidelity.records import Bin, Figure, Figures
from audits.metrics import calibration as estimators
from audits.metrics.discrimination import auroc
from audits.metrics.numbers import mean

THRESHOLD: Final = 0.5
"""From here on a stated probability counts as a claim of success."""


class Stated(NamedTuple):
    """One stated probability, what happened, and the template it belongs to."""

    probability: float
    happened: bool
    template: str


def calibration(stated: Sequence[Stated], prefix: str) -> tuple[Figures, tuple[Bin, ...]]:
    """PREFIX.brier, .ece, .ece_plain, .auroc, .mean_stated, .rate, and the reliability curve; n is the number of statements.

    No figures without statements.
    """
    if not stated:
        return {}, ()
    p, y = [s.probability for s in stated], [float(s.happened) for s in stated]
    by = [s.template for s in stated]
    found = estimators.calibration(p, y, by)
    figures = {
        f"{prefix}.brier": from_estimate(found.brier),
        f"{prefix}.auroc": from_estimate(auroc(p, y, by)),
        f"{prefix}.mean_stated": from_estimate(mean(p, by, low=0, high=1)),
        f"{prefix}.rate": share([s.happened for s in stated], by),
    }
    if found.error is not None:
        n, clusters = len(stated), len(set(by))
        figures[f"{prefix}.ece"] = Figure(value=found.error.ece_debiased, n=n, clusters=clusters)
        figures[f"{prefix}.ece_plain"] = Figure(value=found.error.ece, n=n, clusters=clusters)
    return figures, tuple(_bin(point) for point in found.reliability)


def detection(stated: Sequence[Stated], prefix: str) -> Figures:
    """PREFIX.precision, .recall, .accuracy of "stated ≥ 0.5" as a claim that it happened."""
    by = [s.template for s in stated]
    claimed = [s.probability >= THRESHOLD for s in stated]
    return {
        f"{prefix}.precision": share([s.happened if c else None for s, c in zip(stated, claimed, strict=True)], by),
        f"{prefix}.recall": share([c if s.happened else None for s, c in zip(stated, claimed, strict=True)], by),
        f"{prefix}.accuracy": share([s.happened == c for s, c in zip(stated, claimed, strict=True)], by),
    }


def _bin(point: estimators.Bin) -> Bin:
    observed = from_estimate(point.observed)
    return Bin(n=observed.n, stated=point.mean_score, observed=observed.value or 0.0, low=observed.low, high=observed.high)
