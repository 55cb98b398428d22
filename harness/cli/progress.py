"""Live progress of a run: done of planned, success so far with interval, errors, time left, what each worker does.

On a terminal a panel that redraws; elsewhere (CI, a log file) a plain line now and then.
"""

from __future__ import annotations

import time
from datetime import timedelta

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from harness.cli.prepare import Prepared
from harness.runner import RunState
from harness.types import Episode
from results.intervals import wilson

PLAIN_EVERY_SECONDS = 15.0


class ProgressDisplay:
    """A `harness.runner.state.Display`. Use as a context manager: it owns the screen while open."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        self._bar = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console)
        self._task = self._bar.add_task("episodes", total=None)
        self._last_line = time.monotonic()

    def __enter__(self) -> ProgressDisplay:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def update(self, state: RunState) -> None:
        if self._live:
            self._bar.update(self._task, total=state.total, completed=state.done)
            self._live.update(Group(self._bar, Text(summary_line(state)), _workers(state)))

    def finished(self, episode: Episode, state: RunState) -> None:
        now = time.monotonic()
        if self._live is None and (now - self._last_line >= PLAIN_EVERY_SECONDS or state.done == state.total):
            self._last_line = now
            self._console.print(f"{state.done}/{state.total}  {summary_line(state)}", markup=False, highlight=False)


def headline(prepared: Prepared, state: RunState) -> str:
    """What runs, how much of it is left, and where it lies."""
    machine = prepared.manifest.environments[-1]
    resumed = f", {state.done} done before" if state.done else ""
    return (
        f"{prepared.config.run.benchmark}: {len(prepared.tasks)} tasks, {state.total - state.done} episodes to play{resumed}, "
        f"policy {prepared.manifest.policy}, workers: {prepared.workers}, {machine.browser} {machine.browser_version}\n"
        f"{prepared.directory}"
    )


def summary_line(state: RunState) -> str:
    """One line of counts; the interval is Wilson's over the scored episodes of this sitting."""
    counts = state.statuses
    scored = counts["success"] + counts["failure"]
    parts = []
    if scored:
        low, high = wilson(counts["success"], scored)
        parts.append(f"success {counts['success']}/{scored} = {counts['success'] / scored:.1%} [{low:.1%}, {high:.1%}]")
    parts += [f"{name} {counts[name]}" for name in ("error", "blocked", "inconclusive") if counts[name]]
    if state.retried:
        parts.append(f"retried {state.retried}")
    if state.cost_usd:
        parts.append(f"${state.cost_usd:.2f}")
    if state.down_sites:
        parts.append("down: " + ", ".join(state.down_sites))
    if state.stopping:
        parts.append("stopping …")
    elif (eta := state.eta_seconds) is not None and state.done < state.total:
        parts.append(f"about {timedelta(seconds=round(eta))} left")
    return "   ".join(parts)


def _workers(state: RunState) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    for worker, current in sorted(state.current.items()):
        table.add_row(Text(worker, "dim"), Text(current.spec.task.task_id), Text(f"{current.phase} {current.step}", "dim"))
    return table
