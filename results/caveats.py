"""What a reader must know before quoting a run's numbers, or before comparing two runs. One sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from results.aggregate import count
from results.manifest import Environment, RunManifest
from results.outcomes import Outcome


def run_warnings(manifest: RunManifest, outcomes: Sequence[Outcome], unreadable: int = 0, attempts: int = 1) -> Iterator[str]:
    """Reasons for care with one run. `attempts`: the most that any episode took."""
    counts = count(outcomes)
    if counts["missing"]:
        done = counts.planned - counts["missing"]
        yield f"The run is not finished: {done} of {counts.planned} planned episodes."
    if unreadable:
        yield f"{unreadable} episode files cannot be read; they count as missing."
    unscored = counts["error"] + counts["blocked"] + counts["inconclusive"]
    if unscored:
        yield f"{unscored} of {counts.planned} episodes have no score (error, blocked, inconclusive)."
    if counts["inconclusive"] and not manifest.judge:
        yield "No judge was configured: tasks that need one are inconclusive, not failed."
    if manifest.excluded:
        yield f"{len(manifest.excluded)} tasks were excluded before the run and are in no denominator."
    if attempts > 1:
        yield f"Some episodes were played again, up to {attempts} times; the last attempt counts."
    if manifest.parallel_on_one_instance:
        yield "Episodes ran side by side on one site instance: they may have seen each other's changes."
    if len(manifest.environments) > 1:
        yield f"The run was made in {len(manifest.environments)} sessions whose machines or versions differ."
    if any(environment.dirty for environment in manifest.environments):
        yield "The harness's source had uncommitted changes: the commit does not describe what ran."


def pair_warnings(first: RunManifest, second: RunManifest) -> Iterator[str]:
    """Reasons for care when two runs are compared; each names both values."""
    if first.benchmark != second.benchmark:
        yield _differ("benchmarks", first.benchmark, second.benchmark)
    if first.task_set_hash != second.task_set_hash:
        yield (
            f"{_differ('task sets', first.task_set_hash[:12], second.task_set_hash[:12])} "
            "Only tasks that both planned are compared."
        )
    if (first.judge, first.judge_prompt_hash) != (second.judge, second.judge_prompt_hash):
        yield _differ("judges", _judge(first), _judge(second))
    if first.base_seed != second.base_seed:
        yield _differ("seeds", first.base_seed, second.base_seed)
    if first.viewport != second.viewport:
        yield _differ("viewports", first.viewport, second.viewport)
    if (first.locale, first.timezone) != (second.locale, second.timezone):
        yield _differ("locales", (first.locale, first.timezone), (second.locale, second.timezone))
    names = sorted(first.benchmark_options.keys() | second.benchmark_options.keys())
    for name in names:
        a, b = first.benchmark_options.get(name), second.benchmark_options.get(name)
        if a != b:
            yield _differ(f"benchmark options {name}", a, b)
    yield from _environments(first.environments, second.environments)


def _environments(first: Sequence[Environment], second: Sequence[Environment]) -> Iterator[str]:
    if not first or not second:
        return
    a, b = first[0], second[0]
    if (a.browser, a.browser_version) != (b.browser, b.browser_version):
        yield _differ("browsers", f"{a.browser} {a.browser_version}", f"{b.browser} {b.browser_version}")
    if a.commit != b.commit:
        yield _differ("commits", (a.commit or "unknown")[:12], (b.commit or "unknown")[:12])
    changed = sorted(name for name in a.packages.keys() | b.packages.keys() if a.packages.get(name) != b.packages.get(name))
    for name in changed:
        yield _differ(f"versions of {name}", a.packages.get(name), b.packages.get(name))


def _differ(what: str, first: object, second: object) -> str:
    return f"Different {what}: {first} and {second}."


def _judge(manifest: RunManifest) -> str:
    return f"{manifest.judge} {manifest.judge_prompt_hash[:12]}".strip() or "none"
