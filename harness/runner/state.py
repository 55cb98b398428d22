"""What a progress display and a summary need to know of a run in progress."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from harness.types import Episode, EpisodeSpec


@dataclass
class Current:
    """An episode in a worker's hands."""

    spec: EpisodeSpec
    phase: str = "waiting"
    step: int = 0


@dataclass
class RunState:
    """Counts over all planned episodes; those finished by earlier sittings are in `done_before`."""

    total: int
    done_before: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    retried: int = 0
    current: dict[str, Current] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    cost_usd: float | None = 0.0
    down_sites: tuple[str, ...] = ()
    stopping: bool = False

    @property
    def done(self) -> int:
        return self.done_before + sum(self.statuses.values())

    @property
    def eta_seconds(self) -> float | None:
        """Rest of the run at this sitting's pace; None before the first episode is done."""
        here = sum(self.statuses.values())
        if not here:
            return None
        return (time.monotonic() - self.started) / here * (self.total - self.done)

    def book(self, episode: Episode, *, retried: bool) -> None:
        if retried:
            self.retried += 1
        else:
            self.statuses[episode.verdict.status] += 1
        cost = episode.usage.cost_usd
        if episode.usage.requests:
            self.cost_usd = None if self.cost_usd is None or cost is None else self.cost_usd + cost


class Display(Protocol):
    """Shown what changed, as often as something did."""

    def update(self, state: RunState) -> None: ...

    def finished(self, episode: Episode, state: RunState) -> None: ...


class NoDisplay:
    def update(self, state: RunState) -> None: ...

    def finished(self, episode: Episode, state: RunState) -> None: ...
