"""What throughput.py found, as Markdown tables with intervals."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence

from contenders import CONTENDERS, Round
from memory import Memory
from scripted import Script

from harness.envs.chromium import Chromium
from results.environment import collect_environment
from results.intervals import Interval, cluster_bootstrap

STOCK, STOCK_FAST, STOCK_FULL, BARE, OURS, ONE_WORKER, TWO_WORKERS = CONTENDERS
# faster, slower, goal
RATIOS = (
    (OURS, STOCK, "≥ 3.5"),
    (OURS, STOCK_FAST, ""),
    (OURS, STOCK_FULL, ""),
    (OURS, BARE, "≥ 0.8"),
    (ONE_WORKER, STOCK, ""),
    (ONE_WORKER, OURS, ""),
    (TWO_WORKERS, STOCK, ""),
)
MEMORY_GOALS = {OURS: "≤ 0.5", ONE_WORKER: "≤ 0.5"}
Rounds = dict[str, list[Round]]


def report(
    times: Rounds,
    memory: dict[str, Memory],
    scripts: dict[int, list[Script]],
    tasks: Sequence[str],
    chromium: Chromium,
    load: float,
) -> str:
    """Everything, ready to be quoted."""
    rounds = len(scripts) - 1
    steps = sum(len(script.actions) for seed in range(1, rounds + 1) for script in scripts[seed])
    parts = [_about(chromium, rounds, tasks, steps, load), _speed(times, len(tasks)), _ratios(times)]
    if memory:
        parts.append(_memory(memory))
    parts.append(_remarks(times))
    return "\n\n".join("\n".join(part) for part in parts)


def _speed(found: Rounds, episodes: int) -> Iterator[str]:
    yield "| contender | episodes/s | s per reset: median, mean | s per step: median, mean |"
    yield "| --- | --- | --- | --- |"
    for name, rounds in found.items():
        seconds = [r.seconds for r in rounds]
        rate = _with_interval(episodes * len(rounds) / sum(seconds), _ratio_interval([episodes] * len(rounds), seconds))
        yield f"| {name} | {rate} | {_median_mean(rounds, lambda r: r.resets)} | {_median_mean(rounds, lambda r: r.steps)} |"


def _ratios(found: Rounds) -> Iterator[str]:
    yield "| episodes/s | ratio | goal |"
    yield "| --- | --- | --- |"
    for faster, slower, goal in RATIOS:
        if faster in found and slower in found:
            ours, theirs = ([r.seconds for r in found[name]] for name in (faster, slower))
            yield f"| {faster} / {slower} | {_with_interval(sum(theirs) / sum(ours), _ratio_interval(theirs, ours))} | {goal} |"


def _memory(found: dict[str, Memory]) -> Iterator[str]:
    yield "| peak PSS per worker | MiB | processes | / stock | goal |"
    yield "| --- | --- | --- | --- | --- |"
    for name, memory in found.items():
        ratio = f"{memory.peak / found[STOCK].peak:.2f}" if STOCK in found else ""
        yield f"| {name} | {memory.peak / 2**20:.0f} | {memory.processes} | {ratio} | {MEMORY_GOALS.get(name, '')} |"


def _median_mean(rounds: list[Round], of: Callable[[Round], tuple[float, ...]]) -> str:
    values = [value for r in rounds for value in of(r)]
    if not values:
        return "–"
    interval = _ratio_interval([sum(of(r)) for r in rounds], [len(of(r)) for r in rounds])
    return f"{statistics.median(values):.3f}, {_with_interval(statistics.mean(values), interval, digits=3)}"


def _ratio_interval(numerator: Sequence[float], denominator: Sequence[float]) -> Interval | None:
    return cluster_bootstrap(numerator, denominator, [str(number) for number in range(len(numerator))])


def _with_interval(value: float, interval: Interval | None, digits: int = 2) -> str:
    assert interval is not None
    return f"{value:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


def _about(chromium: Chromium, rounds: int, tasks: Sequence[str], steps: int, load: float) -> Iterator[str]:
    machine = collect_environment(browser=chromium.name, browser_version=chromium.version)
    commit = f"{(machine.commit or 'unknown')[:12]}{' with changes' if machine.dirty else ''}"
    versions = ", ".join(f"{name} {machine.packages[name]}" for name in ("browsergym-core", "playwright"))
    yield f"commit {commit}; {machine.cpu}, {machine.cores} cores, {machine.ram_gib:g} GiB; {machine.system}"
    yield f"{chromium.name}; Python {machine.python}; {versions}; load average before: {load:.1f}"
    yield f"n: {rounds} rounds × {len(tasks)} tasks ({', '.join(tasks)}), {steps / len(tasks) / rounds:.1f} steps per episode"


def _remarks(found: Rounds) -> Iterator[str]:
    for name, rounds in found.items():
        if deviations := sum(r.deviations for r in rounds):
            yield f"{name}: {deviations} episodes failed or ended otherwise than rehearsed."
        if any(r.start_and_stop for r in rounds):
            mean = statistics.mean(r.start_and_stop for r in rounds)
            yield f"{name}: starting, the first episode and stopping took {mean:.1f} s per run, not counted above."
