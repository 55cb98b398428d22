"""`PageMemory`: the pages of the train split and of this episode, found by address, by title, or by kind.

    add(observation, site, episode)        streaming over the train split; bounded, so order decides what stays
    lookup(site, url, title) → Found       exact     the page with this route
                                           title     a page of this kind with this title
                                           similar   the page of this kind whose title has most words in common,
                                                     else one whose address begins alike
    without(episode), with_history(pages)  views that share the pages: labels are made without the row's own episode,
                                           predictions with the pages that the episode has already shown
    add_link / links                       what an action on a named element led to, for the retrieval baseline

A page seen in this episode wins over one of the train split, the newest first. `url` may be a pattern
(`/catalogue/*_N/`): a small model cannot know the number of a product. Nothing here reads the page that follows.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from harness.errors import UsageError
from harness.types import Observation, Record
from training.world_model.memory.addresses import pattern, route, shelf

MEMORY_VERSION: Final = 1
HitKind = Literal["exact", "title", "similar"]


class RememberedPage(Record):
    """One version of a page, as the episode `episode` saw it."""

    shelf: str
    route: str
    title: str
    axtree: str
    url: str
    episode: str = ""
    """Who saw it (`run/episode`): a label is never made from the pages of its own episode. `""` = this episode."""
    order: int = 0
    """Later pages have higher numbers."""


class Link(Record):
    """What an action on an element of a kind of page led to."""

    shelf: str
    pattern: str
    action: str
    role: str
    name: str
    answer: str
    """The taught answer, as its format spells it."""
    episode: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    page: RememberedPage
    kind: HitKind
    from_history: bool = False

    @property
    def key(self) -> str:
        """For `Prediction.retrieved`."""
        return f"{'history ' if self.from_history else ''}{self.kind} {self.page.shelf}{self.page.route}"


@dataclass(frozen=True, slots=True)
class _Shelves:
    """Shared by all views of one memory."""

    pages: dict[tuple[str, str], list[RememberedPage]] = field(default_factory=dict)
    kinds: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    """(shelf, pattern) → routes, in order of first sight."""
    links: dict[tuple[str, str, str, str, str], list[Link]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PageMemory:
    """See the module's docstring. `max_pages` bounds pages, `max_versions` those of one route, each of another episode."""

    max_pages: int = 20_000
    max_versions: int = 3
    max_links: int = 8
    """Links kept per element, the newest."""
    _shelves: _Shelves = field(default_factory=_Shelves)
    _excluded: frozenset[str] = frozenset()
    _history: tuple[RememberedPage, ...] = ()
    """Newest first."""

    def __len__(self) -> int:
        """Pages remembered, versions counted; those of the episode not."""
        return sum(map(len, self._shelves.pages.values()))

    def add(self, observation: Observation, site: str = "", episode: str = "") -> None:
        """Remember a page. An older version of it that the same episode saw is replaced."""
        if not observation.axtree:
            return
        page = _remembered(observation, site, episode, order=len(self))
        versions = self._shelves.pages.setdefault((page.shelf, page.route), [])
        versions[:] = [other for other in versions if other.episode != episode][-(self.max_versions - 1) :]
        versions.append(page)
        self._shelves.kinds.setdefault((page.shelf, pattern(page.route)), {})[page.route] = None
        if len(self._shelves.pages) * self.max_versions > self.max_pages and len(self) > self.max_pages:
            self._forget()

    def add_link(self, link: Link) -> None:
        """Remember what an action led to, the newest `max_links` per element."""
        links = self._shelves.links.setdefault((link.shelf, link.pattern, link.action, link.role, link.name), [])
        links.append(link)
        del links[: -self.max_links]

    def without(self, episode: str) -> PageMemory:
        """A view without what `episode` contributed: the memory as a later episode would find it."""
        return replace(self, _excluded=self._excluded | {episode})

    def with_history(self, observations: Sequence[Observation], site: str = "") -> PageMemory:
        """A view that knows the pages this episode has shown so far, given oldest first."""
        seen: dict[tuple[str, str], RememberedPage] = {}
        for order, observation in enumerate(observations):
            page = _remembered(observation, site, "", order)
            seen.pop((page.shelf, page.route), None)
            seen[page.shelf, page.route] = page
        return replace(self, _history=tuple(reversed(seen.values())))

    def lookup(self, site: str, url: str, title: str = "") -> Found | None:
        """The page to show for `url` (an address, a route or a pattern) of `site`; None where nothing like it is known."""
        place, wanted = shelf(url, site), route(url)
        kind = pattern(wanted)
        if page := next((page for page in self._history if (page.shelf, page.route) == (place, wanted)), None):
            return Found(page, "exact", from_history=True)
        if page := self._newest(place, wanted):
            return Found(page, "exact")
        alike = self._of_kind(place, kind)
        for page, remembered in alike:
            if title and page.title == title:
                return Found(page, "title", from_history=remembered)
        if not alike:
            alike = self._beginning_alike(place, kind)
        if not alike:
            return None
        page, remembered = max(alike, key=lambda item: _overlap(item[0].title, title))
        return Found(page, "similar", from_history=remembered)

    def links(self, site: str, url: str, action: str, role: str, name: str) -> list[Link]:
        """What this action on this element led to on pages of this kind, newest first."""
        key = (shelf(url, site), pattern(route(url)), action, role, name)
        return [link for link in reversed(self._shelves.links.get(key, [])) if link.episode not in self._excluded]

    def pages(self) -> Iterator[RememberedPage]:
        """All remembered pages that this view shows, those of the episode first."""
        yield from self._history
        for versions in self._shelves.pages.values():
            yield from (page for page in versions if page.episode not in self._excluded)

    def _newest(self, place: str, wanted: str) -> RememberedPage | None:
        versions = self._shelves.pages.get((place, wanted), [])
        return next((page for page in reversed(versions) if page.episode not in self._excluded), None)

    def _of_kind(self, place: str, kind: str) -> list[tuple[RememberedPage, bool]]:
        """Pages of one kind, those of the episode first; (page, seen in this episode)."""
        own = [(page, True) for page in self._history if page.shelf == place and pattern(page.route) == kind]
        routes = self._shelves.kinds.get((place, kind), {})
        return own + [(page, False) for known in reversed(routes) if (page := self._newest(place, known))]

    def _beginning_alike(self, place: str, kind: str) -> list[tuple[RememberedPage, bool]]:
        """Pages of the kind whose path shares most leading segments with `kind`, at least one."""
        wanted = kind.partition("?")[0].strip("/").split("/")
        best: list[tuple[RememberedPage, bool]] = []
        longest = 0
        for shelf_, other in self._shelves.kinds:
            if shelf_ == place:
                shared = _shared(wanted, other.partition("?")[0].strip("/").split("/"))
                if shared > longest and (pages := self._of_kind(place, other)):
                    best, longest = pages, shared
        return best

    def _forget(self) -> None:
        """Drop the oldest page of the kind that has most: rare kinds of page stay."""
        (place, _), routes = max(self._shelves.kinds.items(), key=lambda item: len(item[1]))
        oldest = next(iter(routes))
        del routes[oldest]
        self._shelves.pages.pop((place, oldest), None)

    def save(self, path: Path) -> None:
        """Write pages and links as gzipped JSON lines; equal memories give equal bytes."""
        with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            head = {
                "version": MEMORY_VERSION,
                "max_pages": self.max_pages,
                "max_versions": self.max_versions,
                "max_links": self.max_links,
            }
            packed.write(json.dumps(head).encode() + b"\n")
            for record in self._records():
                kind = "page" if isinstance(record, RememberedPage) else "link"
                packed.write(f'{{"{kind}":{record.model_dump_json()}}}\n'.encode())

    def _records(self) -> Iterable[Record]:
        for versions in self._shelves.pages.values():
            yield from versions
        for links in self._shelves.links.values():
            yield from links

    @classmethod
    def load(cls, path: Path) -> PageMemory:
        """Read what `save` wrote. Raises UsageError for anything else."""
        fix = "train again, or copy the whole checkpoint directory"
        try:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                head = json.loads(next(lines))
                if head.pop("version", None) != MEMORY_VERSION:
                    raise UsageError(f"{path} is a page memory of another version", fix=fix)
                memory = cls(**head)
                for line in lines:
                    memory._take(json.loads(line))
        except (OSError, EOFError, StopIteration, ValueError, TypeError, AttributeError, ValidationError) as error:
            raise UsageError(f"cannot read the page memory {path}: {type(error).__name__}", fix=fix) from error
        return memory

    def _take(self, row: dict[str, object]) -> None:
        if "link" in row:
            self.add_link(Link.model_validate(row["link"]))
            return
        page = RememberedPage.model_validate(row["page"])
        self._shelves.pages.setdefault((page.shelf, page.route), []).append(page)
        self._shelves.kinds.setdefault((page.shelf, pattern(page.route)), {})[page.route] = None


def _remembered(observation: Observation, site: str, episode: str, order: int) -> RememberedPage:
    return RememberedPage(
        shelf=shelf(observation.url, site),
        route=route(observation.url),
        title=observation.title,
        axtree=observation.axtree,
        url=observation.url,
        episode=episode,
        order=order,
    )


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _overlap(left: str, right: str) -> float:
    """Jaccard index of the words of two titles."""
    one, other = set(left.lower().split()), set(right.lower().split())
    return len(one & other) / len(one | other) if one | other else 0.0
