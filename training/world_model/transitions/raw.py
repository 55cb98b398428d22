"""What every source hands over, before cleaning: episodes with all their steps, good or bad, and what could not be read.

    runs.py  exported.py  nnetnav.py  gobrowse.py   ─►  RawEpisode(RawStep …) | Unreadable   ─►  cleaning.py

Nothing vanishes between a source and the data set: each step and each `Unreadable` is one row in, which is kept or rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from harness.types import Action, JsonDict, Observation

REASONS: Final = {
    "unreadable_line": "not a row of the format that the file is in",
    "truncated_file": "the compressed file ends early, and what was to follow is lost",
    "unreadable_episode": "an episode of a run whose file cannot be read",
    "missing_observation": "the page before or after the action was not recorded, or is empty",
    "end_of_episode": "nothing was recorded after the last action",
    "gap": "the next step of the episode is not in the data",
    "repeated_step": "a second row for a step that was there already",
    "illegal_action": "no action of the action space could be read",
    "truncated_tree": "the page before or after the action was cut when it was recorded",
    "foreign_tree": "the page is not in BrowserGym's or WebArena's text form",
    "absent_element": "the action names an element that is not on the page, and nobody noticed",
    "inconsistent_pair": "the next row says that another action was taken",
    "left_the_sites": "the action led, or would have led, off the benchmark's sites",
    "slow_page": "the page was still busy when it was recorded: what follows may not be the action's doing",
    "held_out_page": "a page of a held-out site, or seen after one, in an episode that is not held out",
    "duplicate": "the same page, action and next page are in this split already",
    "seen_in_other_split": "the same page and action are in a split that goes first (train, test, dev, held-out site)",
    "noop_over_cap": "an action without effect, more of which train does not take (--noop-share)",
}
"""Every reason for which a row is rejected."""

Advance = Callable[[int], None]
"""Told how many units of a source's `total` were read."""


@dataclass(frozen=True, slots=True)
class RawStep:
    """One row: what was seen, done and seen next. `problem` is a reason that only the source could notice."""

    index: int
    observation: Observation | None
    action: Action
    next_observation: Observation | None
    goal: str = ""
    problem: str = ""
    detail: str = ""
    provenance: JsonDict = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawOutcome:
    observation: Observation
    answer: str | None
    success: bool


@dataclass(frozen=True, slots=True)
class RawEpisode:
    """Steps in order. `provenance` is what they share: run, episode, benchmark, task_id, template, split …"""

    site: str
    sites: tuple[str, ...]
    """All sites of the task; more than one for tasks over several."""
    goal: str
    provenance: JsonDict
    steps: tuple[RawStep, ...]
    outcome: RawOutcome | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A piece of input in which no step could be found."""

    reason: str
    detail: str
    provenance: JsonDict = field(default_factory=dict)


class Source(Protocol):
    """One input of a build."""

    name: str
    """As the user named it."""
    kind: str
    total: int
    """Units of work, for progress: episodes of a run, bytes of a file."""

    def facts(self) -> JsonDict:
        """What identifies the input, for the card."""

    def episodes(self, scratch: Path, advance: Advance) -> Iterator[RawEpisode | Unreadable]:
        """Everything in it, one episode in memory. `scratch` is a directory for temporary files."""
