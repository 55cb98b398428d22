"""Sources → a data set: two passes, one episode in memory.

    collect   source ─► clean ─► split_of ─► scratch file     learns: which pairs are where, which sites are held out
    select    scratch file ─► duplicates, pairs of other splits, held-out pages, cap of no-ops ─► split files, rejects, card

The second pass knows everything the first has seen: of equal rows the expert's stays, whichever came first. Nothing is
random: equal inputs in the same order give equal bytes. The directory appears when all of it is written and no leak found.
"""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.types import JsonDict
from results.files import disk_errors
from training.world_model.transitions.card import Card, Tally, write_card
from training.world_model.transitions.cleaning import clean
from training.world_model.transitions.leaks import LeakCheck
from training.world_model.transitions.raw import Advance, Source, Unreadable
from training.world_model.transitions.records import SPLITS
from training.world_model.transitions.rejects import FILE as REJECTS
from training.world_model.transitions.rejects import Lines, Reject, RejectLog
from training.world_model.transitions.selecting import Known, Scratched, Selector
from training.world_model.transitions.splitting import split_of

SCRATCH: Final = "scratch.jsonl.gz"
SCRATCH_LEVEL: Final = 1
"""Compression of the scratch file: it is read once and thrown away."""

Announce = Callable[[str, int], Advance]
"""Announces a stretch of work and its units; returns what is told of the progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What shapes a data set beside its inputs."""

    held_out_sites: tuple[str, ...] = ()
    """Sites that are held out beside those the benchmark holds out."""
    noop_share: float = 1.0
    """Most rows without effect that train may hold, as a share of its rows; 1 = no cap."""
    keep_slow: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.noop_share <= 1:
            raise UsageError("the share of no-ops must lie between 0 and 1", fix="--noop-share 0.2")


def build(sources: Sequence[Source], out: Path, options: BuildOptions, command: str, announce: Announce) -> Card:
    """Make the data set `out`; `command` goes on its card.

    Raises UsageError where `out` exists, nothing is left, or the splits leak; NotReadyError where the disk gives out.
    """
    if out.exists():
        raise UsageError(f"{out} exists", fix="choose another --out, or remove it")
    place = out.with_name(f".{out.name}.building")
    with disk_errors(str(out)):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        try:
            card = _build(sources, place, options, command, announce)
            (place / SCRATCH).unlink()
            place.rename(out)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return card


def _build(sources: Sequence[Source], place: Path, options: BuildOptions, command: str, announce: Announce) -> Card:
    known, tally, check = Known(options.held_out_sites), Tally(), LeakCheck()
    inputs: list[JsonDict] = []
    rows = 0
    with ExitStack() as stack:
        rejects = RejectLog(stack.enter_context(Lines(place / REJECTS)))
        with Lines(place / SCRATCH, SCRATCH_LEVEL) as lines:
            for source in sources:
                before = rows
                for item in _collect(source, place, options, rows, rejects, announce(f"read {source.name}", source.total)):
                    if item is not None:
                        known.learn(item)
                        lines.write(item.model_dump_json())
                    rows += 1 if item is None else len(item.judged)
                inputs.append({"name": source.name, "kind": source.kind, "rows": rows - before, **source.facts()})
        writers = {split: stack.enter_context(Lines(place / f"{split}.jsonl.gz")) for split in SPLITS}
        selector, advance = Selector(known, options.noop_share, rejects), announce("write", rows)
        for item in _scratched(place / SCRATCH):
            episode = selector.select(item)
            advance(len(item.judged))
            for step, judged in zip(episode.steps, item.judged, strict=False):
                if step.kept:
                    check.add_pair(item.split, judged.pair, judged.before)
            if episode.outcome or any(step.kept for step in episode.steps):
                line = episode.model_dump_json()
                writers[item.split].write(line)
                tally.add(item.split, episode, line)
                check.add_episode(item.split, episode.provenance, (seen.url for seen in episode.pages), known.held_out)
    reasons = ", ".join(f"{reason}: {n}" for (_, reason), n in rejects.counts.most_common(5)) or "there was no row"
    if not tally.rows:
        raise UsageError(f"no transition is left ({reasons})", fix="look at the inputs; harness data build --format names one")
    check.require_none()
    card = tally.card(
        command=command,
        inputs=tuple(inputs),
        options=asdict(options) | {"held_out_sites": sorted(known.held_out)},
        rows_in=rows,
        rejects=rejects.counts,
        outcomes=selector.outcomes,
        shared_pages=check.shared_pages(),
    )
    write_card(place, card)
    return card


def _collect(
    source: Source, place: Path, options: BuildOptions, rows: int, rejects: RejectLog, advance: Advance
) -> Iterator[Scratched | None]:
    """Cleaned episodes; None for a row in which no step could be found."""
    for raw in source.episodes(place, advance):
        if isinstance(raw, Unreadable):
            rejects.add(Reject(reason=raw.reason, detail=raw.detail, input=source.name, provenance=raw.provenance))
            rows += 1
            yield None
            continue
        cleaned = clean(raw, options.keep_slow)
        split = split_of(raw, options.held_out_sites)
        yield Scratched(split=split, input=source.name, first=rows, episode=cleaned.episode, judged=cleaned.judged)
        rows += len(cleaned.judged)


def _scratched(path: Path) -> Iterator[Scratched]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            yield Scratched.model_validate_json(line)
