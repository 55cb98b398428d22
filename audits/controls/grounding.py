"""How often does the ladder choose another element than the recorded one? Measured where the truth is known.

A replayed page whose tree equals the recorded one, bids included, has the recorded element under the recorded bid: there a
choice can be checked without trusting the ladder. `moved` counts pages of equal content on which bids do differ: where a
replay by bid would have acted on something else.
"""

from __future__ import annotations

from collections.abc import Iterable

from audits.controls.calibrate import pairs_of
from audits.metrics.numbers import Estimate, proportion
from audits.replay.assess import note_of
from audits.replay.evidence import Replay
from audits.replay.script import script_of
from harness.actions import bids_of
from harness.axtree import normalise, parse
from harness.types import Record


class GroundingQuality(Record):
    """The ladder on real pages. n of both: element actions on pages where the truth is known."""

    precision: Estimate
    """Right choices over choices."""
    recall: Estimate
    """Right choices over all that had a right choice."""
    unknown: int
    """Element actions on pages that differ from the recorded ones, where nobody knows."""
    moved: int
    """Element actions on pages of equal content where the recorded bid is another element's, or nobody's."""


def grounding_quality(replays: Iterable[Replay]) -> GroundingQuality:
    """Over all element actions of a negative control that were attempted."""
    chosen: list[bool] = []
    right: list[bool] = []
    clusters: list[str] = []
    clusters_chosen: list[str] = []
    unknown = moved = 0
    for replay in replays:
        for truth, bid in _choices(replay):
            if truth is None:
                unknown += 1
            elif truth == "moved":
                moved += 1
            else:
                clusters.append(replay.episode.spec.task.cluster)
                right.append(bid == truth)
                if bid:
                    chosen.append(bid == truth)
                    clusters_chosen.append(replay.episode.spec.task.cluster)
    return GroundingQuality(
        precision=proportion(chosen, clusters_chosen), recall=proportion(right, clusters), unknown=unknown, moved=moved
    )


def _choices(replay: Replay) -> Iterable[tuple[str | None, str]]:
    """(recorded bid where it is the truth, None, or `moved`; chosen bid) of each element action."""
    if replay.dream is None:
        return
    script = script_of(replay.dream, replay.dream.task)
    pages = {number: (pair.recorded, pair.replayed) for number, pair in enumerate(pairs_of(replay), start=1)}
    for step in replay.episode.trajectory.steps:
        note = note_of(step)
        if (
            note is None
            or note.move in ("waited", "policy")
            or not 0 < note.action <= len(script.cues)
            or note.action not in pages
        ):
            continue
        cue = script.cues[note.action - 1]
        recorded, replayed = pages[note.action]
        for truth, grounding in zip(bids_of(cue.action), note.groundings, strict=False):
            if not cue.targets or cue.failed:
                continue
            bid = grounding.bid if grounding.acted_on else ""
            if recorded.axtree == replayed.axtree:
                yield truth, bid
            elif normalise(parse(recorded.axtree)) == normalise(parse(replayed.axtree)):
                yield "moved", bid
            else:
                yield None, bid
