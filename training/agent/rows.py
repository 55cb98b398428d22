"""Rows: what the policy was shown and what it wrote, one row per turn, in the token ids of the sampler.

    Sample (one rollout of a group, with its verdict)
      └── Row (group, trajectory, turn)      prompt_ids | response_ids, mask, sampler_log_probs

The ids are those that were sampled. They are never made again from text: another tokenisation of the same text has other
probabilities. An expert's trajectory has no such ids; its rows are encoded, once, by the same prompt as the policy's.

A sample is invalid, and leaves the group's statistics, if its verdict says nothing about the agent (error, blocked,
inconclusive), if a turn has no token ids, or if a turn is longer than a row may be: half a trajectory has no ratio. It never
becomes a reward of 0. Invalid samples are counted by reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.types import Trajectory, Verdict

Encode = Callable[[Trajectory], Sequence[tuple[Sequence[int], Sequence[int]]]]
"""An expert's trajectory → (prompt ids, response ids) per step, as the policy would have seen and written it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One turn. `mask` is False where somebody else than the sampler wrote a token of the response."""

    group: str
    trajectory: str
    turn: int
    prompt_ids: tuple[int, ...]
    response_ids: tuple[int, ...]
    mask: tuple[bool, ...]
    sampler_log_probs: tuple[float, ...] | None = None
    """Per token of the response; None where the sampler gave none (experts)."""
    expert: bool = False

    @property
    def key(self) -> tuple[str, str, int]:
        return (self.group, self.trajectory, self.turn)

    @property
    def tokens(self) -> int:
        """Tokens that are trained on."""
        return sum(self.mask)

    def __len__(self) -> int:
        return len(self.prompt_ids) + len(self.response_ids)


@dataclass(frozen=True, slots=True)
class Sample:
    """One rollout. `name` is unique within its group."""

    group: str
    name: str
    trajectory: Trajectory
    verdict: Verdict
    expert: bool = False
    poisoned: bool | None = None
    """An audit found that this success does not survive a real browser; None: not audited."""

    @property
    def reward(self) -> float | None:
        """None where the verdict says nothing about the agent."""
        return self.verdict.reward if self.verdict.status in ("success", "failure") else None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A sample with its rows, or with the reason why it has none."""

    sample: Sample
    rows: tuple[Row, ...] = ()
    invalid: str = ""

    @property
    def reward(self) -> float:
        assert self.sample.reward is not None
        return self.sample.reward


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLimits:
    """What a row may be."""

    max_row_tokens: int
    vocabulary: int
    """Ids from here on are another tokenizer's."""
    recorded_experts: bool = False
    """Experts bring the ids and log-probabilities of their own model, which has the same tokenizer."""
    encode: Encode | None = field(default=None)


def prepare(sample: Sample, limits: RowLimits) -> Prepared:
    """The rows of a sample, or why it is invalid. Never raises for what a sample may hold."""
    if sample.reward is None:
        return Prepared(sample, invalid=sample.verdict.status)
    if not sample.trajectory.steps:
        return Prepared(sample, invalid="no_steps")
    encoded = sample.expert and not limits.recorded_experts
    rows = _encoded(sample, limits) if encoded else _sampled(sample)
    if isinstance(rows, str):
        return Prepared(sample, invalid=rows)
    for row in rows:
        if len(row) > limits.max_row_tokens:
            return Prepared(sample, invalid="too_long")
        if not row.prompt_ids or row.tokens == 0:
            return Prepared(sample, invalid="empty_row")
        if max(*row.prompt_ids, *row.response_ids) >= limits.vocabulary or min(*row.prompt_ids, *row.response_ids) < 0:
            return Prepared(sample, invalid="foreign_tokens")
    return Prepared(sample, rows=tuple(rows))


def _sampled(sample: Sample) -> list[Row] | str:
    rows = []
    for step in sample.trajectory.steps:
        output = step.output
        if output.prompt_token_ids is None or output.token_ids is None:
            return "no_token_ids"
        if output.logprobs is not None and len(output.logprobs) != len(output.token_ids):
            return "uneven_logprobs"
        if sample.expert and output.logprobs is None:
            return "no_logprobs"
        mask = (True,) * len(output.token_ids)
        rows.append(_row(sample, step.index, output.prompt_token_ids, output.token_ids, mask, output.logprobs))
    return rows


def _encoded(sample: Sample, limits: RowLimits) -> list[Row] | str:
    if limits.encode is None:
        return "not_encodable"
    turns = limits.encode(sample.trajectory)
    if len(turns) != len(sample.trajectory.steps):
        return "not_encodable"
    return [
        _row(sample, step.index, tuple(prompt), tuple(response), (True,) * len(response), None)
        for step, (prompt, response) in zip(sample.trajectory.steps, turns, strict=True)
    ]


def _row(
    sample: Sample,
    turn: int,
    prompt_ids: tuple[int, ...],
    response_ids: tuple[int, ...],
    mask: tuple[bool, ...],
    log_probs: tuple[float, ...] | None,
) -> Row:
    return Row(sample.group, sample.name, turn, prompt_ids, response_ids, mask, log_probs, sample.expert)
