"""`harness run --dry-run`: what would run, in which order, how long it may take and what it may cost."""

from __future__ import annotations

import statistics
from collections import Counter
from datetime import timedelta

from rich.console import Console

from harness.cli.prepare import RUNS, Prepared
from harness.errors import UsageError
from harness.runner.plan import parallelism_bound
from results.index import EpisodeRow
from results.reader import RunReader

GUESSED_EPISODE_SECONDS = 60.0
"""Used only while no earlier run of the benchmark lies in runs/; the output says which of the two it is."""
SHOWN_TASKS = 12


def print_plan(console: Console, prepared: Prepared) -> None:
    """Counts, order, bound on parallelism, estimates. Nothing is written and no browser starts."""
    plan = prepared.plan
    bound = parallelism_bound(plan, ordered=prepared.benchmark.instances() > 0)
    workers = min(prepared.workers, bound)
    sites = Counter(spec.task.site for spec in plan)
    needs = Counter(need for spec in plan for need in spec.task.evaluator.needs)
    machine = prepared.manifest.environments[-1]
    seconds, basis = _estimate(prepared)
    lines = [
        f"{prepared.config.run.benchmark}: {len(prepared.tasks)} tasks, {len(plan)} episodes",
        f"task set    {prepared.manifest.task_set_hash[:16]}",
        f"policy      {prepared.config.policy.name}",
        f"browser     {machine.browser} {machine.browser_version}",
        f"sites       {', '.join(f'{site} {count}' for site, count in sorted(sites.items()))}",
        f"scoring     {', '.join(f'{need} {count}' for need, count in sorted(needs.items())) or 'nothing beyond the page'}",
        f"excluded    {len(prepared.manifest.excluded)} tasks",
        f"workers     {prepared.workers} (dependencies allow {bound:.1f} at most)",
        f"time        about {timedelta(seconds=round(seconds * len(plan) / workers))} ({basis})",
        f"cost        {_cost(prepared)}",
        f"directory   {prepared.directory}{' (exists: would be resumed)' if prepared.directory.exists() else ''}",
        f"order       {' '.join(spec.task.task_id for spec in plan[:SHOWN_TASKS])}{' …' if len(plan) > SHOWN_TASKS else ''}",
    ]
    console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _earlier_rows(prepared: Prepared, *, same_policy: bool) -> list[EpisodeRow]:
    """Episodes of earlier runs of this benchmark (and policy)."""
    rows: list[EpisodeRow] = []
    for manifest in sorted(RUNS.glob("*/manifest.json")):
        try:
            run = RunReader.open(manifest.parent)
        except UsageError:
            continue
        if run.manifest.benchmark != prepared.config.run.benchmark:
            continue
        if same_policy and run.manifest.config.get("policy") != prepared.manifest.config["policy"]:
            continue
        rows.extend(run.latest().values())
    return rows


def _estimate(prepared: Prepared) -> tuple[float, str]:
    """(seconds per episode, where the figure comes from)."""
    rows = _earlier_rows(prepared, same_policy=True) or _earlier_rows(prepared, same_policy=False)
    if not rows:
        return GUESSED_EPISODE_SECONDS, f"a guess of {GUESSED_EPISODE_SECONDS:g} s per episode: no earlier run to learn from"
    mean = statistics.fmean(row.seconds for row in rows)
    return mean, f"{mean:.1f} s per episode in {len(rows)} earlier episodes"


def _cost(prepared: Prepared) -> str:
    if prepared.config.policy.llm is None and prepared.config.judge is None:
        return "none: no model is called"
    rows = _earlier_rows(prepared, same_policy=True)
    costs = [row.agent_cost_usd + (row.judge_cost_usd or 0.0) for row in rows if row.agent_cost_usd is not None]
    if not costs:
        return "unknown: no earlier run of this policy with prices configured"
    mean = statistics.fmean(costs)
    return f"about ${mean * len(prepared.plan):.2f} (${mean:.4f} per episode in {len(costs)} earlier episodes)"
