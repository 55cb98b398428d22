"""Runs as they are on disk, read once per change. Nothing here raises for what a file holds: a problem is a value."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dashboards import memory
from dashboards.cache import Latest
from harness.errors import HarnessError
from results.aggregate import rate_of_planned
from results.caveats import run_warnings
from results.columns import RunColumns, fingerprint, read_columns
from results.discovery import Discovery, Found, discover
from results.intervals import Rate
from results.pair_report import pair_report
from results.reader import RunReader
from results.report import run_report, sites, summary, templates
from results.tables import Report, Table

Stamp = tuple[tuple[int, int], ...]

KEPT_RUNS = 3
DISCOVERY_SECONDS = 3.0


@dataclass(frozen=True)
class Problem:
    """Something that cannot be shown, in one sentence, and what to do about it."""

    what: str
    fix: str = ""

    @classmethod
    def of(cls, error: HarnessError) -> Problem:
        return cls(str(error), error.fix)


class RunView:
    """One run at one moment; numbers are computed when first asked for, by `results`."""

    def __init__(self, found: Found, stamp: Stamp, reader: RunReader, columns: RunColumns, seconds: float) -> None:
        self.found = found
        self.stamp = stamp
        """`fingerprint` of the directory before it was read."""
        self.reader = reader
        self.columns = columns
        self.seconds = seconds
        """How long reading took: a page refreshes more rarely where it is long."""

    @property
    def name(self) -> str:
        return self.found.name

    @cached_property
    def summary(self) -> str:
        return summary(self.columns.outcomes)

    @cached_property
    def overall(self) -> Rate:
        return rate_of_planned(self.columns.outcomes)

    @cached_property
    def sites(self) -> Table:
        return sites(self.columns.outcomes, self.reader.manifest.excluded)

    @cached_property
    def templates(self) -> list[Table]:
        return templates(self.columns.outcomes)

    @cached_property
    def warnings(self) -> list[str]:
        columns = self.columns
        found = list(run_warnings(self.reader.manifest, columns.outcomes, len(columns.unreadable), columns.attempts))
        if columns.unindexed:
            found.append(f"{columns.unindexed:,} episodes are not in the index yet: they are being written, or resume the run.")
        if columns.skipped_lines:
            found.append(f"{columns.skipped_lines:,} lines of the index cannot be read; resume the run to write it anew.")
        return found

    @cached_property
    def report(self) -> Report:
        """Every table of `harness report`. Reads the whole run: slow above `results.columns.EXACT_LIMIT` episodes."""
        return run_report(self.reader)


_runs: Latest[RunView | Problem] = Latest(KEPT_RUNS)
_pairs: Latest[Report | Problem] = Latest(2)
_discoveries: Latest[Discovery] = Latest(2)


def discovery(root: Path) -> Discovery:
    """What lies below `root`, at most a few seconds old."""
    return _discoveries.get(root, int(time.monotonic() / DISCOVERY_SECONDS), lambda: discover(root))


def run_view(found: Found) -> RunView | Problem:
    """The run, as it is on disk now."""
    stamp = fingerprint(found.directory)
    return _runs.get(found.directory, stamp, lambda: _read(found, stamp))


def pair(first: RunView, second: RunView) -> Report | Problem:
    """The paired comparison of two runs."""
    key = (first.found.directory, second.found.directory)
    return _pairs.get(key, (first.stamp, second.stamp), lambda: _compare(first, second))


def _read(found: Found, stamp: Stamp) -> RunView | Problem:
    begun = time.perf_counter()
    try:
        reader = RunReader.open(found.directory)
        columns = read_columns(reader)
        if not columns.exact:
            memory.trim()
        return RunView(found, stamp, reader, columns, time.perf_counter() - begun)
    except HarnessError as error:
        return Problem.of(error)


def _compare(first: RunView, second: RunView) -> Report | Problem:
    try:
        return pair_report(first.reader, second.reader)
    except HarnessError as error:
        return Problem.of(error)
