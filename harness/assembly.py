"""RunConfig → objects. Used by the parent (to list and plan) and by each worker (to play)."""

from __future__ import annotations

from harness.benchmarks.arena import ArenaBenchmark
from harness.benchmarks.gym import GymBenchmark
from harness.benchmarks.miniwob import MiniwobBenchmark
from harness.benchmarks.webarena import WebArenaBenchmark, WebArenaLiteBenchmark, WebArenaVerifiedBenchmark
from harness.benchmarks.webvoyager import WebVoyagerBenchmark
from harness.config import RunConfig
from harness.errors import UsageError
from harness.protocols import Benchmark

BENCHMARKS: dict[str, str] = {
    "miniwob": "MiniWoB++: 125 small tasks, embedded, scored by the page",
    "arena": "the arena: tasks on real applications on this machine, WebArena's evaluators and database checks",
    "webarena": "WebArena: 812 tasks on self-hosted sites, WebArena's own evaluators",
    "webarena-lite": "WebArena-Lite: 165 of them",
    "webarena-verified": "WebArena-Verified: 812 tasks scored from answer and network trace, no model judge",
    "webvoyager": "WebVoyager: 643 tasks on live sites, model judge",
    "gym:GLOB": "any task that an installed BrowserGym package registers, scored by its own validate",
}
DEFAULT_MAX_STEPS = {
    "miniwob": 10,
    "arena": 25,
    "webarena": 30,
    "webarena-lite": 30,
    "webarena-verified": 30,
    "webvoyager": 15,
}
"""Policy outputs per episode where the config says 0: the step budgets of the benchmarks' papers and BrowserGym's; the arena's
leaves room beyond its longest oracle."""
OTHER_MAX_STEPS = 30
OWN_VIEWPORT = {"miniwob": (332, 214)}
"""Benchmarks whose tasks set their own viewport, whatever [browser] says: BrowserGym's value."""


def make_benchmark(config: RunConfig) -> Benchmark:
    """The benchmark that `config.run.benchmark` names. Raises UsageError for an unknown name."""
    name = config.run.benchmark
    if name == "miniwob":
        return MiniwobBenchmark(config.miniwob)
    if name == "arena":
        return ArenaBenchmark(config.arena)
    if name == "webarena":
        return WebArenaBenchmark(config.webarena, config.judge)
    if name == "webarena-lite":
        return WebArenaLiteBenchmark(config.webarena, config.judge)
    if name == "webarena-verified":
        return WebArenaVerifiedBenchmark(config.webarena, config.judge)
    if name == "webvoyager":
        return WebVoyagerBenchmark(config.webvoyager, config.judge)
    if name.startswith("gym:"):
        return GymBenchmark(config.gym.model_copy(update={"glob": name.removeprefix("gym:")}), config.judge)
    raise UsageError(f"there is no benchmark {name!r}", fix=f"benchmarks: {', '.join(BENCHMARKS)}")


def max_steps(config: RunConfig) -> int:
    return config.limits.max_steps or DEFAULT_MAX_STEPS.get(config.run.benchmark, OTHER_MAX_STEPS)
