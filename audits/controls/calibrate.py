"""A negative control → the calibration, and how deterministic the sites are.

Recording and replay are the same actions, twice, from the same snapshot. Templates are split in two halves by hash:

    half A   the mask: nodes and parts of addresses that differ
    half B   thresholds: 1st percentile of agreement under A's mask, by site; determinism and start parity are reported on it
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from audits.fidelity.pages import Element, read_page
from audits.records import DeterminismRow
from audits.replay.assess import note_of, real_pages
from audits.replay.calibration import Calibration, learn, learn_places
from audits.replay.compare import agreement, compare_pages, differing, masked, site_of
from audits.replay.evidence import Replay
from audits.replay.origins import origin_map, translated
from audits.replay.script import script_of
from harness.types import Observation, Record

PERCENTILE = 1.0
MIN_PAGES = 30
"""Of a site in half B, for a threshold of its own."""


class Pair(NamedTuple):
    """A page, recorded and replayed, with the replayed page before it."""

    recorded: Observation
    replayed: Observation
    before: Observation | None


class BidShift(Record):
    """Of pages with equal content, how often a recorded bid would have meant another element: why bids are not used."""

    targets: int
    moved: int


def in_half_a(template: str) -> bool:
    """Does this template teach the mask?"""
    return sha256(template.encode()).digest()[0] % 2 == 0


def pairs_of(replay: Replay) -> Iterator[Pair]:
    """Pages that both runs reached by the same actions."""
    if replay.dream is None:
        return
    script = script_of(replay.dream, replay.dream.task)
    trajectory = replay.episode.trajectory
    pages = real_pages(trajectory, [note_of(step) for step in trajectory.steps], len(script.cues))
    origins: dict[str, str] = {}
    for number, real in enumerate(pages, start=1):
        recorded = script.page(number)
        if recorded is None:
            return
        if number == 1:
            origins = origin_map(recorded, real)
        yield Pair(translated(recorded, origins), real, pages[number - 2] if number > 1 else None)


def calibrate(replays: Sequence[Replay], source: str = "") -> Calibration:
    """The calibration that a negative control teaches. Without a half B its threshold is that of half A."""
    half_a = [r for r in replays if in_half_a(r.episode.spec.task.cluster)]
    half_b = [r for r in replays if not in_half_a(r.episode.spec.task.cluster)]
    pairs_a = [pair for replay in half_a for pair in pairs_of(replay)]
    found = Calibration(
        mask=learn(_differing(pairs_a)),
        places=learn_places((site_of(p.replayed), read_page(p.recorded).url, read_page(p.replayed).url) for p in pairs_a),
        source=source,
    )
    pairs_b = [pair for replay in half_b for pair in pairs_of(replay)]
    by_site: dict[str, list[float]] = {}
    for pair in pairs_b or pairs_a:
        by_site.setdefault(site_of(pair.replayed), []).append(_agreement(pair, found))
    own = {site: _threshold(values) for site, values in sorted(by_site.items()) if len(values) >= MIN_PAGES}
    rest = _threshold([value for values in by_site.values() for value in values])
    return found.model_copy(update={"threshold": rest, "thresholds": own, "pages": len(pairs_a) + len(pairs_b)})


def _threshold(agreements: Sequence[float]) -> float:
    return float(np.percentile(agreements, PERCENTILE)) if agreements else 1.0


def determinism_row(replay: Replay, calibration: Calibration) -> DeterminismRow:
    task = replay.episode.spec.task
    checks = [
        compare_pages(n, pair.recorded, pair.replayed, pair.before, calibration)
        for n, pair in enumerate(pairs_of(replay), start=1)
    ]
    return DeterminismRow(
        task_id=task.task_id,
        template=task.intent_template_id,
        site=task.site,
        pages=len(checks),
        equal=sum(check.equal for check in checks),
        masked_nodes=sum(check.masked for check in checks),
        cause="" if checks else replay.assessment.cause or "nothing_compared",
    )


def _differing(pairs: Iterable[Pair]) -> Iterator[tuple[str, Element]]:
    for pair in pairs:
        for node in differing(pair.recorded, pair.replayed):
            yield site_of(pair.replayed), node


def _agreement(pair: Pair, calibration: Calibration) -> float:
    site = site_of(pair.replayed)
    before = masked(read_page(pair.before), site_of(pair.before), calibration) if pair.before is not None else None
    return agreement(
        masked(read_page(pair.recorded), site, calibration), masked(read_page(pair.replayed), site, calibration), before
    )
