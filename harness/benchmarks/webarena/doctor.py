"""Lines of `harness doctor` for the three WebArena flavours: packages, sites, warnings, judge. Never raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from harness.benchmarks.webarena.config import TILES_VARIABLE, InstanceSet, WebArenaConfig, site_warnings
from harness.benchmarks.webarena.health import probe_instance
from harness.benchmarks.webarena.sites import SITES
from harness.benchmarks.webarena.tasks import load_tasks
from harness.completions import EndpointConfig
from harness.errors import HarnessError
from harness.types import Check, Task

SET_SITES = "set WA_<SITE> or [[webarena.instances]] in run.toml; see docs/webarena-setup.md"


def checks(
    benchmark: str, config: WebArenaConfig, judge: EndpointConfig | None, package_version: Callable[[], str]
) -> tuple[Check, ...]:
    """Everything that could stop a run, or make its numbers wrong."""
    return tuple(_checks(benchmark, config, judge, package_version))


def _checks(
    benchmark: str, config: WebArenaConfig, judge: EndpointConfig | None, package_version: Callable[[], str]
) -> Iterator[Check]:
    try:
        release = package_version()
        tasks = load_tasks(benchmark, config.subset if benchmark == "webarena-verified" else "all")
    except HarnessError as error:
        yield Check(name="package", status="missing", detail=str(error), fix=error.fix)
        return
    yield Check(name="package", status="ok", detail=f"{release}, {len(tasks)} tasks")
    if not config.instances:
        yield Check(name="sites", status="missing", detail="no WebArena site is configured", fix=SET_SITES)
    for number, instance in enumerate(config.instances):
        yield from _instance_checks(instance.name or f"set {number}", instance, config, tasks)
    yield from _judge_checks(tasks, judge)


def _instance_checks(name: str, instance: InstanceSet, config: WebArenaConfig, tasks: Sequence[Task]) -> Iterator[Check]:
    runnable = sum(not instance.missing(task.sites) for task in tasks)
    absent = instance.missing(SITES)
    yield Check(
        name=f"{name}: sites",
        status="warning" if absent else "ok",
        detail=f"{runnable} of {len(tasks)} tasks can run" + (f"; not configured: {', '.join(absent)}" if absent else ""),
        fix=SET_SITES if absent else "",
    )
    results = probe_instance(instance, config)
    for site in instance.urls:
        failed = [result for result in results if result.site == site and not result.ok]
        yield Check(
            name=f"{name}: {site}",
            status="missing" if failed else "ok",
            detail="; ".join(f"{r.url}: {r.detail}" for r in failed) or f"{instance.urls[site]} answers",
            fix="start the site, or correct its URL; probes can be changed in [webarena.probes]" if failed else "",
            site=site,
        )
    for warning in site_warnings(instance):
        yield Check(name=f"{name}: set-up", status="warning", detail=warning)
    if instance.map and not instance.map_tiles:
        yield Check(
            name=f"{name}: map tiles",
            status="warning",
            detail="not probed: the map page answers even when its tile server does not",
            fix=f"set map_tiles or {TILES_VARIABLE} to the tile URL with {{z}}, {{x}} and {{y}}",
        )
    if not instance.full_reset:
        yield Check(
            name=f"{name}: reset",
            status="warning",
            detail="no reset server: reset the sites by hand before each run",
            fix="set full_reset or WA_FULL_RESET",
        )


def _judge_checks(tasks: Sequence[Task], judge: EndpointConfig | None) -> Iterator[Check]:
    need = sum("judge" in task.evaluator.needs for task in tasks)
    if not need:
        return
    if judge is None:
        yield Check(
            name="judge",
            status="warning",
            detail=f"{need} tasks compare answers by a model; without one they are reported as not scorable",
            fix="set [judge] base_url and model",
        )
        return
    try:
        judge.api_key()
    except HarnessError as error:
        yield Check(name="judge", status="missing", detail=str(error), fix=error.fix)
        return
    yield Check(name="judge", status="ok", detail=f"{judge.model} at {judge.base_url}, for {need} tasks")
