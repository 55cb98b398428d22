"""One line of `train_log.jsonl` per update. Every share states its denominator in its name or here.

reward.dream        mean over valid rollouts of the policy (not experts)         reward.success   share with reward ≥ 1
stop.REASON         share of rollouts that ended so, invalid ones included
invalid.REASON      rollouts without a verdict that counts, by reason; counts
invalid_actions     share of the rollouts' steps from which no action could be read
mixture.*           places of groups: asked = replaced + capped + without_expert
poisoned_advantage  share of positive advantage, by weight, that goes to successes an audit has refuted; absent without audit
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from harness.types import INVALID_ACTION, JsonDict
from training.agent.grouping import Batch, Grouping
from training.agent.mixture import MixtureLog
from training.agent.rows import Sample
from training.agent.statistics import UpdateStatistics


def update_line(
    update: int,
    samples: Sequence[Sample],
    grouping: Grouping,
    mixture: MixtureLog,
    batch: Batch,
    statistics: UpdateStatistics,
    noise: float | None,
    ledger: JsonDict,
    *,
    learning_rate: float,
    epoch: float,
) -> JsonDict:
    """The line. `samples` are the policy's rollouts, `batch` what was trained on (experts among it)."""
    log = grouping.log
    line: JsonDict = {
        "step": update,
        "epoch": epoch,
        "lr": learning_rate,
        "reward": _rewards(samples),
        "length": _lengths(samples),
        "stop": _shares(Counter(sample.trajectory.stop_reason for sample in samples)),
        "rollouts": len(samples),
        "invalid": dict(sorted(log.invalid.items())),
        "groups": {
            "used": log.used_groups,
            "dropped": log.dropped_groups,
            "resampled": log.resampled_groups,
            "replayed": log.replayed_groups,
        },
        "mixture": asdict(mixture),
        "rows": len(batch.rows),
        "trajectories": batch.trajectories,
        "update": statistics.summary(),
        "ledger": ledger,
    }
    if noise is not None:
        line["self_ratio_noise"] = noise
    if (poisoned := poisoned_advantage(grouping, batch)) is not None:
        line["poisoned_advantage"] = poisoned
    return line


def poisoned_advantage(grouping: Grouping, batch: Batch) -> float | None:
    """Σ of positive advantages of refuted successes / Σ of all positive advantages; None where nothing was audited."""
    used = [one.sample for group in grouping.groups for one in group]
    if all(sample.poisoned is None for sample in used):
        return None
    positive = [max(advantage, 0.0) for advantage in batch.advantages_N]
    refuted = sum(advantage for sample, advantage in zip(used, positive, strict=True) if sample.poisoned)
    return refuted / sum(positive) if sum(positive) else 0.0


def _rewards(samples: Sequence[Sample]) -> JsonDict:
    rewards = [sample.reward for sample in samples if sample.reward is not None]
    if not rewards:
        return {"valid": 0}
    success = sum(reward >= 1 for reward in rewards) / len(rewards)
    return {"valid": len(rewards), "dream": sum(rewards) / len(rewards), "success": success}


def _lengths(samples: Sequence[Sample]) -> JsonDict:
    lengths = [len(sample.trajectory.steps) for sample in samples]
    steps = [step for sample in samples for step in sample.trajectory.steps]
    if not steps:
        return {"steps": 0}
    unreadable = sum(step.output.action.name == INVALID_ACTION for step in steps)
    cut = sum(step.output.finish_reason == "length" for step in steps)
    return {
        "steps": len(steps),
        "mean": sum(lengths) / len(lengths),
        "max": max(lengths),
        "invalid_actions": unreadable / len(steps),
        "cut_replies": cut / len(steps),
        "failed_actions": sum(step.action_error is not None for step in steps) / len(steps),
    }


def _shares(counts: Counter[str]) -> JsonDict:
    total = sum(counts.values())
    return {name: count / total for name, count in sorted(counts.items())}
