"""The power card: what a number of replays can and cannot show, before browser time is spent.

Normal-approximation sample sizes (Fleiss, Levin and Paik 2003, without continuity correction; McNemar pairs: Miettinen 1968),
80 % power at a two-sided 5 %, rows independent: multiply by the design effect 1 + (G−1)·ICC (Kish 1965).
"""

from __future__ import annotations

import math

from scipy import stats

from harness.types import Record
from results.intervals import Interval, clopper_pearson, wilson

ALPHA, POWER = 0.05, 0.80


class PowerCard(Record):
    """For `replays` dreamed successes in `clusters` templates. All about SSRF."""

    replays: int
    clusters: int
    design_effect: float
    """Assumed: 1 + (G−1)·ICC with G = replays per cluster and `icc`."""
    icc: float
    effective: float
    """replays / design effect."""
    expected: float
    """The rate that the half-width below is for."""
    half_width: float
    """Half of Wilson's 95 % interval at the expected rate."""
    detectable: float | None
    """Smallest second rate above `expected` that a comparison with as many replays would detect; None above 1."""
    alpha_controls: tuple[tuple[float, int], ...]
    """(upper limit of α, negative controls without failure that it takes)."""
    half_widths: tuple[tuple[float, int], ...]
    """(half-width, replays that it takes at the expected rate, design effect included)."""
    comparisons: tuple[tuple[float, float, int], ...]
    """(rate A, rate B, replays per arm that tell them apart, design effect included)."""
    pairs: tuple[tuple[float, float, int], ...]
    """(share of pairs only A succeeds, only B succeeds, pairs that show it by McNemar's test)."""
    small_site: Interval
    """Clopper–Pearson of 4 of 12: what a site with twelve replays says."""


def power_card(replays: int, clusters: int, *, icc: float = 0.3, expected: float = 0.3) -> PowerCard:
    """The card for a planned audit. Raises nothing: impossible plans show their useless widths."""
    per_cluster = replays / clusters if clusters else 1.0
    deff = design_effect(per_cluster, icc)
    effective = replays / deff
    return PowerCard(
        replays=replays,
        clusters=clusters,
        design_effect=deff,
        icc=icc,
        effective=effective,
        expected=expected,
        half_width=half_width(expected, effective),
        detectable=_detectable(expected, effective),
        alpha_controls=tuple((limit, controls_without_failure(limit)) for limit in (0.10, 0.05, 0.02)),
        half_widths=tuple((h, math.ceil(replays_for_half_width(expected, h) * deff)) for h in (0.10, 0.05)),
        comparisons=tuple((a, b, math.ceil(two_rates(a, b) * deff)) for a, b in ((0.20, 0.35), (0.20, 0.30), (0.10, 0.20))),
        pairs=tuple((a, b, mcnemar_pairs(a, b)) for a, b in ((0.25, 0.10), (0.20, 0.10))),
        small_site=clopper_pearson(4, 12),
    )


def design_effect(per_cluster: float, icc: float) -> float:
    """1 + (G−1)·ICC, at least 1 (G = 8, ICC .3: 3.1)."""
    return max(1.0, 1 + (per_cluster - 1) * icc)


def half_width(p: float, n: float) -> float:
    """Half of Wilson's 95 % interval at k = p·n."""
    low, high = wilson(p * n, n)
    return (high - low) / 2


def replays_for_half_width(p: float, half: float) -> int:
    """Smallest n with `half_width` at most `half`."""
    n = 1
    while half_width(p, n) > half:
        n *= 2
    low = n // 2
    while n - low > 1:
        middle = (low + n) // 2
        low, n = (middle, n) if half_width(p, middle) > half else (low, middle)
    return n


def controls_without_failure(limit: float, confidence: float = 0.95) -> int:
    """Smallest n with the Clopper–Pearson upper limit of 0/n at most `limit`: (1 − limit)^n ≤ (1 − confidence)/2."""
    return math.ceil(math.log((1 - confidence) / 2) / math.log(1 - limit))


def two_rates(p1: float, p2: float, *, alpha: float = ALPHA, power: float = POWER) -> int:
    """Rows per arm that tell p1 from p2."""
    mean = (p1 + p2) / 2
    z = stats.norm.ppf(1 - alpha / 2) * math.sqrt(2 * mean * (1 - mean))
    z += stats.norm.ppf(power) * math.sqrt(p1 * (1 - p1) + p2 * (1 - p2))
    return math.ceil(float(z / (p1 - p2)) ** 2)


def mcnemar_pairs(p01: float, p10: float, *, alpha: float = ALPHA, power: float = POWER) -> int:
    """Pairs that show discordant shares p01 ≠ p10."""
    difference, total = p01 - p10, p01 + p10
    z = stats.norm.ppf(1 - alpha / 2) * math.sqrt(total) + stats.norm.ppf(power) * math.sqrt(total - difference**2)
    return math.ceil(float(z / difference) ** 2)


def _detectable(p: float, n: float) -> float | None:
    for step in range(1, 1000):
        other = p + step / 1000
        if other >= 1:
            return None
        if two_rates(p, other) <= n:
            return round(other, 3)
    return None
