"""What only the whole can tell of a row: is it a duplicate, does another split have it, did the episode see a held-out site.

Known.learn(…)   first pass: remembers keys, no pages
Selector.select  second pass: the episode as it is stored; what is not kept goes to the rejects
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from harness.types import Record
from training.world_model.transitions.cleaning import Judged
from training.world_model.transitions.pages import digest
from training.world_model.transitions.records import StoredEpisode, StoredStep
from training.world_model.transitions.rejects import Reject, RejectLog
from training.world_model.transitions.splitting import ORDER, is_on


class Scratched(Record):
    """A cleaned episode between the passes. `first` is the number of its first row."""

    split: str
    input: str
    first: int
    episode: StoredEpisode
    judged: tuple[Judged, ...]


@dataclass(slots=True)
class Known:
    """What the first pass learnt, as short keys: 100,000 rows take some 50 MB."""

    held_out: set[str]
    """Sites whose pages only `held_out_site` may have."""
    best: dict[str, tuple[int, int, bool]] = field(default_factory=dict)
    """Split and transition → (0 for an expert's row, its number, has it no effect): of equal rows the least stays."""
    outcomes: dict[str, set[str]] = field(default_factory=dict)
    """Pair of page and action → keys of the next pages."""
    owner: dict[str, int] = field(default_factory=dict)
    """Pair → index in `ORDER` of the first split that has it."""

    def learn(self, item: Scratched) -> None:
        rank = 0 if item.episode.provenance.get("source") == "expert" else 1
        place = ORDER.index(item.split)
        for number, (step, judged) in enumerate(zip(item.episode.steps, item.judged, strict=True), item.first):
            if judged.reason:
                continue
            row = (rank, number, _is_noop(step))
            key = _key(item.split, judged)
            self.best[key] = min(self.best.get(key, row), row)
            self.outcomes.setdefault(judged.pair, set()).add(judged.after)
            self.owner[judged.pair] = min(self.owner.get(judged.pair, place), place)


class Selector:
    """Decides on each row of the second pass. `noop_share`: the most that rows without effect may make up of train."""

    def __init__(self, known: Known, noop_share: float, rejects: RejectLog) -> None:
        self._known = known
        self._rejects = rejects
        noops = Counter(noop for key, (_, _, noop) in known.best.items() if key.startswith("train/"))
        self._noops_kept = 1.0
        if noop_share < 1 and noops[True]:
            self._noops_kept = min(1.0, noop_share / (1 - noop_share) * noops[False] / noops[True])

    def select(self, item: Scratched) -> StoredEpisode:
        """The episode with its split in the provenance. From a held-out page on, it is cut: history would show the page."""
        episode = item.episode
        on_held_out = [item.split != "held_out_site" and is_on(seen.url, self._known.held_out) for seen in episode.pages]
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
        if ORDER[self._known.owner[judged.pair]] != item.split:
            return "seen_in_other_split"
        key = _key(item.split, judged)
        if self._known.best[key][1] != number:
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


def _key(split: str, judged: Judged) -> str:
    return f"{split}/{judged.pair}/{judged.after}"
