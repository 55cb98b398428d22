"""Which episode may start next. Pure bookkeeping: no clock, no process, no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness.limits import Limits
from harness.types import EpisodeSpec, Verdict

RETRIED_BOUNDARIES = frozenset({"env", "site"})
RETRIED_KINDS = frozenset({"worker_crash"})


class Schedule:
    """Episodes left to run, in plan order.

    `finished`: keys that need no run. `attempts`: how many attempts of a key are already stored (resume).
    `ordered`: tasks share site state, so dependencies hold, one pass (window, repeat) ends before the next begins, and
    `exclusive` instances run one episode at a time.
    """

    def __init__(
        self,
        plan: Sequence[EpisodeSpec],
        *,
        limits: Limits,
        finished: Iterable[str] = (),
        attempts: Mapping[str, int] | None = None,
        ordered: bool = False,
        exclusive: bool = False,
    ) -> None:
        self._limits = limits
        self._ordered = ordered
        self._exclusive = exclusive
        self._finished = set(finished)
        stored = attempts or {}
        self._waiting = [
            spec.model_copy(update={"attempt": stored.get(spec.key, 0)}) for spec in plan if spec.key not in self._finished
        ]
        self._planned = {spec.key for spec in plan}
        self._first_attempt = {spec.key: spec.attempt for spec in self._waiting}
        self._running: dict[str, EpisodeSpec] = {}
        self._site_failures: Counter[str] = Counter()

    def __len__(self) -> int:
        """Episodes not finished: waiting or running."""
        return len(self._waiting) + len(self._running)

    def next(self, instance: int | None = None) -> EpisodeSpec | None:
        """Take the next episode that may start now; `instance` restricts it to one site instance set."""
        for position, spec in enumerate(self._waiting):
            if self._may_start(spec, instance):
                del self._waiting[position]
                self._running[spec.key] = spec
                return spec
        return None

    def _may_start(self, spec: EpisodeSpec, instance: int | None) -> bool:
        if instance is not None and spec.instance != instance:
            return False
        if any(self.is_down(site) for site in spec.task.sites):
            return False
        if not self._ordered:
            return True
        if self._exclusive and any(other.instance == spec.instance for other in self._running.values()):
            return False
        here = (spec.window, spec.repeat)
        unfinished = [*self._waiting, *self._running.values()]
        if any((other.window, other.repeat) != here and other.order_index < spec.order_index for other in unfinished):
            return False
        needed = {f"{spec.task.benchmark}/{need}/{spec.window}/{spec.repeat}" for need in spec.task.depends_on}
        return not any(other.key in needed for other in unfinished)

    def finish(self, spec: EpisodeSpec, verdict: Verdict) -> bool:
        """Book the end of a running episode. True if it is retried at once (it then waits again, with the next attempt)."""
        del self._running[spec.key]
        error = verdict.error
        for site in spec.task.sites:
            self._site_failures[site] = self._site_failures[site] + 1 if error and error.boundary == "site" else 0
        tries = spec.attempt - self._first_attempt[spec.key]
        if error and (error.boundary in RETRIED_BOUNDARIES or error.kind in RETRIED_KINDS) and tries < self._limits.auto_retries:
            self._waiting.insert(0, spec.model_copy(update={"attempt": spec.attempt + 1}))
            return True
        self._finished.add(spec.key)
        return False

    def put_back(self, spec: EpisodeSpec) -> None:
        """An episode was interrupted without a result: it waits again, as the same attempt."""
        del self._running[spec.key]
        self._waiting.insert(0, spec)

    def is_down(self, site: str) -> bool:
        return self._site_failures[site] >= self._limits.site_failures

    @property
    def down_sites(self) -> tuple[str, ...]:
        return tuple(sorted(site for site in self._site_failures if self.is_down(site)))

    @property
    def instances_waiting(self) -> set[int]:
        return {spec.instance for spec in self._waiting}
