"""What lies below a directory of results: runs, audits, fidelity files, ablations, training logs. Names only, no contents.

    manifest.json      (or episodes/ without one: a broken run, listed so that it can be named)   run
    audit.json         an audit's summary                                                          audit
    fidelity.json      a world model measured on recorded transitions                              fidelity
    ablation.json      a grid of trainings and evaluations (results.ablations)                     ablation
    train_log.jsonl    one line per training step (results.training_log)                           training

The walk is bounded in depth and number, does not follow links, and never enters a run's `episodes/`: it takes as long with
100,000 episodes as with ten.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from results.reader import EPISODES, MANIFEST
from results.text import one_line

Kind = Literal["run", "audit", "fidelity", "ablation", "training"]

MARKERS: dict[str, Kind] = {
    "audit.json": "audit",
    "fidelity.json": "fidelity",
    "ablation.json": "ablation",
    "train_log.jsonl": "training",
}
MAX_DEPTH = 4
MAX_DIRECTORIES = 5_000
MAX_NAME = 120


@dataclass(frozen=True)
class Found:
    """One result. `name` is the directory below the root, `.` for the root itself: printable, on one line, and unique within
    its kind, however the directory is called."""

    kind: Kind
    directory: Path
    name: str
    modified: float
    """Seconds since the epoch: when the marker, or a run's list of episodes, last changed."""


@dataclass(frozen=True)
class Discovery:
    """Newest first. `complete` is False where the walk stopped at `MAX_DIRECTORIES`."""

    found: tuple[Found, ...]
    complete: bool

    def of(self, kind: Kind) -> list[Found]:
        """The results of one kind."""
        return [item for item in self.found if item.kind == kind]


def discover(root: Path) -> Discovery:
    """All results at and below `root`; empty if there is no such directory."""
    found: list[Found] = []
    waiting = [(root, 0)]
    seen = 0
    while waiting and seen < MAX_DIRECTORIES:
        directory, depth = waiting.pop(0)
        seen += 1
        files, below = _listed(directory)
        name = directory.relative_to(root).as_posix()
        if MANIFEST in files or EPISODES in below:
            found.append(Found("run", directory, name, _newest(directory / MANIFEST, directory / EPISODES)))
        for marker in files & MARKERS.keys():
            found.append(Found(MARKERS[marker], directory, name, _newest(directory / marker)))
        if depth < MAX_DEPTH:
            waiting += [(directory / child, depth + 1) for child in sorted(below - {EPISODES})]
    ordered = sorted(found, key=lambda item: (-item.modified, item.name, item.kind))
    return Discovery(tuple(_named(ordered)), not waiting)


def _named(found: list[Found]) -> Iterator[Found]:
    taken: set[tuple[str, str]] = set()
    for item in found:
        name, count = one_line(item.name, MAX_NAME) or "?", 2
        while (item.kind, name) in taken:
            name, count = f"{one_line(item.name, MAX_NAME)} ({count})", count + 1
        taken.add((item.kind, name))
        yield replace(item, name=name)


def _listed(directory: Path) -> tuple[set[str], set[str]]:
    """Names of the files and of the directories in `directory`, hidden ones and links left out."""
    files, below = set(), set()
    for entry in _scan(directory):
        if entry.is_dir(follow_symlinks=False):
            below.add(entry.name)
        elif entry.is_file(follow_symlinks=False):
            files.add(entry.name)
    return files, below


def _scan(directory: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            yield from (entry for entry in entries if not entry.name.startswith("."))
    except OSError:
        return


def _newest(*paths: Path) -> float:
    times = []
    for path in paths:
        try:
            times.append(path.stat().st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)
