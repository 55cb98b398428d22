"""Where in which recorded episode is this query? What a real browser has to do to get there again.

    RecordedEpisodes(run directories)
        locate(query)  →  Prefix(spec, actions)      set the task up with its seed, play `actions`, then the query's action

A query names no task. It is found by its pages: the latest page of (history, observation) that some recorded episode shows,
among equals the one with the same goal and the longest equal past. What the query did after that page is played after it.
Pages are compared without bids, and without the port of a site's address (site instances differ in it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from harness.axtree import normalise, parse
from harness.predictions import WorldModelQuery
from harness.types import Action, EpisodeSpec, Observation
from results.reader import RunReader
from results.transitions import played
from training.world_model.memory.addresses import route, shelf


@dataclass(frozen=True)
class Prefix:
    """The way to a page. `run` is the directory whose configuration says how tasks are opened."""

    run: Path
    spec: EpisodeSpec
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class _Recorded:
    run: Path
    spec: EpisodeSpec
    goal: str
    actions: tuple[Action, ...]
    pages: tuple[bytes, ...]
    """Digest of the page before each action, and of the last one."""


class RecordedEpisodes:
    """All played episodes of some runs, by the pages they show. Holds digests and actions, no pages."""

    def __init__(self, runs: Iterable[Path]) -> None:
        """Raises UsageError for a directory that holds no run."""
        self._at: dict[bytes, list[tuple[_Recorded, int]]] = {}
        for run in runs:
            for episode in played(RunReader.open(run)):
                steps, last = episode.trajectory.steps, episode.trajectory.final_observation
                pages = [step.observation for step in steps] + ([last] if last else [])
                recorded = _Recorded(
                    run=run,
                    spec=episode.spec,
                    goal=episode.trajectory.goal,
                    actions=tuple(step.output.action for step in steps),
                    pages=tuple(digest(page) for page in pages),
                )
                for number, page in enumerate(recorded.pages):
                    self._at.setdefault(page, []).append((recorded, number))

    def __len__(self) -> int:
        """Distinct pages known."""
        return len(self._at)

    def locate(self, query: WorldModelQuery) -> Prefix | None:
        """The way to the query's page; None if no recorded episode shows any of its pages."""
        past = [step for step in query.history if step.observation.axtree]
        pages = [digest(step.observation) for step in past] + [digest(query.observation)]
        actions = [step.action for step in past]
        for at in range(len(pages) - 1, -1, -1):
            found = self._at.get(pages[at], [])
            if found:
                best, number = max(found, key=lambda place: _likeness(place, query.goal, pages[: at + 1]))
                return Prefix(best.run, best.spec, (*best.actions[:number], *actions[at:]))
        return None


def digest(page: Observation) -> bytes:
    """Equal for two loads of the same page in the same state."""
    return _digest(page.url, page.axtree)


@lru_cache(maxsize=1024)
def _digest(url: str, axtree: str) -> bytes:
    tree = normalise(parse(axtree), drop_properties=("focused",)).to_text()
    return blake2b(f"{shelf(url)}{route(url)}\n{tree}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _likeness(place: tuple[_Recorded, int], goal: str, pages: Sequence[bytes]) -> tuple[bool, int]:
    recorded, number = place
    past = recorded.pages[: number + 1]
    equal = 0
    while equal < min(len(past), len(pages)) and past[-1 - equal] == pages[-1 - equal]:
        equal += 1
    return recorded.goal == goal, equal
