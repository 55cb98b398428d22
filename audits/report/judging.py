"""J_r of the blame split: the dreams' own judge on the real pages of their replays."""

from __future__ import annotations

from collections.abc import Iterator

from audits.replay.evidence import Replay, read_replays
from audits.replay.seen import as_seen
from audits.report.rows import Judged
from harness.errors import UsageError
from harness.protocols import Judge
from results.reader import RunReader


def judged(reader: RunReader, judge: Judge) -> Iterator[tuple[str, Judged | None]]:
    """(episode id, the judge's word) for each conclusive replay of a judged dream; None where it gave no verdict.

    The threshold is the one that the dream was judged with. Raises UsageError for a judge that did not judge the dreams: of
    another one's errors nobody was the victim.
    """
    name = f"{judge.name} {judge.version}".strip()
    for replay in read_replays(reader):
        if replay.assessment.outcome == "inconclusive" or replay.dream is None or replay.dream.source != "dream":
            continue
        if (theirs := replay.dream.producers.get("judge", "")) != name:
            raise UsageError(f"these dreams were judged by {theirs or 'nobody'}, not by {name}", fix="give their own judge")
        episode_id = replay.episode.spec.episode_id
        said = _reward(replay, judge)
        word = None if said is None else Judged(episode_id=episode_id, success=said >= _threshold(replay), judge=name)
        yield episode_id, word


def _reward(replay: Replay, judge: Judge) -> float | None:
    seen = as_seen(replay)
    verdict = judge.judge(seen) if seen is not None else None
    return verdict.raw_reward if verdict is not None and verdict.status in ("success", "failure") else None


def _threshold(replay: Replay) -> float:
    threshold = replay.claim.threshold if replay.claim is not None else None
    return 0.5 if threshold is None else threshold
