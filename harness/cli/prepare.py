"""From a request to a run that can start: config, benchmark, tasks, plan, manifest, directory, number of workers."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import psutil

import harness
from harness.assembly import OWN_VIEWPORT, make_benchmark, max_steps
from harness.benchmarks.tasksets import task_set_hash
from harness.cli.run import parse_workers
from harness.cli.selection import select
from harness.config import RunConfig, build_config, merge, read_config
from harness.envs.chromium import find_chromium
from harness.errors import NotReadyError, UsageError
from harness.policies import load_policy_config, make_policy
from harness.protocols import Benchmark, Filtered, SiteSets
from harness.runner import make_plan
from harness.types import EpisodeSpec, Exclusion, JsonDict, Task
from results.environment import collect_environment
from results.manifest import RunManifest
from results.reader import RunReader
from results.redact import Redactor
from results.store import RunStore

RUNS = Path("runs")
WORKER_GIB = 0.6
"""Memory to reserve per worker when choosing how many: the measured 0.36 GiB (docs/performance.md) and room for heavy pages."""


@dataclass(frozen=True)
class Request:
    """What the command line said."""

    config_file: Path | None
    options: dict[str, dict[str, Any]]
    policy: str
    workers: str
    run_dir: Path | None


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to start or to be resumed."""

    config: RunConfig
    benchmark: Benchmark
    tasks: tuple[Task, ...]
    plan: tuple[EpisodeSpec, ...]
    manifest: RunManifest
    directory: Path
    workers: int
    worker_module: str = "harness.worker"
    """What a worker process runs."""
    worker_setup: JsonDict | None = None
    """What it is told at its start; None: the config."""

    @cached_property
    def redactor(self) -> Redactor:
        return Redactor.from_config(self.manifest.config)

    @property
    def shares_instances(self) -> bool:
        return self.config.webarena.share_instances

    def open_store(self) -> RunStore:
        return RunStore.start(self.directory, self.manifest, self.plan, self.redactor)

    def infra_errors(self) -> int:
        """Planned episodes that ended in an error."""
        return sum(row.status == "error" for row in RunReader.open(self.directory).latest().values())


def prepare(request: Request) -> Prepared:
    """Everything that can be wrong with a request is found here, before a browser starts. Raises UsageError, NotReadyError."""
    config = _config(request)
    directory = request.run_dir or RUNS / default_name(config)
    config = _with_stored_defaults(config, directory)
    benchmark = make_benchmark(config)
    selected = select(benchmark.tasks(), config.run.tasks, config.run.sites)
    tasks, unrunnable = _runnable(selected, benchmark)
    require_ready(benchmark, tasks)
    plan = make_plan(
        tasks,
        windows=(config.run.window,),
        repeats=config.run.repeats,
        base_seed=config.run.base_seed,
        instances=benchmark.instances(),
        shuffle=config.run.shuffle,
    )
    if not plan:
        raise UsageError("no task is left after the filters", fix="harness list shows what there is")
    make_policy(config.policy).close()  # a policy that cannot be built is found now, not in a worker
    return Prepared(
        config=config,
        benchmark=benchmark,
        tasks=tasks,
        plan=plan,
        manifest=make_manifest(config, benchmark, tasks, plan, directory, unrunnable),
        directory=directory,
        workers=worker_count(request.workers, benchmark, config, len(plan)),
    )


def _runnable(tasks: list[Task], benchmark: Benchmark) -> tuple[tuple[Task, ...], list[Exclusion]]:
    """Tasks that every site instance can run, and the others as exclusions: a missing site is not a failed agent."""
    if not isinstance(benchmark, SiteSets):
        return tuple(tasks), []
    runnable, excluded = [], []
    for task in tasks:
        reasons = [reason for i in range(benchmark.instances()) if (reason := benchmark.unrunnable(task, i))]
        if reasons:
            excluded.append(Exclusion(task_id=task.task_id, rule="site-not-configured", reason=reasons[0], site=task.site))
        else:
            runnable.append(task)
    if not runnable:
        raise NotReadyError(
            f"none of the {len(tasks)} tasks can run: {excluded[0].reason}", fix=f"harness doctor {benchmark.name}"
        )
    return tuple(runnable), excluded


def require_ready(benchmark: Benchmark, tasks: Sequence[Task]) -> None:
    """Raises NotReadyError for the first thing missing that these tasks need."""
    sites = {site for task in tasks for site in task.sites}
    for check in benchmark.checks():
        if check.status == "missing" and (not check.site or check.site in sites):
            raise NotReadyError(f"{check.name}: {check.detail}", fix=check.fix or f"harness doctor {benchmark.name}")


def _config(request: Request) -> RunConfig:
    options = {section: values for section, values in request.options.items() if values}
    if request.policy:
        options["policy"] = load_policy_config(request.policy).model_dump(mode="json", exclude_unset=True)
        if "name" not in options["policy"]:
            options["policy"]["name"] = load_policy_config(request.policy).name
    return read_config(request.config_file, options)


def default_name(config: RunConfig) -> str:
    """The run directory's name: the same request gets the same one, so that the same command resumes."""
    identity = config.explicit() | {"policy": config.policy.model_dump(mode="json")}
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]
    words = f"{config.run.benchmark}-{config.policy.name}-{config.run.window}"
    return f"{re.sub(r'[^A-Za-z0-9.]+', '-', words).strip('-')}-{digest}"


def _with_stored_defaults(config: RunConfig, directory: Path) -> RunConfig:
    """On a resume, what the user left open is what the run was made with (a run date, say), not what it would be today."""
    if not (directory / "manifest.json").exists():
        return config
    stored, asked = dict(RunReader.open(directory).manifest.config), dict(config.explicit())
    if "policy" in asked:
        del stored["policy"]  # its sections depend on its name: half of one policy and half of another is none
    return build_config(merge(stored, asked), source=str(directory / "manifest.json"))


def make_manifest(
    config: RunConfig,
    benchmark: Benchmark,
    tasks: tuple[Task, ...],
    plan: tuple[EpisodeSpec, ...],
    directory: Path,
    unrunnable: list[Exclusion],
) -> RunManifest:
    chromium = find_chromium(config.browser.executable_path)
    filtered = benchmark.exclusions() if isinstance(benchmark, Filtered) else ()
    data = config.model_dump(mode="json")
    limits = {**data["limits"], "max_steps": max_steps(config)}
    return RunManifest(
        run_id=directory.name,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        benchmark=config.run.benchmark,
        config={**data, "limits": limits},
        task_set_hash=task_set_hash(tasks),
        tasks=len(tasks),
        planned=len(plan),
        excluded=(*filtered, *unrunnable),
        windows=(config.run.window,),
        repeats=config.run.repeats,
        base_seed=config.run.base_seed,
        policy=config.policy.name,
        policy_version=config.policy.llm.endpoint.model if config.policy.llm else harness.__version__,
        judge_prompt_hash=str(getattr(benchmark, "judge_prompt_hash", "")),
        judge=f"{config.judge.model} at {config.judge.base_url}" if config.judge else "",
        viewport=OWN_VIEWPORT.get(config.run.benchmark, (config.browser.viewport_width, config.browser.viewport_height)),
        device_scale_factor=config.browser.device_scale_factor,
        locale=config.browser.locale,
        timezone=config.browser.timezone_id,
        instances=benchmark.instances(),
        parallel_on_one_instance=config.webarena.share_instances,
        environments=(collect_environment(browser=Path(chromium.path).name, browser_version=chromium.version),),
    )


def worker_count(asked: str, benchmark: Benchmark, config: RunConfig, episodes: int) -> int:
    """How many browsers side by side. More workers than site instances are refused, unless sharing was asked for."""
    instances = benchmark.instances()
    number = parse_workers(asked)
    if instances and not config.webarena.share_instances:
        if number is not None and number > instances:
            raise UsageError(
                f"{number} workers on {instances} site instance(s): their tasks would see each other's changes",
                fix="configure more instances, or set [webarena] share_instances = true (the run records it)",
            )
        return min(number or instances, episodes)
    if number is None:
        by_memory = int(psutil.virtual_memory().available / 2**30 / WORKER_GIB)
        number = max(1, min(os.cpu_count() or 1, by_memory))
    return min(number, episodes)
