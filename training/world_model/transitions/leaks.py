"""Does anything of one split stand in another? A leak fails the build: a test that was trained on measures nothing.

template, task          in one split only
page and action         in one split only (content, not bids): the answer would be known
held-out site           no page of it, nor its name, in train, dev or test
page alone              may be in several splits (a site has one home page): counted, not a leak
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import UsageError
from harness.types import JsonDict, Observation
from training.world_model.transitions.pages import page, pair_key
from training.world_model.transitions.reading import read_episodes
from training.world_model.transitions.records import SPLITS, StoredEpisode
from training.world_model.transitions.splitting import host_of, is_on

MAX_SHOWN = 3


@dataclass(slots=True)
class LeakCheck:
    """Fed with everything that a data set holds, split by split; keys are 16 bytes each."""

    _owners: dict[tuple[str, str], str] = field(default_factory=dict)
    _pages: dict[str, set[str]] = field(default_factory=lambda: {split: set() for split in SPLITS})
    _leaks: list[str] = field(default_factory=list)
    count: int = 0

    def add_episode(self, split: str, provenance: JsonDict, urls: Iterable[str], held_out: Collection[str]) -> None:
        """Task, template and addresses of one episode of `split`."""
        benchmark = provenance.get("benchmark")
        self._own("template", f"{benchmark}/{provenance.get('template')}", split)
        self._own("task", f"{benchmark}/{provenance.get('task_id')}", split)
        if split == "held_out_site":
            return
        on = next((url for url in urls if is_on(host_of(url), held_out)), "")
        if on or provenance.get("site") in held_out:
            self._leak(f"{split} has a page of a held-out site: {on or provenance.get('site')}")

    def add_pair(self, split: str, pair: str, before: str) -> None:
        """Keys of the page and action of one kept row, and of the page alone."""
        self._own("page and action", pair, split)
        self._pages[split].add(before)

    def require_none(self) -> None:
        """Raises UsageError that names the first leaks."""
        if self.count:
            more = f" and {self.count - MAX_SHOWN} more" if self.count > MAX_SHOWN else ""
            raise UsageError(
                f"the splits leak: {'; '.join(self._leaks)}{more}",
                fix="build each input's splits from one version of its benchmark; see docs/data.md, Leaks",
            )

    def shared_pages(self) -> dict[str, dict[str, int]]:
        """Per split other than train: how many different pages were acted on, and how many of them in train too."""
        train = self._pages["train"]
        return {
            split: {"pages": len(pages), "also_in_train": len(pages & train)}
            for split, pages in self._pages.items()
            if split != "train"
        }

    def _own(self, what: str, key: str, split: str) -> None:
        owner = self._owners.setdefault((what, key), split)
        if owner != split:
            self._leak(f"{what} {key[:80]} is in {owner} and {split}")

    def _leak(self, text: str) -> None:
        self.count += 1
        if len(self._leaks) < MAX_SHOWN:
            self._leaks.append(text)


def check_dataset(directory: Path, held_out: Collection[str]) -> LeakCheck:
    """Reads a finished data set and recomputes every key from its pages. Raises UsageError where it leaks."""
    check = LeakCheck()
    for split in SPLITS:
        for episode in read_episodes(directory, split):
            check.add_episode(split, episode.provenance, (seen.url for seen in episode.pages), held_out)
            for before, pair in _pairs(episode):
                check.add_pair(split, pair, before)
    check.require_none()
    return check


def _pairs(episode: StoredEpisode) -> Iterable[tuple[str, str]]:
    for step in episode.steps:
        if step.kept:
            seen: Observation = episode.pages[step.page]
            before = page(seen.axtree)
            yield before.key, pair_key(before, step.action)
