"""Which episode may start next. Pure bookkeeping: no clock, no process, no file."""

from __future__ import annotations

from bisect import insort
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
        done, stored = set(finished), attempts or {}
        left = [spec for spec in plan if spec.key not in done]
        self._waiting = [spec.model_copy(update={"attempt": stored.get(spec.key, 0)}) for spec in sorted(left, key=_order)]
        self._running: dict[str, EpisodeSpec] = {}
        self._place = {spec.key: spec.order_index for spec in left}
        """Every unfinished key → its place in the plan."""
        self._left_of_pass = Counter(_pass(spec) for spec in self._waiting)
        """Unfinished episodes of each pass; passes in plan order."""
        self._first_attempt = {spec.key: spec.attempt for spec in self._waiting}
        self._site_failures: Counter[str] = Counter()

    def __len__(self) -> int:
        """Episodes not finished: waiting or running."""
        return len(self._place)

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
        if _pass(spec) != next(iter(self._left_of_pass)):
            return False
        needed = (f"{spec.task.benchmark}/{need}/{spec.window}/{spec.repeat}" for need in spec.task.depends_on)
        # Only what stands earlier in the plan is waited for: it is in dependency order, and a cycle must not stop the run.
        return not any(self._place.get(key, spec.order_index) < spec.order_index for key in needed)

    def finish(self, spec: EpisodeSpec, verdict: Verdict) -> bool:
        """Book the end of a running episode. True if it is retried at once (it then waits again, with the next attempt)."""
        del self._running[spec.key]
        error = verdict.error
        for site in spec.task.sites:
            self._site_failures[site] = self._site_failures[site] + 1 if error and error.boundary == "site" else 0
        tries = spec.attempt - self._first_attempt[spec.key]
        if error and (error.boundary in RETRIED_BOUNDARIES or error.kind in RETRIED_KINDS) and tries < self._limits.auto_retries:
            insort(self._waiting, spec.model_copy(update={"attempt": spec.attempt + 1}), key=_order)
            return True
        del self._place[spec.key]
        self._left_of_pass[_pass(spec)] -= 1
        if not self._left_of_pass[_pass(spec)]:
            del self._left_of_pass[_pass(spec)]
        return False

    def put_back(self, spec: EpisodeSpec) -> None:
        """An episode was interrupted without a result: it waits again, as the same attempt."""
        del self._running[spec.key]
        insort(self._waiting, spec, key=_order)

    def is_down(self, site: str) -> bool:
        return self._site_failures[site] >= self._limits.site_failures

    @property
    def down_sites(self) -> tuple[str, ...]:
        return tuple(sorted(site for site in self._site_failures if self.is_down(site)))

    @property
    def startable_instances(self) -> set[int]:
        """Site instances on which an episode may start now."""
        return {instance for instance in self.instances_waiting if any(self._may_start(s, instance) for s in self._waiting)}

    @property
    def instances_waiting(self) -> set[int]:
        return {spec.instance for spec in self._waiting}


def _order(spec: EpisodeSpec) -> int:
    return spec.order_index


def _pass(spec: EpisodeSpec) -> tuple[str, int]:
    return spec.window, spec.repeat
