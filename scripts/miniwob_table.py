"""Write docs/miniwob.md: what each policy scores on each MiniWoB++ task, with intervals.

    python scripts/miniwob_table.py HEURISTIC_RUN CLICKABLE_RUN RANDOM_RUN

The runs are made with configs/miniwob-table.toml (the page says how). Numbers come from results/, this only lays them out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from harness.benchmarks.miniwob import task_notes
from results import aggregate as agg
from results.compare import paired
from results.intervals import Interval
from results.outcomes import Outcome, group_by, outcomes_of
from results.reader import RunReader

TARGET = Path(__file__).parent.parent / "docs" / "miniwob.md"

TEXT = """# MiniWoB++: what the built-in policies score

{tasks} tasks × {repeats} seeds ({first} to {last}; the random policy only the first). The heuristic's rules were written while
looking at seeds 0–3 and 11, not at these. Commit {commit}, {browser}, {machine}.

```console
$ harness run --config configs/miniwob-table.toml --run-dir runs/heuristic
$ harness run --config configs/miniwob-table-clickable.toml --run-dir runs/clickable
$ harness run --config configs/miniwob-table.toml --policy random --seeds 1 --run-dir runs/random
$ python scripts/miniwob_table.py runs/heuristic runs/clickable runs/random
```

| policy | success | 95% interval | n | BrowserGym's own verdict |
| --- | ---: | --- | ---: | ---: |
{policies}

Intervals: bootstrap over tasks (the seeds of a task are not independent). "Clickable" is the heuristic with
`[browser] clickable = true`, which gives elements that have a click handler but no role a line of their own; the difference is
{difference} points {difference_interval} over {pairs} pairs.
BrowserGym's verdict differs where a page pays partial credit: it calls any raw reward above 0 a success; we use the thresholds
below. Some successes are luck: where the goal is hidden in a picture, a rule that clicks something is right now and then
(`count-shape`, `drag-cube`, `drag-shapes`, `navigate-tree`).

| task | heuristic | 95% interval | clickable | random | mean raw reward | threshold |
| --- | ---: | --- | ---: | ---: | ---: | ---: |
{rows}

## Thresholds and notes

| task | threshold | why |
| --- | ---: | --- |
{notes}
"""


def main(paths: Sequence[Path]) -> None:
    runs = [RunReader.open(path) for path in paths]
    heuristic, clickable, random = (outcomes_of(run) for run in runs)
    manifest = runs[0].manifest
    machine = manifest.environments[-1]
    difference = paired(heuristic, clickable)
    by_task = [group_by(outcomes, lambda o: o.task_id) for outcomes in (heuristic, clickable, random)]
    TARGET.write_text(
        TEXT.format(
            tasks=manifest.tasks,
            repeats=manifest.repeats,
            first=manifest.base_seed,
            last=manifest.base_seed + manifest.repeats - 1,
            commit=(machine.commit or "unknown")[:12] + (" (modified)" if machine.dirty else ""),
            browser=f"{machine.browser} {machine.browser_version}",
            machine=f"{machine.cpu}, {machine.cores} cores",
            policies="\n".join(
                _policy_row(name, outcomes)
                for name, outcomes in (("heuristic", heuristic), ("heuristic, clickable", clickable), ("random", random))
            ),
            difference=f"{100 * (difference.difference or 0):+.1f}",
            difference_interval=_interval(difference.interval),
            pairs=difference.pairs,
            rows="\n".join(_task_row(task, *(groups[task] for groups in by_task)) for task in by_task[0]),
            notes="\n".join(
                f"| {task} | {note.get('threshold', 0.0)} | {note['reason']} |" for task, note in task_notes().items()
            ),
        ),
        encoding="utf-8",
    )
    print(TARGET)


def _policy_row(name: str, outcomes: Sequence[Outcome]) -> str:
    rate = agg.rate_of_planned(outcomes)
    stock = agg.profile_rate(outcomes, "browsergym")
    return f"| {name} | {_percent(rate.value)} | {_interval(rate.interval)} | {len(outcomes)} | {_percent(stock.value)} |"


def _task_row(task: str, heuristic: Sequence[Outcome], clickable: Sequence[Outcome], random: Sequence[Outcome]) -> str:
    rate = agg.rate_of_planned(heuristic)
    raw, threshold = agg.mean_raw_reward(heuristic), agg.threshold(heuristic)
    return (
        f"| {task} | {_of(heuristic)} | {_interval(rate.interval)} | {_of(clickable)} | {_of(random)} | {raw:.2f} | {threshold} |"
    )


def _of(outcomes: Sequence[Outcome]) -> str:
    return f"{sum(o.state == 'success' for o in outcomes)}/{len(outcomes)}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}%"


def _interval(interval: Interval | None) -> str:
    return "–" if interval is None else f"[{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:4]])
