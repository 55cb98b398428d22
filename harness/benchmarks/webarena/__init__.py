"""WebArena in three flavours, on sites of your own (docs/webarena-setup.md).

benchmark   the flavours behind the `Benchmark` protocol
tasks       task records and their dependency graph, from the installed packages
official    a live task scored by WebArena's evaluators        verified   … by the webarena-verified library
session     login, and proof of it                             network    the trace that the library reads
config      site sets, from run.toml or WA_* variables         sites      what is known of each site
health      probes                                             reset          full reset      doctor   lines of `harness doctor`
errata      known mistakes of task definitions, as data
"""

from harness.benchmarks.webarena.benchmark import (
    WebArenaBenchmark,
    WebArenaLiteBenchmark,
    WebArenaVerifiedBenchmark,
)
from harness.benchmarks.webarena.config import InstanceSet, WebArenaConfig, load_config, site_warnings
from harness.benchmarks.webarena.health import ProbeResult, probe_instance
from harness.benchmarks.webarena.reset import ResetReport, full_reset

__all__ = [
    "InstanceSet",
    "ProbeResult",
    "ResetReport",
    "WebArenaBenchmark",
    "WebArenaConfig",
    "WebArenaLiteBenchmark",
    "WebArenaVerifiedBenchmark",
    "full_reset",
    "load_config",
    "probe_instance",
    "site_warnings",
]
