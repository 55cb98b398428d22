"""Does a model know when it is right? Stated probabilities beside what happened.

confidence        exp(mean token log-probability)  beside  the delta was foreseen (F1 ≥ 0.99)
self-assessment   stated probability of success    beside  the recorded outcome of the real episode

Brier   mean (stated − happened)²
ECE     Σ_bins n_b/n · |mean stated − share happened|, ten bins of equal mass (Kumar et al., arXiv:1909.10155);
        biased upwards for small n, and not debiased here: compare it only at equal n
AUROC   chance that one that happened was stated higher than one that did not; None where all or none happened
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from audits.fidelity.figures import Indices, bootstrap, share
from audits.fidelity.records import Bin, Figures
from results.intervals import wilson

BINS: Final = 10
THRESHOLD: Final = 0.5
"""From here on a stated probability counts as "success"."""


class Stated(NamedTuple):
    """One stated probability, what happened, and the template it belongs to."""

    probability: float
    happened: bool
    template: str


def calibration(stated: Sequence[Stated], prefix: str) -> Figures:
    """PREFIX.brier, .ece, .auroc and the two means; n is the number of statements."""
    p, y, by = _columns(stated)
    return {
        f"{prefix}.brier": bootstrap(lambda at: float(np.mean((p[at] - y[at]) ** 2)), by),
        f"{prefix}.ece": bootstrap(lambda at: ece(p[at], y[at]), by),
        f"{prefix}.auroc": bootstrap(lambda at: auroc(p[at], y[at]), by),
        f"{prefix}.mean_stated": bootstrap(lambda at: float(np.mean(p[at])), by),
        f"{prefix}.rate": share([s.happened for s in stated], by),
    }


def detection(stated: Sequence[Stated], prefix: str) -> Figures:
    """PREFIX.precision, .recall, .accuracy of "stated ≥ 0.5" as a claim that it happened."""
    by = [s.template for s in stated]
    claimed = [s.probability >= THRESHOLD for s in stated]
    return {
        f"{prefix}.precision": share([s.happened if c else None for s, c in zip(stated, claimed, strict=True)], by),
        f"{prefix}.recall": share([c if s.happened else None for s, c in zip(stated, claimed, strict=True)], by),
        f"{prefix}.accuracy": share([s.happened == c for s, c in zip(stated, claimed, strict=True)], by),
    }


def reliability(stated: Sequence[Stated]) -> tuple[Bin, ...]:
    """Up to ten bins of equal mass, lowest first, each with Wilson's interval."""
    p, y, _ = _columns(stated)
    bins = []
    for at in _equal_mass(p):
        low, high = wilson(float(y[at].sum()), len(at))
        bins.append(Bin(n=len(at), stated=float(p[at].mean()), observed=float(y[at].mean()), low=low, high=high))
    return tuple(bins)


def ece(p: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Expected calibration error over bins of equal mass."""
    return float(sum(len(at) / len(p) * abs(p[at].mean() - y[at].mean()) for at in _equal_mass(p)))


def auroc(p: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Area under the ROC curve, ties count half (Mann and Whitney 1947); None with one class only."""
    positive = y > 0.5
    n1, n0 = int(positive.sum()), int((~positive).sum())
    if not n1 or not n0:
        return None
    return float((rankdata(p)[positive].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


def _equal_mass(p: NDArray[np.float64]) -> list[Indices]:
    order = np.argsort(p, kind="stable")
    return [part for part in np.array_split(order, BINS) if len(part)]


def _columns(stated: Sequence[Stated]) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str]]:
    p = np.array([s.probability for s in stated], dtype=np.float64)
    y = np.array([s.happened for s in stated], dtype=np.float64)
    return p, y, [s.template for s in stated]
