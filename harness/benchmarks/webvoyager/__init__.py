"""WebVoyager: 643 tasks on 15 live web sites, filtered by stated rules, run in two windows, scored by a model judge.

    config      WebVoyagerConfig ([webvoyager] of run.toml)
    data, fetch the published files: reading them, getting them by pinned sha256
    dates       templates and past dates in task texts
    rules, filters, probe → which tasks are left out, why: data with a task-set hash
    selection   files + config → tasks and exclusions
    benchmark   WebVoyagerBenchmark (harness.protocols.Benchmark)
      page_task one episode: start page, refusals, score
        visit, facts, blocked, offsite: what the browser sees of a site

Two windows (`--window A`, `--window B`) are two runs of one task-set hash. A task is excluded from the paired numbers only
when it is blocked in both: a rule fixed before the run.
"""

from harness.benchmarks.webvoyager.benchmark import WebVoyagerBenchmark
from harness.benchmarks.webvoyager.config import WebVoyagerConfig

__all__ = ["WebVoyagerBenchmark", "WebVoyagerConfig"]
