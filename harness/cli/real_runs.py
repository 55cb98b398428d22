"""Real episodes for a training of the agent: dev and test tasks of a checkpoint, and rollouts of the online baseline.

Everything is an ordinary run directory, made by the code of `harness run`: same workers, clocks and store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console

from harness.errors import NotReadyError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.cli.prepare import Prepared, Request
    from harness.types import Episode, EpisodeSpec, JsonDict
    from training.agent.config import EvaluationSection
    from training.agent.rows import Sample


@dataclass(frozen=True)
class RealRuns:
    """`quiet` is entered while a run has the screen (the training's own progress stands aside)."""

    section: EvaluationSection
    config: Path | None
    console: Console
    quiet: Callable[[], AbstractContextManager[Any]] = nullcontext

    def check(self, experts: Mapping[str, Sequence[Sample]]) -> None:
        """Find what is wrong before hours of training. Raises UsageError, NotReadyError."""
        for split in ("dev", "test"):
            self._tasks(split)
        seeds = {one.trajectory.seed for samples in experts.values() for one in samples if not one.trajectory.task.goal}
        played = {
            *range(self.section.dev_base_seed, self.section.dev_base_seed + self.section.dev_seeds),
            *range(self.section.test_base_seed, self.section.test_base_seed + self.section.test_seeds),
        }
        if overlap := sorted(seeds & played):
            raise UsageError(
                f"evaluation would play the experts' own seed {overlap[0]}", fix="set evaluation.dev_base_seed, .test_base_seed"
            )

    def evaluate(self, checkpoint: Path, split: Literal["dev", "test"], directory: Path) -> dict[str, float]:
        """Play the split's tasks greedily; the same directory goes on where it stopped. Numbers as `measured` gives them."""
        from harness.cli.prepare import prepare

        seeds = (self.section.dev_seeds, self.section.dev_base_seed)
        if split == "test":
            seeds = (self.section.test_seeds, self.section.test_base_seed)
        options = self._options(self._tasks(split), *seeds, {"name": f"checkpoint:{checkpoint}"})
        self._play(prepare(self._request(options, directory)))
        return measured(directory)

    def rollouts(self, temperature: float) -> Callable[[Path, Sequence[EpisodeSpec], Path], list[Episode]]:
        """What `training.agent.browsing` plays with."""

        def play(checkpoint: Path, specs: Sequence[EpisodeSpec], directory: Path) -> list[Episode]:
            from harness.cli.prepare import make_manifest, prepare
            from results.transitions import played

            policy: JsonDict = {"name": f"checkpoint:{checkpoint}", "options": {"temperature": temperature}}
            ids = tuple(dict.fromkeys(spec.task.task_id for spec in specs))
            prepared = prepare(self._request(self._options(ids, max(s.repeat for s in specs) + 1, 0, policy), directory))
            instances = prepared.benchmark.instances()
            plan = tuple(
                spec.model_copy(update={"instance": number % instances if instances else 0}) for number, spec in enumerate(specs)
            )
            manifest = make_manifest(prepared.config, prepared.benchmark, prepared.tasks, plan, directory, [])
            return list(played(self._play(replace(prepared, plan=plan, manifest=manifest))))

        return play

    def _play(self, prepared: Prepared) -> Any:
        from harness.cli.run import play
        from results.reader import RunReader

        with self.quiet(), prepared.open_store() as store:
            summary = play(self.console, prepared, store, retry_errors=False, reset=True)
        if summary.interrupted:
            raise KeyboardInterrupt
        if summary.left:
            raise NotReadyError(f"{summary.left} episodes could not be played", fix="bring the sites up; then the same command")
        return RunReader.open(prepared.directory)

    def _tasks(self, split: str) -> tuple[str, ...]:
        """Task ids of the split; of a benchmark without splits all that are selected. Raises UsageError for none."""
        from harness.assembly import make_benchmark
        from harness.cli.selection import select
        from harness.config import read_config

        config = read_config(self.config, {"run": {"benchmark": self.section.benchmark}})
        found = select(make_benchmark(config).tasks(), self.section.tasks, ())
        wanted = [task for task in found if task.metadata.get("split", split) == split and not task.metadata.get("held_out_site")]
        if not wanted:
            raise UsageError(f"{self.section.benchmark} has no {split} task among evaluation.tasks", fix="select others")
        return tuple(task.task_id for task in wanted)

    def _options(self, tasks: Sequence[str], repeats: int, base_seed: int, policy: JsonDict) -> dict[str, dict[str, Any]]:
        limits = {"max_steps": self.section.max_steps} if self.section.max_steps else {}
        run = {"benchmark": self.section.benchmark, "tasks": tuple(tasks), "repeats": repeats, "base_seed": base_seed}
        return {"run": run, "limits": limits, "policy": policy, "browser": {"screenshots": "none"}}

    def _request(self, options: dict[str, dict[str, Any]], directory: Path) -> Request:
        from harness.cli.prepare import Request

        return Request(self.config, options, "", self.section.workers, directory)


def measured(directory: Path) -> dict[str, float]:
    """success, n (scored episodes, its denominator), low, high (95 %), planned. Without a scored episode no success."""
    from results.intervals import rate
    from results.outcomes import outcomes_of
    from results.reader import RunReader

    found = outcomes_of(RunReader.open(directory))
    scored = [one for one in found if one.scored]
    numbers = {"n": float(len(scored)), "planned": float(len(found))}
    known = rate([one.success for one in scored], [one.cluster for one in scored])
    if known.value is None or known.interval is None:
        return numbers
    return {"success": known.value, "low": known.interval.low, "high": known.interval.high, **numbers}


def compared(first: Path, second: Path) -> dict[str, float]:
    """Two runs of the same plan, pair by pair: difference in success, its interval, McNemar's p."""
    from results.compare import paired
    from results.outcomes import outcomes_of
    from results.reader import RunReader

    found = paired(outcomes_of(RunReader.open(first)), outcomes_of(RunReader.open(second)))
    numbers = {"pairs": found.pairs, "difference": found.difference, "p": found.p_value}
    if found.interval is not None:
        numbers |= {"difference_low": found.interval.low, "difference_high": found.interval.high}
    return {name: float(value) for name, value in numbers.items() if value is not None}
