"""M7: do simulated success rates order K policy checkpoints as reality does?

    kendall    τ-b (Kendall 1945)      spearman   ρ (Spearman 1904)     pearson   r; SRCC of Kadian et al. 2020
    mmrv       mean over policies of the largest real difference that the simulator orders wrongly   Li et al. 2024 (SIMPLER)
    regret     max R − R of the policy that the simulator likes best                                  Fu et al. 2021 (DOPE)

All compare K numbers, each with sampling error, so that **even a perfect simulator does not score 1**: `reference_band` says what
it scores with the same K and number of tasks. Bootstrap spreads of these statistics are no confidence intervals (they are
shifted by the same error) and are called `spread`. What is established is said by `pairs`: differences of two policies that
hold jointly at 95 %, and the limits of τ that follow from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from audits.metrics.numbers import Floats, cluster_sums, floats
from audits.metrics.panel import Panel, panel
from audits.records import PolicyRow
from harness.types import Record
from results.intervals import CONFIDENCE, RESAMPLES, SEED, Interval

MIN_POLICIES = 5
"""With four, no order of rates can be significant at 5 %: the exact two-sided p of Kendall's τ is at least 2/4! = .083."""


class Rank(Record):
    """One measure of agreement. `spread` is where resampled tasks put it: noise, not a confidence interval."""

    value: float | None
    spread: Interval | None
    perfect_mean: float | None
    perfect_band: Interval | None
    """2.5 % and 97.5 % quantiles of a perfect simulator's value, with as many policies and tasks."""


class Pairs(Record):
    """Pairs of policies whose order is established in both worlds, jointly at 95 % (max-|t| bootstrap, Romano and Wolf 2005)."""

    total: int
    concordant: int
    discordant: int
    open: int
    tau_bounds: Interval
    """τ (without ties) lies here wherever the joint statement holds: (concordant − rest)/total … (rest − discordant)/total."""


class Ranks(Record):
    """M7. n = tasks, clustered by template."""

    policies: tuple[str, ...]
    simulated: tuple[float, ...]
    real: tuple[float, ...]
    tasks: int
    clusters: int
    left_out: int
    kendall: Rank
    spearman: Rank
    pearson: Rank
    mmrv: Rank
    regret: Rank
    regret_upper: float | None
    """95 % upper limit of the regret of the policy that was picked (multiple comparisons with the best, Hsu 1981)."""
    kendall_p: float | None
    """Exact two-sided p of no association; `kendall_floor` is the smallest it can be."""
    kendall_floor: float | None
    pairs: Pairs | None
    warnings: tuple[str, ...]


def ranks(rows: Sequence[PolicyRow], *, resamples: int = RESAMPLES // 2, seed: int = SEED) -> Ranks:
    """All of M7 over the tasks that all policies share."""
    data = panel(rows)
    k, n = len(data.policies), len(data.tasks)
    warnings = []
    if k < MIN_POLICIES:
        warnings.append(f"{k} policies: at least {MIN_POLICIES} are needed before any order can be significant")
    if k < 2 or n < 2:
        none = Rank(value=None, spread=None, perfect_mean=None, perfect_band=None)
        return Ranks(
            policies=data.policies, simulated=(), real=(), tasks=n, clusters=data.clusters, left_out=data.left_out, kendall=none,
            spearman=none, pearson=none, mmrv=none, regret=none, regret_upper=None, kendall_p=None, kendall_floor=None,
            pairs=None,
            warnings=tuple(warnings),
        )  # fmt: skip
    sim, real = data.rates()
    drawn = data.resampled(resamples, seed)
    perfect = perfect_rates(real, n, resamples, seed)
    measures = {
        name: Rank(
            value=_none(function(sim[None], real[None])[0]),
            spread=_quantiles(function(*drawn)),
            perfect_mean=_none(np.nanmean(reference) if np.isfinite(reference).any() else np.nan),
            perfect_band=_quantiles(reference),
        )
        for name, function in _MEASURES.items()
        for reference in [function(*perfect)]
    }
    return Ranks(
        policies=data.policies,
        simulated=tuple(map(float, sim)),
        real=tuple(map(float, real)),
        tasks=n,
        clusters=data.clusters,
        left_out=data.left_out,
        **measures,
        regret_upper=_regret_upper(data, int(np.argmax(sim)), resamples, seed),
        kendall_p=_kendall_p(sim, real),
        kendall_floor=kendall_floor(k),
        pairs=_pairs(data, resamples, seed) if data.clusters >= 2 else None,
        warnings=tuple(warnings),
    )


def kendall_tau_b(first: ArrayLike, second: ArrayLike) -> float | None:
    """Kendall's τ-b; None if either side is constant."""
    return _none(_tau_b(floats(first)[None], floats(second)[None])[0])


def mmrv(*, sim: ArrayLike, real: ArrayLike) -> float:
    """Mean maximum rank violation, in success-rate units; 0 is best. Keywords only: it is not symmetric."""
    return float(_mmrv(floats(sim)[None], floats(real)[None])[0])


def regret_at_1(*, sim: ArrayLike, real: ArrayLike) -> float:
    """Real success lost by deploying the simulator's favourite; among equal favourites, their mean."""
    return float(_regret(floats(sim)[None], floats(real)[None])[0])


def kendall_floor(k: int) -> float:
    """Smallest two-sided exact p-value of Kendall's τ for `k` untied policies: 2/k! (1 for k = 1)."""
    return min(1.0, 2 / math.factorial(k))


class ReferenceBand(Record):
    """What a perfect simulator scores: both worlds draw `tasks` outcomes from the same true rates."""

    mmrv_mean: float
    mmrv_q95: float
    tau_mean: float
    tau_q05: float


def reference_band(true: ArrayLike, tasks: int, *, replications: int = RESAMPLES, seed: int = SEED) -> ReferenceBand:
    """By simulation, tasks independent: with correlated tasks a perfect simulator does worse still."""
    drawn = perfect_rates(floats(true), tasks, replications, seed)
    violations, taus = _mmrv(*drawn), _tau_b(*drawn)
    return ReferenceBand(
        mmrv_mean=float(violations.mean()),
        mmrv_q95=float(np.quantile(violations, 0.95)),
        tau_mean=float(np.nanmean(taus)),
        tau_q05=float(np.nanquantile(taus, 0.05)),
    )


def perfect_rates(true: Floats, tasks: int, replications: int, seed: int) -> tuple[Floats, Floats]:
    """[B, K] twice: independent observed rates of a simulator that is reality."""
    generator = np.random.default_rng(seed)
    drawn = generator.binomial(tasks, np.clip(true, 0, 1), (2, replications, len(true))) / tasks
    return drawn[0], drawn[1]


def _signs(x: Floats) -> Floats:
    """[B, K] → [B, K·(K−1)/2] signs of pairwise differences."""
    i, j = np.triu_indices(x.shape[1], 1)
    return np.sign(np.round(x[:, i] - x[:, j], 12))


def _tau_b(s: Floats, r: Floats) -> Floats:
    a, b = _signs(s), _signs(r)
    with np.errstate(invalid="ignore", divide="ignore"):
        return floats((a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1)))


def _pearson(s: Floats, r: Floats) -> Floats:
    a, b = s - s.mean(axis=1, keepdims=True), r - r.mean(axis=1, keepdims=True)
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return floats(np.divide((a * b).sum(axis=1), scale, out=np.full(len(s), np.nan), where=scale > 1e-12))


def _spearman(s: Floats, r: Floats) -> Floats:
    return _pearson(stats.rankdata(s.round(12), axis=1), stats.rankdata(r.round(12), axis=1))


def _mmrv(s: Floats, r: Floats) -> Floats:
    gap = r[:, :, None] - r[:, None]
    wrong = (s[:, :, None] > s[:, None]) != (gap > 0)
    return floats((np.abs(gap) * wrong).max(axis=2).mean(axis=1))


def _regret(s: Floats, r: Floats) -> Floats:
    favourite = s >= s.max(axis=1, keepdims=True) - 1e-12
    return floats(r.max(axis=1) - (r * favourite).sum(axis=1) / favourite.sum(axis=1))


_MEASURES = {"kendall": _tau_b, "spearman": _spearman, "pearson": _pearson, "mmrv": _mmrv, "regret": _regret}


def _kendall_p(sim: Floats, real: Floats) -> float | None:
    """scipy's exact p without ties, its normal approximation with."""
    return _none(stats.kendalltau(sim, real).pvalue)


def _contrasts(values: Floats, data: Panel, pairs: tuple[np.ndarray, np.ndarray]) -> tuple[Floats, Floats]:
    """Differences of rates of pairs of policies [P], and their per-cluster influences [C, P]."""
    difference = (values[pairs[0]] - values[pairs[1]]).T
    centre = difference.mean(axis=0)
    return centre, cluster_sums((difference - centre) / len(difference), list(data.cluster))


def _joint_quantile(influence: Floats, resamples: int, seed: int, *, absolute: bool) -> tuple[float, Floats]:
    """Joint 95 % critical value of |t| (or t) over all contrasts, and their standard errors [P].

    Wild bootstrap with Rademacher signs per cluster (Wu 1986; Cameron, Gelbach and Miller 2008).
    """
    count = len(influence)
    error = np.sqrt(count / (count - 1) * (influence**2).sum(axis=0))
    used = error > 1e-12
    if not used.any():
        return 0.0, error
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (resamples, count))
    t = signs @ influence[:, used] / error[used]
    top = (np.abs(t) if absolute else t).max(axis=1)
    normal = stats.norm.ppf(1 - (1 - CONFIDENCE) / (2 if absolute else 1))
    inflate = stats.t.ppf(1 - (1 - CONFIDENCE) / (2 if absolute else 1), count - 1) / normal
    return float(np.quantile(top, CONFIDENCE) * inflate), error


def _pairs(data: Panel, resamples: int, seed: int) -> Pairs:
    index = np.triu_indices(len(data.policies), 1)
    (sim, sim_if), (real, real_if) = (_contrasts(v, data, index) for v in (data.simulated, data.real))
    critical, error = _joint_quantile(np.concatenate([sim_if, real_if], axis=1), resamples, seed, absolute=True)
    total = len(sim)
    sure_sim, sure_real = (
        np.where(np.abs(v) > critical * e + 1e-12, np.sign(v), 0) for v, e in ((sim, error[:total]), (real, error[total:]))
    )
    concordant, discordant = int((sure_sim * sure_real > 0).sum()), int((sure_sim * sure_real < 0).sum())
    bounds = Interval((2 * concordant - total) / total, (total - 2 * discordant) / total)
    return Pairs(
        total=total, concordant=concordant, discordant=discordant, open=total - concordant - discordant, tau_bounds=bounds
    )


def _regret_upper(data: Panel, picked: int, resamples: int, seed: int) -> float | None:
    """max over j of R_j − R_picked, plus the joint one-sided margin; at least 0."""
    others = np.array([j for j in range(len(data.policies)) if j != picked])
    if data.clusters < 2:
        return None
    centre, influence = _contrasts(data.real, data, (others, np.full(len(others), picked)))
    critical, error = _joint_quantile(influence, resamples, seed, absolute=False)
    return max(0.0, float((centre + critical * error).max()))


def _quantiles(values: Floats) -> Interval | None:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    low, high = np.quantile(finite, [(1 - CONFIDENCE) / 2, 1 - (1 - CONFIDENCE) / 2])
    return Interval(float(low), float(high))


def _none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
