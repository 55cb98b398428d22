"""The smaller tables of a run's report: each is left out where it would have nothing to say."""

from __future__ import annotations

from collections.abc import Sequence

from results import aggregate as agg
from results.index import EpisodeRow
from results.manifest import RunManifest, flat
from results.tables import Table, columns, facts


def share_table(name: str, title: str, label: str, unit: str, shares: Sequence[agg.Share]) -> list[Table]:
    """Counts as shares of their stated unit; nothing where there is nothing to count."""
    if not any(share.count for share in shares):
        return []
    cols = columns(label, (unit, "int"), (f"of all {unit}", "percent"), ("episodes concerned", "int"))
    rows = tuple((s.name, s.count, s.value, s.episodes) for s in shares)
    return [Table(name, title, cols, rows, (f"{shares[0].of:,} {unit} in all.",))]


def faults_table(rows: Sequence[EpisodeRow]) -> list[Table]:
    """Episodes that say nothing about the agent, by what broke."""
    found = agg.faults(rows)
    cols = columns("status", "boundary", "kind", ("episodes", "int"), "for example")
    return [Table("faults", "Episodes without a score", cols, tuple(found))] if found else []


def model_use(rows: Sequence[EpisodeRow]) -> Table:
    """Requests, tokens and money."""
    both = (("policy", agg.agent_spending(rows)), ("judge", agg.judge_spending(rows)))
    notes = [
        f"{name}: the cost covers {use.priced} of {use.used} episodes; the others have no price configured."
        for name, use in both
        if 0 < use.priced < use.used
    ]
    return Table(
        "model_use",
        "Model use",
        columns(
            "by",
            ("requests", "int"),
            ("prompt tokens", "int"),
            ("of them cached", "int"),
            ("completion tokens", "int"),
            ("cost", "usd"),
            ("cost per episode", "usd"),
        ),
        tuple(
            (
                name,
                use.requests,
                use.prompt_tokens,
                use.cached_tokens,
                use.completion_tokens,
                "unknown" if use.cost_usd is None else use.cost_usd,
                "unknown" if use.cost_usd is None else (use.cost_usd / use.priced if use.priced else None),
            )
            for name, use in both
        ),
        tuple(notes),
    )


def time_table(rows: Sequence[EpisodeRow]) -> Table:
    """Steps and seconds per finished episode."""
    pace = agg.pace(rows)
    phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in pace.phases.items() if seconds)
    return Table(
        "time",
        "Steps and time per finished episode",
        columns(
            ("episodes", "int"),
            ("steps", "int"),
            ("mean steps", "number"),
            ("median steps", "number"),
            ("median", "seconds"),
            ("longest", "seconds"),
            ("sum over workers", "seconds"),
        ),
        (
            (
                pace.episodes,
                pace.steps,
                pace.mean_steps,
                pace.median_steps,
                pace.median_seconds,
                pace.max_seconds,
                pace.total_seconds,
            ),
        ),
        (f"Mean seconds per step: {phases}.",) if phases else (),
    )


def shared_state(manifest: RunManifest, rows: Sequence[EpisodeRow]) -> list[Table]:
    """Where episodes share a site, what one left behind may have changed the next."""
    if not manifest.instances or not rows:
        return []
    epochs = [row.reset_epoch for row in rows]
    return [
        facts(
            "shared_state",
            "State that episodes share",
            [
                ("site instance sets", str(manifest.instances)),
                ("side by side on one instance", "yes" if manifest.parallel_on_one_instance else "no"),
                ("reset epochs", f"{min(epochs)} to {max(epochs)}"),
                ("finished out of planned order", f"{agg.order_inversions(rows)} of {len(rows)} episodes"),
            ],
        )
    ]


def excluded(manifest: RunManifest) -> list[Table]:
    """Tasks that were never planned, by rule."""
    if not manifest.excluded:
        return []
    rows = tuple((task.task_id, task.rule, task.reason) for task in manifest.excluded)
    note = "Not in any denominator."
    return [Table("excluded", "Excluded tasks", columns("task", "rule", "reason"), rows, (note,))]


def settings(manifest: RunManifest) -> list[Table]:
    """Every setting that shaped the numbers, as stored."""
    pairs = [(name, None if value is None else str(value)) for name, value in flat(manifest.config)]
    return [facts("settings", "Settings", pairs)] if pairs else []


def unreadable_table(unreadable: dict[str, str]) -> list[Table]:
    """Stored files that could not be read."""
    if not unreadable:
        return []
    note = "They count as missing, not as failures. Resume the run to play them again."
    cols = columns("episode", "why")
    return [Table("unreadable", "Unreadable episode files", cols, tuple(unreadable.items()), (note,))]
