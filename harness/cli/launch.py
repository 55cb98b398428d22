"""A prepared run and a store → a Runner with its workers, and what is left behind when it ends."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from harness import messages
from harness.cli.prepare import Prepared
from harness.executors.local import LocalWorker
from harness.protocols import SiteSets
from harness.runner import Runner, RunState, Schedule
from harness.runner.state import Display
from results.redact import Redactor
from results.store import RETRY_ERRORS, RunStore


@contextmanager
def launch(prepared: Prepared, store: RunStore, display: Display, *, retry_errors: bool, reset: bool) -> Iterator[Runner]:
    """The runner of what is left to play. The stored plan wins over today's: tasks were resolved when the run was made.

    Worker logs are kept aside while workers write them and come into the run directory without secrets at the end.
    """
    plan = store.plan()
    finished = store.finished(RETRY_ERRORS if retry_errors else ())
    attempts = {spec.key: store.next_attempt(spec).attempt for spec in plan if spec.key not in finished}
    rows = store.rows()
    instances = prepared.benchmark.instances()
    schedule = Schedule(
        plan,
        limits=prepared.config.limits,
        finished=finished,
        attempts=attempts,
        ordered=instances > 0,
        exclusive=instances > 0 and not prepared.shares_instances,
    )
    with tempfile.TemporaryDirectory(prefix="harness-logs-") as folder:
        logs = Path(folder)

        def spawn(number: int, instance: int) -> LocalWorker:
            environment = prepared.benchmark.worker_environment(instance)
            name = f"worker-{number}"
            return LocalWorker(name, prepared.worker_module, environment=environment, log=logs / f"{name}.log")

        try:
            yield Runner(
                run_id=store.manifest.run_id,
                schedule=schedule,
                limits=prepared.config.limits,
                recorder=store,
                spawn=spawn,
                setup=messages.Setup(prepared.worker_setup or prepared.config.model_dump(mode="json")),
                seats=[number % instances if instances else None for number in range(prepared.workers)],
                state=RunState(total=len(plan), done_before=len(plan) - len(schedule)),
                display=display,
                reset_sites=_site_reset(prepared) if reset else None,
                reset_epoch=max((row.reset_epoch for row in rows), default=0),
                first_finish_index=max((row.finish_index for row in rows), default=-1) + 1,
            )
        finally:
            _keep_logs(logs, prepared.directory / "logs", prepared.redactor)


def _site_reset(prepared: Prepared) -> Callable[[], None] | None:
    """A function that resets all site instances side by side; None where that is not possible."""
    benchmark, instances = prepared.benchmark, range(prepared.benchmark.instances())
    if not isinstance(benchmark, SiteSets) or not all(benchmark.can_reset(i) for i in instances):
        return None

    def reset_all() -> None:
        with ThreadPoolExecutor(max_workers=len(instances)) as pool:
            list(pool.map(benchmark.reset, instances))

    return reset_all


def _keep_logs(source: Path, target: Path, redactor: Redactor) -> None:
    for log in sorted(source.glob("*.log")):
        text = log.read_text(encoding="utf-8", errors="replace")
        if text.strip():
            # A full disk has ended the run by now, with a line that says so; the logs are not worth another error.
            with contextlib.suppress(OSError):
                target.mkdir(parents=True, exist_ok=True)
                with (target / log.name).open("a", encoding="utf-8") as kept:
                    kept.write(redactor.text(text))
