"""`index.jsonl`: one row per stored episode, so that tables and dashboards open no episode file.

The episodes are the truth, the index is a cache of them: it can be deleted, cut in the middle of a line or left behind
by a crash, and `load_index` says which rows are still good. `EpisodeRow` holds what the reports need and no page text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from harness.types import INVALID_ACTION, Boundary, Episode, Record, Status, Step, StopReason

MAX_TEXT = 300


class OtherScore(Record):
    """One more scorer's opinion (see `harness.types.Score`)."""

    status: Status
    reward: float | None = None


class EpisodeRow(Record):
    """One stored episode in short. Counts are over its steps; `agent_*` is the policy's use, `judge_*` the judge's."""

    episode_id: str
    bytes: int
    """Size of `episode.json.gz`: tells a row of these bytes from a row of others."""
    key: str
    benchmark: str
    task_id: str
    site: str
    cluster: str
    window: str
    repeat: int
    attempt: int
    seed: int
    order_index: int
    instance: int
    evaluator: str
    unachievable: bool
    goal: str
    status: Status
    reward: float | None
    raw_reward: float | None
    threshold: float | None
    scorer: str
    scorer_version: str
    reason: str
    other_scores: dict[str, OtherScore] = Field(default_factory=dict)
    error_boundary: Boundary | None
    error_kind: str
    error_message: str
    stop_reason: StopReason
    steps: int
    invalid_actions: int
    action_errors: dict[str, int] = Field(default_factory=dict)
    slow_steps: int
    capped_steps: int
    """Steps whose page had more nodes than the extraction cap."""
    dropped_nodes: int
    cut_steps: int
    """Steps whose tree did not fit the policy's token budget."""
    dropped_lines: int
    agent_requests: int
    agent_prompt_tokens: int
    agent_cached_tokens: int
    agent_completion_tokens: int
    agent_cost_usd: float | None
    judge_requests: int
    judge_prompt_tokens: int
    judge_completion_tokens: int
    judge_cost_usd: float | None
    seconds: float
    timing: dict[str, float] = Field(default_factory=dict)
    """Seconds by phase of `harness.types.Timing`, summed over the steps."""
    started_at: str
    worker: str
    reset_epoch: int
    finish_index: int
    notes: tuple[str, ...] = ()

    @property
    def final(self) -> bool:
        """False if the user interrupted it: such an episode says nothing and is always played again."""
        return self.stop_reason != "interrupted"


def row_of(episode: Episode, size: int) -> EpisodeRow:
    """The index row of an episode whose file has `size` bytes."""
    spec, trajectory, verdict = episode.spec, episode.trajectory, episode.verdict
    steps = trajectory.steps
    agent, judge, error = trajectory.usage, verdict.usage, verdict.error
    return EpisodeRow(
        episode_id=spec.episode_id,
        bytes=size,
        key=spec.key,
        benchmark=spec.task.benchmark,
        task_id=spec.task.task_id,
        site=spec.task.site,
        cluster=spec.task.cluster,
        window=spec.window,
        repeat=spec.repeat,
        attempt=spec.attempt,
        seed=spec.seed,
        order_index=spec.order_index,
        instance=spec.instance,
        evaluator=spec.task.evaluator.kind,
        unachievable=spec.task.unachievable,
        goal=_cut(trajectory.goal or spec.task.goal),
        status=verdict.status,
        reward=verdict.reward,
        raw_reward=verdict.raw_reward,
        threshold=verdict.threshold,
        scorer=verdict.scorer,
        scorer_version=verdict.scorer_version,
        reason=_cut(verdict.reason),
        other_scores={s.profile: OtherScore(status=s.status, reward=s.reward) for s in verdict.other_scores},
        error_boundary=error.boundary if error else None,
        error_kind=error.kind if error else "",
        error_message=_cut(error.message) if error else "",
        stop_reason=trajectory.stop_reason,
        steps=len(steps),
        invalid_actions=sum(step.output.action.name == INVALID_ACTION for step in steps),
        action_errors=dict(sorted(Counter(step.action_error.kind for step in steps if step.action_error).items())),
        slow_steps=sum(step.observation.slow for step in steps),
        capped_steps=sum(step.observation.truncated for step in steps),
        dropped_nodes=sum(step.observation.dropped_nodes for step in steps),
        cut_steps=sum(step.output.dropped_lines > 0 for step in steps),
        dropped_lines=sum(step.output.dropped_lines for step in steps),
        agent_requests=agent.requests,
        agent_prompt_tokens=agent.prompt_tokens,
        agent_cached_tokens=agent.cached_tokens,
        agent_completion_tokens=agent.completion_tokens,
        agent_cost_usd=agent.cost_usd,
        judge_requests=judge.requests,
        judge_prompt_tokens=judge.prompt_tokens,
        judge_completion_tokens=judge.completion_tokens,
        judge_cost_usd=judge.cost_usd,
        seconds=episode.wall_seconds,
        timing=_timing(steps),
        started_at=episode.started_at,
        worker=episode.worker,
        reset_epoch=episode.reset_epoch,
        finish_index=episode.finish_index,
        notes=tuple(_cut(note) for note in episode.notes),
    )


def load_index(path: Path) -> dict[str, EpisodeRow]:
    """The good rows of an index, by episode id; unreadable lines are left out (their episodes are read again)."""
    rows: dict[str, EpisodeRow] = {}
    try:
        data = path.read_bytes()
    except OSError:
        return rows
    for line in data.splitlines():
        try:
            row = EpisodeRow.model_validate_json(line)
        except ValidationError:
            continue
        rows[row.episode_id] = row
    return rows


def dump_index(rows: Mapping[str, EpisodeRow]) -> bytes:
    """The whole index, in the order in which the episodes finished."""
    ordered = sorted(rows.values(), key=lambda row: (row.finish_index, row.episode_id))
    return b"".join(index_line(row) for row in ordered)


def index_line(row: EpisodeRow) -> bytes:
    return (row.model_dump_json() + "\n").encode("utf-8")


def _timing(steps: tuple[Step, ...]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for step in steps:
        total.update(step.timing.model_dump())
    return {name: round(seconds, 4) for name, seconds in sorted(total.items())}


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
