"""The arena behind the `Benchmark` and `SiteSets` protocols: tasks from the data files, sites from `harness.sites`.

Listing needs no site. A running instance set is one worker's world; every episode begins with its sites set back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

from harness.benchmarks.arena.config import ArenaConfig, Split
from harness.benchmarks.arena.data import NAME, data_hash, definitions, load_tasks
from harness.benchmarks.arena.page_task import ArenaPage
from harness.benchmarks.arena.scoring import official_types
from harness.errors import HarnessError, NotReadyError
from harness.protocols import PageTask
from harness.scoring import webarena_upstream
from harness.sites.catalog import APPS, SITES
from harness.sites.definition import AppName
from harness.sites.golden import current_name
from harness.sites.health import problem
from harness.sites.instances import reset, running_sets
from harness.sites.records import AppInstance, InstanceSet
from harness.types import Check, EpisodeSpec, Task

SITES_UP = "harness sites up"


class ArenaBenchmark:
    """Tasks on the sites of this machine."""

    name: ClassVar[str] = NAME

    def __init__(self, config: ArenaConfig | None = None) -> None:
        self.config = config or ArenaConfig()

    @cached_property
    def _sets(self) -> tuple[InstanceSet, ...]:
        return running_sets(self.config.state_dir)

    # ------------------------------------------------------------------ Benchmark

    def tasks(self) -> Sequence[Task]:
        return [task for task in load_tasks() if in_split(task, self.config.split)]

    def open(self, spec: EpisodeSpec) -> PageTask:
        if reason := self.unrunnable(spec.task, spec.instance):
            raise NotReadyError(f"task {spec.task.task_id} {reason}", fix=SITES_UP)
        return ArenaPage(spec, definitions()[spec.task.task_id], self._sets[spec.instance])

    def checks(self) -> Sequence[Check]:
        try:
            return list(self._checks())
        except HarnessError as error:
            return [Check(name="arena", status="missing", detail=str(error), fix=error.fix)]

    def worker_environment(self, instance: int) -> dict[str, str]:
        return {}

    def instances(self) -> int:
        return max(1, len(self._sets))

    # ------------------------------------------------------------------ SiteSets

    def unrunnable(self, task: Task, instance: int) -> str:
        """Why `task` cannot run on this instance set; empty if it can."""
        if not self._sets:
            return "needs sites, and none is up"
        missing = [site for site in task.sites if site not in self._sets[instance].sites]
        if missing:
            return f"needs {', '.join(missing)}, which instance set {self._sets[instance].index} does not have"
        if official_types(definitions()[task.task_id]) and (why := _upstream_problem()):
            return f"needs WebArena's evaluators: {why}"
        return ""

    def can_reset(self, instance: int) -> bool:
        return instance < len(self._sets)

    def reset(self, instance: int) -> None:
        found = self._sets[instance]
        reset(found, found.sites)

    # ------------------------------------------------------------------ doctor

    def _checks(self) -> Iterator[Check]:
        yield Check(name="tasks", status="ok", detail=f"{len(load_tasks())} tasks, data {data_hash()[:12]}")
        if why := _upstream_problem():
            yield Check(
                name="evaluators",
                status="warning",
                detail=f"{why}: only tasks scored by their database alone can run",
                fix=webarena_upstream.FIX,
            )
        else:
            yield Check(name="evaluators", status="ok", detail=webarena_upstream.installed_version("webarena"))
        for app in APPS.values():
            running = [(found.index, found.apps[app.name]) for found in self._sets if app.name in found.apps]
            bad = _app_problem(app.name, running)
            urls = ", ".join(instance.url for _, instance in running)
            for site in SITES.values():
                if site.app == app.name:
                    yield Check(
                        name=site.name,
                        status="missing" if bad else "ok",
                        detail=bad or f"{urls} {'answers' if len(running) == 1 else 'answer'}",
                        fix=f"{SITES_UP} {site.name}" if bad else "",
                        site=site.name,
                    )


def _app_problem(app: AppName, running: Sequence[tuple[int, AppInstance]]) -> str:
    """Why tasks on the sites of an application cannot run; empty if they can. `running`: instance set and application."""
    if not running:
        return "not up"
    if silent := [f"set {index}: {why}" for index, found in running if (why := problem(found.app, found.port))]:
        return "; ".join(silent)
    # Tasks are computed from today's contents: a site that was brought up with others would give wrong numbers.
    current = current_name(app)
    if old := [str(index) for index, found in running if found.golden.parent.name != current]:
        return f"set {', '.join(old)}: is up with contents of another version than the tasks are of"
    return ""


def in_split(task: Task, split: Split) -> bool:
    if split == "all":
        return True
    if split in ("held_out_site", "other_sites"):
        return task.metadata["held_out_site"] == (split == "held_out_site")
    return task.metadata["split"] == split


def _upstream_problem() -> str:
    try:
        webarena_upstream.installed_version("webarena")
    except NotReadyError as error:
        return str(error)
    return ""
