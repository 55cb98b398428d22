"""What only the whole can tell of a row: is it a duplicate, does another split have it, did the episode see a held-out site.

Known.learn(…)   first pass: remembers keys, no pages
Selector.select  second pass: the episode as it is stored; what is not kept goes to the rejects
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from harness.types import Record
from training.world_model.transitions.cleaning import Judged
from training.world_model.transitions.pages import digest
from training.world_model.transitions.records import StoredEpisode, StoredStep
from training.world_model.transitions.rejects import Reject, RejectLog
from training.world_model.transitions.splitting import ORDER, host_of, is_on

SEVERAL_SITES: Final = "multi-site"
"""`Task.site` of tasks over several sites: the name of no site."""


class Scratched(Record):
    """A cleaned episode between the passes. `first` is the number of its first row."""

    split: str
    input: str
    first: int
    episode: StoredEpisode
    judged: tuple[Judged, ...]


class _Row(NamedTuple):
    """One step, as little of it as there must be; `pair` is empty for a row that is rejected anyway."""

    hosts: tuple[str, str]
    pair: str
    after: str
    noop: bool


class _Episode(NamedTuple):
    split: str
    rank: int
    """0 for an expert's: of equal rows the least stays."""
    first: int
    rows: tuple[_Row, ...]


class Known:
    """What the first pass saw, as short keys: 100,000 rows take some 100 MB."""

    def __init__(self, held_out: Iterable[str]) -> None:
        self.held_out = set(held_out)
        """Sites whose pages only `held_out_site` may have; complete when all is learnt."""
        self._episodes: list[_Episode] = []

    def learn(self, item: Scratched) -> None:
        episode, shared = item.episode, item.episode.provenance
        if shared.get("held_out_site") is True and episode.site not in ("", SEVERAL_SITES):
            self.held_out.add(episode.site)
        hosts = [sys.intern(host_of(seen.url)) for seen in episode.pages]
        rows = tuple(
            _Row(
                (hosts[step.page], hosts[step.page if step.next_page is None else step.next_page]),
                judged.pair,
                judged.after,
                _is_noop(step),
            )
            for step, judged in zip(episode.steps, item.judged, strict=True)
        )
        rank = 0 if shared.get("source") == "expert" else 1
        self._episodes.append(_Episode(item.split, rank, item.first, rows))

    def clean_rows(self) -> Iterator[tuple[str, int, int, _Row]]:
        """(split, rank, number, row) of each row that is clean and before any held-out page of its episode."""
        for split, rank, first, rows in self._episodes:
            for number, row in enumerate(rows, first):
                if split != "held_out_site" and any(is_on(host, self.held_out) for host in row.hosts):
                    break
                if row.pair:
                    yield split, rank, number, row


class Selector:
    """Decides on each row of the second pass. `noop_share`: the most that rows without effect may make up of train."""

    def __init__(self, known: Known, noop_share: float, rejects: RejectLog) -> None:
        self._held_out = known.held_out
        self._rejects = rejects
        self._best: dict[str, tuple[int, int, bool]] = {}
        self._owner: dict[str, int] = {}
        self.outcomes: dict[str, set[str]] = {}
        """Pair of page and action → keys of the next pages."""
        for split, rank, number, row in known.clean_rows():
            key, place = _key(split, row), ORDER.index(split)
            self._best[key] = min(self._best.get(key, (rank, number, row.noop)), (rank, number, row.noop))
            self._owner[row.pair] = min(self._owner.get(row.pair, place), place)
            self.outcomes.setdefault(row.pair, set()).add(row.after)
        noops = Counter(noop for key, (_, _, noop) in self._best.items() if key.startswith("train/"))
        self._noops_kept = 1.0
        if noop_share < 1 and noops[True]:
            self._noops_kept = min(1.0, noop_share / (1 - noop_share) * noops[False] / noops[True])

    def select(self, item: Scratched) -> StoredEpisode:
        """The episode with its split in the provenance. From a held-out page on, it is cut: history would show the page."""
        episode = item.episode
        on_held_out = [item.split != "held_out_site" and is_on(host_of(p.url), self._held_out) for p in episode.pages]
        steps: list[StoredStep] = []
        cut = False
        for number, (step, judged) in enumerate(zip(episode.steps, item.judged, strict=True)):
            cut = cut or on_held_out[step.page] or (step.next_page is not None and on_held_out[step.next_page])
            reason, detail = judged.reason, judged.detail
            if not reason:
                reason = "held_out_page" if cut else self._reason(item, step, judged, item.first + number)
            if reason:
                self._reject(item, step, reason, detail)
            if not cut:
                steps.append(step.model_copy(update={"kept": not reason}))
        shared = {**episode.provenance, "split_given": episode.provenance.get("split", ""), "split": item.split}
        update: dict[str, object] = {"steps": tuple(steps), "provenance": shared}
        if cut or (episode.outcome and on_held_out[episode.outcome.page]):
            update |= {"outcome": None, "pages": _used(episode, steps)}
        return episode.model_copy(update=update)

    def _reason(self, item: Scratched, step: StoredStep, judged: Judged, number: int) -> str:
        if ORDER[self._owner[judged.pair]] != item.split:
            return "seen_in_other_split"
        key = _key(item.split, judged)
        if self._best[key][1] != number:
            return "duplicate"
        if item.split == "train" and _is_noop(step) and int(digest(key), 16) / 16**32 >= self._noops_kept:
            return "noop_over_cap"
        return ""

    def _reject(self, item: Scratched, step: StoredStep, reason: str, detail: str) -> None:
        provenance = {**item.episode.provenance, **step.provenance}
        self._rejects.add(Reject(reason=reason, detail=detail, input=item.input, action=step.action, provenance=provenance))


def _used(episode: StoredEpisode, steps: list[StoredStep]) -> tuple[object, ...]:
    """The pages up to the cut. They are numbered in the order in which steps meet them, so these come first."""
    last = max((max(step.page, step.next_page or 0) for step in steps), default=-1)
    return episode.pages[: last + 1]


def _is_noop(step: StoredStep) -> bool:
    return step.provenance.get("change") == "none"


def _key(split: str, row: Judged | _Row) -> str:
    return f"{split}/{row.pair}/{row.after}"
