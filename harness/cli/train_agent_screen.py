"""What `harness train agent` shows while it runs: updates done and left, the last update's numbers, dreams of the present one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from harness.types import JsonDict


class Screen:
    """A context manager: it owns the terminal while open, but for what happens inside `aside`."""

    def __init__(self, console: Console) -> None:
        self.console = console
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        self._bars = Progress(*columns, console=console)
        self._task = self._bars.add_task("updates", total=None, note="")
        self._dreams = 0

    def __enter__(self) -> Screen:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bars.stop()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Somebody else shows progress of their own."""
        self._bars.stop()
        try:
            yield
        finally:
            self._bars.start()

    def total(self, updates: int) -> None:
        self._bars.update(self._task, total=updates)

    def dreamt(self, _: Any) -> None:
        """One more dream of the present update has ended."""
        self._dreams += 1
        self._bars.update(self._task, note=f"{self._dreams} dreams of this update")

    def report(self, line: JsonDict) -> None:
        """A line of the log."""
        self._dreams = 0
        if "dev" in line:
            self.console.print(evaluated(line), markup=False, highlight=False)
        elif "update" in line:
            self._bars.update(self._task, completed=line["step"], note="")  # type: ignore[arg-type]
            self.console.print(updated(line), markup=False, highlight=False, soft_wrap=True)


def updated(line: JsonDict) -> str:
    """One line about an update; denominators beside."""
    reward: Any = line["reward"]
    groups: Any = line["groups"]
    update: Any = line["update"]
    parts = [f"update {line['step']}: dreams {line['rollouts']}, of which valid {reward['valid']}"]
    if reward["valid"]:
        parts.append(f"self-assessed reward {reward['dream']:.2f}")
    parts.append(f"groups used {groups['used']}, without signal {groups['dropped']}")
    if update:
        parts.append(f"loss {update['loss']:+.4f}, entropy {update['entropy']:.2f}, gradient {update['grad_norm']:.2g}")
    else:
        parts.append("nothing to learn from")
    return ", ".join(parts)


def evaluated(line: JsonDict) -> str:
    """One line about an evaluation."""
    dev: Any = line["dev"]
    if "success" not in dev:
        return f"update {line['step']}: no dev episode of {dev['planned']:.0f} could be scored"
    return (
        f"update {line['step']}: dev success {dev['success']:.1%} [{dev['low']:.1%}, {dev['high']:.1%}] of {dev['n']:.0f} "
        f"episodes in a real browser ({dev['planned']:.0f} planned)"
    )
