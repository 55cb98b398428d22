"""A run of replays, from a run of dreams: what `harness audit replay` and `harness audit controls` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.types import JsonDict

if TYPE_CHECKING:
    from rich.console import Console

    from audits.replay.config import ReplaySettings
    from audits.replay.plan import Which
    from harness.runner import RunSummary

REPLAY_WORKER = "audits.replay.worker"


class ReplayRequest(NamedTuple):
    """What a command line says about a run of replays."""

    dreams: Path
    settings: ReplaySettings
    benchmark: str
    run_dir: Path
    workers: str = "auto"
    which: Which = "all"
    limit: int | None = None
    seed: int = 0
    config: Path | None = None
    policy: str = ""
    retry_errors: bool = False
    extra: JsonDict = {}  # noqa: RUF012  (never changed)
    """More for the manifest's `benchmark_options`."""


def replay_run(console: Console, request: ReplayRequest) -> RunSummary:
    """Plan, play, record. The same request again resumes. Raises UsageError and NotReadyError before a browser starts."""
    from audits.replay.evidence import SETTINGS_KEY
    from audits.replay.plan import draw
    from harness.assembly import make_benchmark
    from harness.cli.prepare import Prepared, make_manifest, require_ready, worker_count
    from harness.cli.run import play
    from harness.config import read_config
    from harness.errors import UsageError
    from harness.policies import load_policy_config
    from results.reader import RunReader

    if request.settings.arm == "handover" and not request.policy:
        raise UsageError("a hand-over needs somebody to hand over to", fix="--policy NAME, as for harness run")
    options: dict[str, dict[str, Any]] = {"run": {"benchmark": request.benchmark}}
    if request.policy:
        options["policy"] = {
            **load_policy_config(request.policy).model_dump(mode="json", exclude_unset=True),
            "name": load_policy_config(request.policy).name,
        }
    config = read_config(request.config, options)
    if request.config is None or "screenshots" not in config.browser.model_fields_set:
        config = config.model_copy(update={"browser": config.browser.model_copy(update={"screenshots": "none"})})
    dreams = RunReader.open(request.dreams)
    if dreams.manifest.benchmark != config.run.benchmark:
        raise UsageError(
            f"{request.dreams} holds dreams of {dreams.manifest.benchmark}, not of {config.run.benchmark}",
            fix=f"--env {dreams.manifest.benchmark}",
        )
    benchmark = make_benchmark(config)
    today = {task.task_id: task for task in benchmark.tasks()}
    drawn = draw(dreams, today, which=request.which, limit=request.limit, seed=request.seed, instances=benchmark.instances())
    tasks = tuple({spec.task.task_id: spec.task for spec in drawn.specs}.values())
    require_ready(benchmark, tasks)
    settings = request.settings.model_copy(update={"dreams": str(request.dreams.resolve())})
    manifest = make_manifest(config, benchmark, tasks, drawn.specs, request.run_dir, []).model_copy(
        update={
            "policy": "replay",
            "policy_version": config.policy.name if settings.arm == "handover" else "",
            "benchmark_options": {
                SETTINGS_KEY: settings.model_dump(mode="json"),
                "sampling": drawn.sampling.model_dump(mode="json"),
                "dreams": {
                    "run": dreams.manifest.run_id,
                    "policy": dreams.manifest.policy,
                    "policy_version": dreams.manifest.policy_version,
                    "task_set_hash": dreams.manifest.task_set_hash,
                },
                **request.extra,
            },
        }
    )
    prepared = Prepared(
        config=config,
        benchmark=benchmark,
        tasks=tasks,
        plan=drawn.specs,
        manifest=manifest,
        directory=request.run_dir,
        workers=worker_count(request.workers, benchmark, config, len(drawn.specs)),
        worker_module=REPLAY_WORKER,
        worker_setup={"run": config.model_dump(mode="json"), "replay": settings.model_dump(mode="json")},
    )
    with prepared.open_store() as store:
        return play(console, prepared, store, retry_errors=request.retry_errors, reset=False)
