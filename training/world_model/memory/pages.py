"""`PageMemory`: the pages of the train split and of this episode, found by address, by title, or by kind.

    add(observation, site, episode)        streaming over the train split; bounded, so order decides what stays
    lookup(site, url, title) → Found       exact     the page with this route
                                           title     a page of this kind with this title
                                           similar   the page of this kind whose title and address share most words
                                           frame     of a kind never seen: a page with the nearest address, for what
                                                     it shares with others
    without(episode), with_history(pages)  views that share the pages: labels are made without the row's own episode,
                                           predictions with the pages that the episode has already shown
    add_link / links                       what an action on a named element led to, for the retrieval baseline

A page seen in this episode wins over one of the train split, the newest first. `url` may be a pattern
(`/catalogue/*_N/`): a small model cannot know the number of a product. Nothing here reads the page that follows.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from harness.errors import UsageError
from harness.predictions import WorldModelQuery
from harness.types import Observation, Record
from training.world_model.memory.addresses import document, pattern, route, shelf
from training.world_model.memory.links import Link, cut, keys_of, make_room, most_alike, spot_of

MEMORY_VERSION: Final = 1
HitKind = Literal["exact", "title", "similar", "frame"]


class RememberedPage(Record):
    """One version of a page, as the episode `episode` saw it."""

    shelf: str
    route: str
    title: str
    axtree: str
    url: str
    episode: str = ""
    """Who saw it (`run/episode`): a label is never made from the pages of its own episode. `""` = this episode."""
    template: str = ""
    """The cluster of tasks it was seen in."""


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
    links: dict[tuple[str, ...], list[Link]] = field(default_factory=dict)
    """Each link under all its keys (`links.keys_of`)."""


@dataclass(frozen=True, slots=True)
class PageMemory:
    """See the module's docstring. `max_pages` bounds pages, `max_versions` those of one route, each of another episode."""

    max_pages: int = 5_000
    max_versions: int = 3
    max_links: int = 24
    _shelves: _Shelves = field(default_factory=_Shelves)
    _excluded: frozenset[str] = frozenset()
    _history: tuple[RememberedPage, ...] = ()
    """Newest first."""

    def __len__(self) -> int:
        """Pages remembered, versions counted; those of the episode not."""
        return sum(map(len, self._shelves.pages.values()))

    def add(self, observation: Observation, site: str = "", episode: str = "", template: str = "") -> None:
        """Remember a page. Its oldest version gives way: of the same episode, else of the same template, else of any."""
        if not observation.axtree:
            return
        page = _remembered(observation, site, episode, template)
        versions = self._shelves.pages.setdefault((page.shelf, page.route), [])
        versions[:] = [other for other in versions if other.episode != episode]
        if len(versions) >= self.max_versions:
            versions.remove(next((other for other in versions if other.template == template), versions[0]))
        versions.append(page)
        self._shelves.kinds.setdefault((page.shelf, pattern(page.route)), {})[page.route] = None
        if len(self._shelves.pages) * self.max_versions > self.max_pages and len(self) > self.max_pages:
            self._forget()

    def add_link(self, query: WorldModelQuery, answer: str, episode: str = "", template: str = "") -> None:
        """Remember what an action led to, `max_links` for each element, for each role on a kind of page, and for each role."""
        self._add_link(Link(spot=spot_of(query), answer=cut(answer), episode=episode, template=template))

    def _add_link(self, link: Link) -> None:
        for key in keys_of(link.spot):
            kept = self._shelves.links.setdefault(key, [])
            kept.append(link)
            make_room(kept, self.max_links)

    def without(self, *origins: str) -> PageMemory:
        """A view without what these episodes or templates contributed: the memory as another episode would find it."""
        return replace(self, _excluded=self._excluded.union(origins))

    def _shows(self, item: RememberedPage | Link) -> bool:
        return item.episode not in self._excluded and item.template not in self._excluded

    def with_history(self, observations: Sequence[Observation], site: str = "") -> PageMemory:
        """A view that knows the pages this episode has shown so far, given oldest first."""
        seen: dict[tuple[str, str], RememberedPage] = {}
        for observation in observations:
            if not observation.axtree:
                continue
            page = _remembered(observation, site)
            seen.pop((page.shelf, page.route), None)
            seen[page.shelf, page.route] = page
        return replace(self, _history=tuple(reversed(seen.values())))

    def lookup(self, site: str, url: str, title: str = "") -> Found | None:
        """The page to show for `url` (an address, a route or a pattern) of `site`; None where nothing like it is known."""
        place, wanted = shelf(url, site), document(route(url))
        for page in self._history:
            if (page.shelf, page.route) == (place, wanted):
                return Found(page, "exact", from_history=True)
        if newest := self._newest(place, wanted):
            return Found(newest, "exact")
        kind = pattern(wanted)
        alike = self._of_kind(place, kind)
        titled = [found for found in alike if title and found.page.title == title]
        if titled:
            return replace(
                max(titled, key=lambda found: found.page.route.partition("?")[2] == wanted.partition("?")[2]), kind="title"
            )
        alike = alike or self._frames(place, kind)
        words = _words(title, wanted)
        return max(alike, key=lambda found: _overlap(_words(found.page.title, found.page.route), words), default=None)

    def links(self, query: WorldModelQuery, count: int = 1) -> list[Link]:
        """Up to `count` links most like `query`, with different answers (`links.most_alike`); none of left-out episodes."""
        spot = spot_of(query)
        known = [link for key in keys_of(spot)[::-1] for link in self._shelves.links.get(key, ())]
        return most_alike(spot, [link for link in known if self._shows(link)], count)

    def pages(self) -> Iterator[RememberedPage]:
        """All remembered pages that this view shows, those of the episode first."""
        yield from self._history
        for versions in self._shelves.pages.values():
            yield from (page for page in versions if self._shows(page))

    def _newest(self, place: str, wanted: str) -> RememberedPage | None:
        versions = self._shelves.pages.get((place, wanted), [])
        return next((page for page in reversed(versions) if self._shows(page)), None)

    def _of_kind(self, place: str, kind: str, hit: HitKind = "similar") -> list[Found]:
        """Pages of one kind, those of the episode first."""
        own = [page for page in self._history if page.shelf == place and pattern(page.route) == kind]
        routes = self._shelves.kinds.get((place, kind), {})
        known = [page for route_ in reversed(routes) if (page := self._newest(place, route_))]
        return [*(Found(page, hit, from_history=True) for page in own), *(Found(page, hit) for page in known)]

    def _frames(self, place: str, kind: str) -> list[Found]:
        """Pages of the known kind nearest to `kind`: most path segments in common at both ends, one at least, then query keys.

        The newest page of the episode is no frame for another: it is the page that goes away.
        """
        kinds = {other for shelf_, other in self._shelves.kinds if shelf_ == place}
        kinds |= {pattern(page.route) for page in self._history if page.shelf == place}
        newest = [page.route for page in self._history[:1]]
        for nearness, other in sorted(((_nearness(kind, other), other) for other in kinds), reverse=True):
            frames = [found for found in self._of_kind(place, other, "frame") if found.page.route not in newest]
            if nearness[0] > 0 and frames:
                return frames
        return []

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

    def _records(self) -> Iterator[Record]:
        for versions in self._shelves.pages.values():
            yield from versions
        yield from {id(link): link for links in self._shelves.links.values() for link in links}.values()

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
            self._add_link(Link.model_validate(row["link"]))
            return
        page = RememberedPage.model_validate(row["page"])
        self._shelves.pages.setdefault((page.shelf, page.route), []).append(page)
        self._shelves.kinds.setdefault((page.shelf, pattern(page.route)), {})[page.route] = None


def _remembered(observation: Observation, site: str, episode: str = "", template: str = "") -> RememberedPage:
    return RememberedPage(
        shelf=shelf(observation.url, site),
        route=document(route(observation.url)),
        title=observation.title,
        axtree=observation.axtree,
        url=observation.url,
        episode=episode,
        template=template,
    )


def _nearness(one: str, other: str) -> tuple[float, float]:
    """(path segments in common at the beginning and end, per segment of the longer; query keys in common per key)."""
    (path, _, keys), (other_path, _, other_keys) = one.partition("?"), other.partition("?")
    left, right = path.strip("/").split("/"), other_path.strip("/").split("/")
    head = _shared(left, right)
    tail = _shared(left[head:][::-1], right[head:][::-1])
    return (head + tail / 2) / max(len(left), len(right)) if head else 0.0, _overlap(
        set(keys.split("&")), set(other_keys.split("&"))
    )


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    """How many leading elements two sequences share."""
    return next((i for i, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), min(len(left), len(right)))


def _words(title: str, route_: str) -> set[str]:
    return set(re.findall(r"\w+", f"{title} {route_}".lower()))


def _overlap(left: set[str], right: set[str]) -> float:
    """Jaccard index; 0 for two empty sets."""
    return len(left & right) / len(left | right) if left | right else 0.0
