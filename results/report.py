"""The report on one run: what ran, what came of it, and what must be known before a number is quoted.

    header · results by site, evaluator, template · floors · windows · faults · action errors · stops
    · pages (slow, cut) · model use · time · shared state · excluded tasks · unreadable files

Computes nothing itself: numbers come from `results.aggregate` and `results.compare`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.types import Exclusion
from results import aggregate as agg
from results import sections
from results.caveats import run_warnings
from results.compare import BLOCKED_TWICE, WindowComparison, windows
from results.intervals import Rate
from results.manifest import Environment, RunManifest
from results.outcomes import Outcome, group_by, outcomes_of
from results.reader import RunReader
from results.tables import Cell, Column, Report, Table, columns, facts, written

PLANNED_NOTE = (
    "of planned: successes / planned episodes (tasks × windows × repeats); errors, blocked, inconclusive and missing "
    "episodes count as not successful. of scored: successes / (success + failure)."
)
INTERVAL_NOTE = (
    "95% intervals: Wilson where each template has one episode; else bootstrap over templates, or Wilson on the "
    "effective n where templates are few or all outcomes are equal."
)


def run_report(run: RunReader) -> Report:
    """Everything about one run."""
    outcomes = outcomes_of(run)
    rows = [outcome.row for outcome in outcomes if outcome.row]
    unreadable = run.unreadable()
    manifest = run.manifest
    tables = [
        header(manifest, outcomes),
        sites(outcomes, manifest.excluded),
        *floors(outcomes),
        *_evaluators(outcomes),
        *windows_tables(outcomes),
        *templates(outcomes),
        *profile_tables(outcomes),
        *sections.faults_table(rows),
        *sections.share_table("action_errors", "Action errors", "kind", "steps", agg.action_errors(rows)),
        *sections.share_table("step_flags", "Steps that went wrong or were cut", "what", "steps", agg.step_flags(rows)),
        *sections.share_table("stops", "Why episodes ended", "stop reason", "episodes", agg.stop_reasons(rows)),
        sections.model_use(rows),
        sections.time_table(rows),
        *sections.shared_state(manifest, rows),
        *sections.excluded(manifest),
        *sections.settings(manifest),
        *sections.unreadable_table(unreadable),
    ]
    attempts = max((row.attempt + 1 for row in run.rows()), default=0)
    return Report(
        title=f"{manifest.benchmark}: run {manifest.run_id}",
        summary=summary(outcomes),
        warnings=tuple(run_warnings(manifest, outcomes, len(unreadable), attempts)),
        tables=tuple(tables),
    )


def summary(outcomes: Sequence[Outcome]) -> str:
    """The primary rate in one sentence."""
    planned, scored = agg.rate_of_planned(outcomes), agg.rate_of_scored(outcomes)
    if planned.value is None or planned.interval is None:
        return "Nothing was planned."
    low, high = planned.interval
    of_scored = f"{written(scored.value, 'percent')} of {scored.n:,} scored" if scored.n else "none was scored"
    return (
        f"Success {written(planned.value, 'percent')} of {planned.n:,} planned episodes "
        f"(95% interval {100 * low:.1f} to {100 * high:.1f}); {of_scored}."
    )


def header(manifest: RunManifest, outcomes: Sequence[Outcome]) -> Table:
    """What ran. Facts that were not recorded are dashes."""
    env = manifest.environments[0] if manifest.environments else None
    counts = agg.count(outcomes)
    dirty = {True: " (modified)", False: "", None: ""}[env.dirty if env else None]
    viewport = "×".join(map(str, manifest.viewport)) if manifest.viewport else None
    judge = f"{manifest.judge} (prompt {manifest.judge_prompt_hash[:12]})" if manifest.judge else None
    return facts(
        "run",
        "Run",
        [
            ("benchmark", manifest.benchmark),
            ("options", ", ".join(f"{k}={v}" for k, v in sorted(manifest.benchmark_options.items())) or None),
            ("task set", f"{manifest.task_set_hash[:16]} ({manifest.tasks} tasks, {len(manifest.excluded)} excluded)"),
            (
                "planned",
                f"{_n(manifest.planned, 'episode')} = {_n(manifest.tasks, 'task')} × {_n(len(manifest.windows), 'window')} × "
                f"{_n(manifest.repeats, 'repeat')}; {counts.planned - counts['missing']} finished",
            ),
            ("policy", f"{manifest.policy} {manifest.policy_version}".strip()),
            ("judge", judge),
            ("seed", str(manifest.base_seed)),
            ("browser", _browser(env) if env else None),
            ("viewport", ", ".join(x for x in (viewport, manifest.locale, manifest.timezone) if x) or None),
            ("commit", f"{env.commit[:12]}{dirty}" if env and env.commit else None),
            ("machine", _machine(env) if env else None),
            ("started", manifest.created_at),
        ],
    )


def _n(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _browser(env: Environment) -> str:
    known = env.browser_version in env.browser
    return env.browser if known else f"{env.browser} {env.browser_version}"


def _machine(env: Environment) -> str:
    ram = f"{env.ram_gib:g} GiB" if env.ram_gib else ""
    cores = f"{env.cores} cores" if env.cores else ""
    return ", ".join(x for x in (env.cpu, cores, ram, f"Python {env.python}") if x)


def results_table(
    name: str,
    title: str,
    label: str,
    outcomes: Sequence[Outcome],
    key: Callable[[Outcome], str],
    notes: Sequence[str] = (),
) -> Table:
    """The main table: counts by state, both rates with intervals, raw reward and other scores where they exist."""
    extra = _extra_columns(outcomes)
    groups = group_by(outcomes, key)
    rows = [_result_row(group, members, extra) for group, members in groups.items()]
    if len(groups) > 1:
        rows.append(_result_row("all", outcomes, extra))
    cols = columns(
        label,
        ("planned", "int"),
        ("success", "int"),
        ("failure", "int"),
        ("error", "int"),
        ("blocked", "int"),
        ("inconclusive", "int"),
        ("missing", "int"),
        ("of planned", "percent"),
        ("95% interval", "interval"),
        ("of scored", "percent"),
        ("n scored", "int"),
    )
    return Table(name, title, (*cols, *(column for column, _ in extra)), tuple(rows), tuple(notes), total=len(groups) > 1)


def sites(outcomes: Sequence[Outcome], excluded: Sequence[Exclusion] = ()) -> Table:
    """The main table, with how to read it, and with the tasks that were left out before the run."""
    whole = agg.rate_of_planned(outcomes)
    deff = f", design effect {whole.design_effect:.2f}" if whole.design_effect is not None else ""
    notes = (PLANNED_NOTE, INTERVAL_NOTE, f"{whole.n:,} episodes in {whole.clusters:,} templates{deff}.")
    table = results_table("sites", "Results by site", "site", outcomes, lambda o: o.site, notes)
    left_out = Counter(task.site for task in excluded)
    counts = [left_out[str(row[0])] for row in table.rows]
    if table.total:
        counts[-1] = len(excluded)
    elsewhere = [(site or "(no site)", n) for site, n in sorted(left_out.items()) if site not in {row[0] for row in table.rows}]
    rows = [(*row, n) for row, n in zip(table.rows, counts, strict=True)]
    blank: tuple[Cell, ...] = (None,) * (len(table.columns) - 1)
    extra = [(site, *blank, n) for site, n in elsewhere]
    at = len(rows) - 1 if table.total else len(rows)
    return replace(table, columns=(*table.columns, Column("excluded tasks", "int")), rows=(*rows[:at], *extra, *rows[at:]))


Extra = tuple[Column, Callable[[Sequence[Outcome]], Cell]]


def _extra_columns(outcomes: Sequence[Outcome]) -> list[Extra]:
    extra: list[Extra] = []
    if agg.mean_raw_reward(outcomes) is not None:
        extra.append((Column("raw reward", "number"), agg.mean_raw_reward))
    if any(o.row and o.row.threshold is not None for o in outcomes):
        extra.append((Column("threshold", "number"), agg.threshold))
    for profile in agg.profiles(outcomes):
        extra.append((Column(f"{profile}: of planned", "percent"), _profile_cell(profile)))
    return extra


def _profile_cell(profile: str) -> Callable[[Sequence[Outcome]], Cell]:
    return lambda outcomes: agg.profile_rate(outcomes, profile).value


def _result_row(name: str, outcomes: Sequence[Outcome], extra: Sequence[Extra]) -> tuple[Cell, ...]:
    counts, planned, scored = agg.count(outcomes), agg.rate_of_planned(outcomes), agg.rate_of_scored(outcomes)
    return (
        name,
        counts.planned,
        *counts.by_state.values(),
        planned.value,
        planned.interval,
        scored.value,
        scored.n,
        *(cell(outcomes) for _, cell in extra),
    )


def _evaluators(outcomes: Sequence[Outcome]) -> list[Table]:
    if len({o.evaluator for o in outcomes}) < 2:
        return []
    return [results_table("evaluators", "Results by evaluator", "evaluator", outcomes, lambda o: o.evaluator)]


def templates(outcomes: Sequence[Outcome]) -> list[Table]:
    """One row per template (a task without one is its own)."""
    if len({o.cluster for o in outcomes}) < 2:
        return []
    return [results_table("templates", "Results by template", "template", outcomes, lambda o: o.cluster)]


def floors(outcomes: Sequence[Outcome]) -> list[Table]:
    """Rates that need no agent, where the benchmark has unachievable tasks."""
    floor, n = agg.floor_unachievable(outcomes), sum(o.unachievable for o in outcomes)
    if not n:
        return []
    row = ("always answer that it cannot be done (N/A)", n, len(outcomes), floor)
    return [
        Table(
            "floors",
            "Floors",
            columns("policy", ("successes", "int"), ("planned", "int"), ("of planned", "percent")),
            (row,),
        )
    ]


def windows_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """The first window against each later one; nothing for a single window."""
    by_window = group_by(outcomes, lambda o: o.window)
    names = list(by_window)
    return [window_table(names[0], other, windows(by_window[names[0]], by_window[other])) for other in names[1:]]


def window_table(first: str, second: str, result: WindowComparison) -> Table:
    """Two windows: both raw rates, mean, gap, flips; then the same without the tasks that one rule leaves out."""

    def row(label: str, a: Rate, b: Rate, mean: float | None) -> tuple[Cell, ...]:
        return (label, a.n, a.value, a.interval, b.value, b.interval, mean)

    notes = [
        f"{result.tasks} tasks planned in both windows. Intervals over tasks.",
        f"Exclusion only by the rule “{BLOCKED_TWICE}”: {len(result.excluded)} tasks.",
        *(f"excluded {task_id}: {reason}" for task_id, reason in result.excluded),
    ]
    gap = "–" if result.gap is None else f"{100 * result.gap:+.1f} points"
    if result.gap_interval:
        gap += f" [{100 * result.gap_interval.low:+.1f}, {100 * result.gap_interval.high:+.1f}]"
    flips = "–" if result.flip_rate is None else f"{100 * result.flip_rate:.1f}%"
    notes.insert(0, f"Gap {second} − {first}: {gap}. Flip rate: {flips} ({result.flips} of {result.pairs} scored pairs).")
    return Table(
        f"windows {first} {second}",
        f"Windows {first} and {second}",
        columns(
            "tasks",
            ("planned each", "int"),
            (f"{first} of planned", "percent"),
            (f"{first} 95% interval", "interval"),
            (f"{second} of planned", "percent"),
            (f"{second} 95% interval", "interval"),
            ("mean", "percent"),
        ),
        (
            row("all", result.first, result.second, result.mean),
            row("without excluded", result.first_kept, result.second_kept, result.mean_kept),
        ),
        tuple(notes),
    )


def profile_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """How each other scorer's verdicts relate to the main ones."""
    cols = columns("main status", "other status", ("episodes", "int"))
    return [
        Table(
            f"profile {profile}",
            f"Main scores against {profile}",
            cols,
            tuple((main, other, n) for (main, other), n in sorted(agg.profile_statuses(outcomes, profile).items())),
        )
        for profile in agg.profiles(outcomes)
    ]
