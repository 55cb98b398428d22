"""The report on two runs: a paired comparison, or, where they share no window, two windows of one benchmark.

    runs that share a window   both / A only / B only / neither · McNemar · difference · per-task differences
    runs that share none       windows: both rates, mean, gap, flip rate

Runs over different task sets are compared over what both planned, and the report says how much that is.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.errors import UsageError
from results.aggregate import count, rate_of_planned, rate_of_scored
from results.caveats import pair_warnings, run_warnings
from results.compare import Comparison, WindowComparison, paired, windows
from results.manifest import RunManifest, flat
from results.outcomes import Outcome, outcomes_of
from results.reader import RunReader
from results.report import PLANNED_NOTE, header, window_table
from results.tables import Cell, Report, Table, columns, written


def pair_report(first: RunReader, second: RunReader) -> Report:
    """Compare two runs. Raises `UsageError` if no task was planned in both."""
    a, b = outcomes_of(first), outcomes_of(second)
    if not {o.task_id for o in a} & {o.task_id for o in b}:
        raise UsageError(f"{first.manifest.run_id} and {second.manifest.run_id} have no task in common", fix="compare other runs")
    if {o.window for o in a} & {o.window for o in b}:
        result = paired(a, b)
        summary, body = _summary(result), _paired_tables(result)
    else:
        by_window = windows(a, b)
        summary, body = _windows_summary(by_window), [_windows(a, b, by_window)]
    warnings = [*pair_warnings(first.manifest, second.manifest)]
    for name, run, outcomes in (("A", first, a), ("B", second, b)):
        attempts = max((row.attempt + 1 for row in run.rows()), default=0)
        warnings += [f"{name}: {w}" for w in run_warnings(run.manifest, outcomes, len(run.unreadable()), attempts)]
    return Report(
        title=f"A = {first.manifest.run_id}, B = {second.manifest.run_id}",
        summary=summary,
        warnings=tuple(warnings),
        tables=(_headers(first, second, a, b), _sides(a, b), *body, *_config_differences(first.manifest, second.manifest)),
    )


def _headers(first: RunReader, second: RunReader, a: Sequence[Outcome], b: Sequence[Outcome]) -> Table:
    left, right = header(first.manifest, a), header(second.manifest, b)
    rows = tuple((x[0], x[1], y[1]) for x, y in zip(left.rows, right.rows, strict=True))
    return Table("runs", "Runs", columns("what", "A", "B"), rows)


def _sides(a: Sequence[Outcome], b: Sequence[Outcome]) -> Table:
    def row(name: str, outcomes: Sequence[Outcome]) -> tuple[Cell, ...]:
        planned, scored = rate_of_planned(outcomes), rate_of_scored(outcomes)
        return (name, *count(outcomes).by_state.values(), planned.n, planned.value, planned.interval, scored.value, scored.n)

    cols = columns(
        "run",
        ("success", "int"),
        ("failure", "int"),
        ("error", "int"),
        ("blocked", "int"),
        ("inconclusive", "int"),
        ("missing", "int"),
        ("planned", "int"),
        ("of planned", "percent"),
        ("95% interval", "interval"),
        ("of scored", "percent"),
        ("n scored", "int"),
    )
    return Table("sides", "Each run by itself", cols, (row("A", a), row("B", b)), (PLANNED_NOTE,))


def _paired_tables(result: Comparison) -> list[Table]:
    n = result.pairs
    share = (lambda k: k / n) if n else (lambda _: None)
    cells = (
        ("both succeed", result.both),
        ("only A", result.first_only),
        ("only B", result.second_only),
        ("neither", result.neither),
    )
    tables = [
        Table(
            "paired",
            "Paired comparison",
            columns("outcome", ("pairs", "int"), ("of scored pairs", "percent")),
            tuple((name, k, share(k)) for name, k in cells),
            (
                f"{result.planned:,} episodes planned in both runs (joined on task, window, repeat), {n:,} scored in "
                f"both; planned only in A: {result.only_first_planned:,}, only in B: {result.only_second_planned:,}.",
            ),
        ),
        Table(
            "difference",
            "Difference B − A over scored pairs",
            columns(
                ("A", "percent"),
                ("B", "percent"),
                ("B − A, points", "points"),
                ("95% interval", "points interval"),
                ("McNemar p", "p"),
                ("pairs", "int"),
                ("templates", "int"),
            ),
            (
                (
                    result.first_rate,
                    result.second_rate,
                    result.difference,
                    result.interval,
                    result.p_value,
                    n,
                    result.clusters,
                ),
            ),
            (
                "Interval: bootstrap over templates; below 30 of them Student's t over them. McNemar's exact test takes pairs as "
                "independent: where templates hold several, trust the interval.",
            ),
        ),
    ]
    if result.not_scored:
        rows = tuple((a, b, k) for (a, b), k in sorted(result.not_scored.items(), key=lambda item: (-item[1], item[0])))
        tables.append(Table("not_scored", "Pairs in no test", columns("A", "B", ("pairs", "int")), rows))
    if result.differing:
        diffs = tuple((d.task_id, d.site, d.pairs, d.first, d.second, d.difference) for d in result.differing)
        cols = columns(
            "task", "site", ("pairs", "int"), ("A successes", "int"), ("B successes", "int"), ("B − A, points", "points")
        )
        tables.append(Table("task_differences", "Tasks whose success differs", cols, diffs))
    return tables


def _summary(result: Comparison) -> str:
    if result.difference is None:
        return "No episode was scored in both runs."
    interval = f" {written(result.interval, 'points interval')}" if result.interval else ""
    return (
        f"B − A = {written(result.difference, 'points')} points{interval} over {result.pairs:,} pairs scored in both; "
        f"McNemar p {'' if (result.p_value or 0) < 0.001 else '= '}{written(result.p_value, 'p')}."
    )


def _windows_summary(result: WindowComparison) -> str:
    return (
        f"Mean of the two windows {written(result.mean, 'percent')} over {result.tasks:,} tasks; "
        f"flip rate {written(result.flip_rate, 'percent')}."
    )


def _windows(a: Sequence[Outcome], b: Sequence[Outcome], result: WindowComparison) -> Table:
    first, second = ("+".join(sorted({o.window for o in side})) for side in (a, b))
    return window_table(first, second, result)


def _config_differences(first: RunManifest, second: RunManifest) -> list[Table]:
    a, b = dict(flat(first.config)), dict(flat(second.config))
    rows = tuple(
        (name, _text(a.get(name)), _text(b.get(name))) for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)
    )
    return [Table("config", "Settings that differ", columns("setting", "A", "B"), rows)] if rows else []


def _text(value: object) -> str | None:
    return None if value is None else str(value)
