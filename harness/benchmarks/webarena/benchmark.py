"""The three flavours behind the `Benchmark` protocol.

    WebArenaBenchmark           812  official evaluators (libwebarena)
    WebArenaLiteBenchmark       165  official evaluators of browsergym-webarenalite
    WebArenaVerifiedBenchmark   812 | hard 258  the webarena-verified library

Listing tasks imports nothing of upstream. Opening one does: in a worker process that belongs to one site set.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, cast

from harness.benchmarks.webarena.config import WebArenaConfig, credentials
from harness.benchmarks.webarena.doctor import SET_SITES, checks
from harness.benchmarks.webarena.official import OfficialPageTask
from harness.benchmarks.webarena.reset import full_reset
from harness.benchmarks.webarena.tasks import load_tasks
from harness.benchmarks.webarena.verified import VerifiedPageTask
from harness.completions import EndpointConfig
from harness.errors import NotReadyError
from harness.protocols import PageTask
from harness.scoring import webarena_upstream, webarena_verified
from harness.scoring.webarena_upstream import Flavour
from harness.scoring.webarena_verified import VerifiedScorer
from harness.types import Check, EpisodeSpec, Task


class _SiteSets:
    """What the flavours share: site sets, who may run where, and the variables of a worker."""

    name: ClassVar[str]

    def __init__(self, config: WebArenaConfig | None = None, judge: EndpointConfig | None = None) -> None:
        """Without instances in `config`, one comes from the `WA_*` variables. `judge` is for fuzzy answers."""
        self.config = (config or WebArenaConfig()).with_environment()
        self.judge = judge

    def instances(self) -> int:
        return max(1, len(self.config.instances))

    def worker_environment(self, instance: int) -> dict[str, str]:
        if not self.config.instances:
            raise NotReadyError("no WebArena site is configured", fix=SET_SITES)
        return self.config.instances[instance % len(self.config.instances)].environment()

    def can_reset(self, instance: int) -> bool:
        return bool(self.config.instances and self.config.instances[instance].full_reset)

    def reset(self, instance: int) -> None:
        full_reset(self.config.instances[instance], self.config)

    def unrunnable(self, task: Task, instance: int = 0) -> str:
        """Why `task` cannot run on this site set; empty if it can."""
        if not self.config.instances:
            return "no WebArena site is configured"
        missing = self.config.instances[instance % len(self.config.instances)].missing(task.sites)
        return f"needs {', '.join(missing)}, which this site set does not have" if missing else ""

    def _require_sites(self, spec: EpisodeSpec) -> None:
        if reason := self.unrunnable(spec.task, spec.instance):
            raise NotReadyError(f"task {spec.task.task_id} of {self.name} {reason}", fix=SET_SITES)


class WebArenaBenchmark(_SiteSets):
    """All 812 tasks of WebArena with WebArena's own evaluators."""

    name: ClassVar[str] = "webarena"

    def tasks(self) -> Sequence[Task]:
        return load_tasks(self.name)

    def open(self, spec: EpisodeSpec) -> PageTask:
        self._require_sites(spec)
        upstream = webarena_upstream.load(self.worker_environment(spec.instance), cast("Flavour", self.name))
        return OfficialPageTask(spec, upstream, self.config, credentials(os.environ), self.judge)

    def checks(self) -> Sequence[Check]:
        flavour = cast("Flavour", self.name)
        return checks(self.name, self.config, self.judge, lambda: webarena_upstream.installed_version(flavour))


class WebArenaLiteBenchmark(WebArenaBenchmark):
    """WebArena-Lite: 165 tasks, 46 of them with corrected definitions, scored by its own variant of the evaluators."""

    name: ClassVar[str] = "webarena-lite"


class WebArenaVerifiedBenchmark(_SiteSets):
    """webarena-verified: the same sites; answers are JSON, and no model or page decides."""

    name: ClassVar[str] = "webarena-verified"

    def __init__(self, config: WebArenaConfig | None = None, judge: EndpointConfig | None = None) -> None:
        super().__init__(config, judge)
        self._scorers: dict[int, VerifiedScorer] = {}

    def tasks(self) -> Sequence[Task]:
        return load_tasks(self.name, self.config.subset)

    def open(self, spec: EpisodeSpec) -> PageTask:
        self._require_sites(spec)
        number = spec.instance % len(self.config.instances)
        webarena_upstream.load(self.worker_environment(number))
        if number not in self._scorers:
            self._scorers[number] = VerifiedScorer(self.config.instances[number].urls)
        return VerifiedPageTask(spec, _logins(), self._scorers[number], site_timeout_seconds=self.config.site_timeout_seconds)

    def checks(self) -> Sequence[Check]:
        def release() -> str:
            return f"webarena-verified {webarena_verified.installed_version()}"

        return checks(self.name, self.config, None, release)


def _logins() -> Any:
    """Upstream's `WebArenaInstance`: site URLs, credentials and `ui_login`."""
    from browsergym.webarena.instance import WebArenaInstance

    instance = WebArenaInstance()
    instance.credentials.update(credentials(os.environ))
    return instance
