"""Synthetic runs for tests: small, complete records whose numbers are chosen by the test and not drawn from a clock."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.types import (
    Action,
    ActionError,
    Episode,
    EpisodeSpec,
    ErrorInfo,
    EvaluatorSpec,
    Observation,
    PolicyOutput,
    Start,
    Status,
    Step,
    StopReason,
    Task,
    Timing,
    Trajectory,
    Usage,
    Verdict,
)
from results.manifest import Environment, RunManifest
from results.store import RunStore

RUN_ID = "run-1"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16


def task(task_id: str = "t1", template: str = "", site: str = "shopping", **fields: Any) -> Task:
    values: dict[str, Any] = {
        "benchmark": "webarena",
        "task_id": task_id,
        "sites": (site,),
        "goal": f"goal of {task_id}",
        "intent_template_id": template,
        "evaluator": EvaluatorSpec(kind="string_match"),
    }
    return Task(**{**values, **fields})


def plan(tasks: Sequence[Task], windows: Sequence[str] = ("A",), repeats: int = 1, base_seed: int = 7) -> list[EpisodeSpec]:
    keys = [(t, w, r) for w in windows for r in range(repeats) for t in tasks]
    return [EpisodeSpec(task=t, window=w, repeat=r, seed=base_seed + i, order_index=i) for i, (t, w, r) in enumerate(keys)]


def manifest(specs: Sequence[EpisodeSpec], **fields: Any) -> RunManifest:
    values: dict[str, Any] = {
        "run_id": RUN_ID,
        "created_at": "2024-05-01T10:00:00+00:00",
        "benchmark": specs[0].task.benchmark if specs else "webarena",
        "task_set_hash": "sha256:00ff",
        "tasks": len({s.task.task_id for s in specs}),
        "planned": len(specs),
        "windows": tuple(dict.fromkeys(s.window for s in specs)) or ("A",),
        "repeats": 1 + max((s.repeat for s in specs), default=0),
        "base_seed": 7,
        "policy": "scripted",
        "policy_version": "1",
        "viewport": (1280, 720),
        "environments": (Environment(python="3.11.7", browser="chromium", browser_version="1.0", commit="abc1234"),),
    }
    return RunManifest(**{**values, **fields})


def step(index: int, action: Action | None = None, error: ActionError | None = None, axtree: str = "", **output: Any) -> Step:
    chosen = action or Action(name="click", arguments={"bid": "12"}, raw='click("12")')
    tree = axtree or f"RootWebArea 'Page {index}', focused\n\t[12] button 'Go'"
    return Step(
        index=index,
        observation=Observation(url=f"http://shop.test/{index}", title="Shop", axtree=tree),
        output=PolicyOutput(action=chosen, **{"text": f"I will click.\n```{chosen.raw}```", **output}),
        action_error=error,
        timing=Timing(policy=0.5, execute=0.1, settle=0.2, observe=0.1),
    )


def usage(cost: float | None = 0.01, prompt: int = 100, completion: int = 10) -> Usage:
    return Usage(requests=1, prompt_tokens=prompt, completion_tokens=completion, cost_usd=cost)


def episode(
    spec: EpisodeSpec,
    status: Status = "success",
    *,
    steps: Sequence[Step] = (),
    stop_reason: StopReason = "stop",
    finish_index: int | None = None,
    run_id: str = RUN_ID,
    wall_seconds: float = 2.5,
    reset_epoch: int = 0,
    verdict: dict[str, Any] | None = None,
    trajectory: dict[str, Any] | None = None,
) -> Episode:
    broken = status in ("error", "blocked")
    values: dict[str, Any] = {
        "status": status,
        "reward": {"success": 1.0, "failure": 0.0}.get(status),
        "scorer": "webarena",
        "scorer_version": "0.14.3",
        "reason": f"because {status}",
        "error": ErrorInfo(boundary="site", kind="infra_error", message="500 from the shop") if broken else None,
    }
    path: dict[str, Any] = {
        "task": spec.task,
        "source": "real",
        "start": Start(task_id=spec.task.task_id),
        "goal": spec.task.goal,
        "seed": spec.seed,
        "steps": tuple(steps),
        "stop_reason": stop_reason,
        "answer": "42",
    }
    return Episode(
        run_id=run_id,
        spec=spec,
        trajectory=Trajectory(**{**path, **(trajectory or {})}),
        verdict=Verdict(**{**values, **(verdict or {})}),
        started_at="2024-05-01T10:00:01+00:00",
        wall_seconds=wall_seconds,
        worker="0",
        reset_epoch=reset_epoch,
        finish_index=spec.order_index if finish_index is None else finish_index,
    )


def make_run(directory: Path, specs: Sequence[EpisodeSpec], statuses: Sequence[Status | None], **fields: Any) -> RunStore:
    """A closed run in which the i-th planned episode ended with the i-th status; None = not played."""
    with RunStore.create(directory, manifest(specs, **fields), specs) as store:
        for spec, status in zip(specs, statuses, strict=True):
            if status is not None:
                store.record(episode(spec, status, steps=[step(0)], run_id=store.manifest.run_id), {"step-000.png": PNG})
    return store
