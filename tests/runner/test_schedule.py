"""The schedule against a model: whatever workers do in whatever order, nothing runs twice, too early or never."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from harness.limits import Limits
from harness.runner import Schedule, make_plan
from harness.types import EpisodeSpec, Task, Verdict
from tests.runner.strategies import task, task_sets, verdict

ENDS = [
    verdict(),
    verdict("failure"),
    verdict("blocked"),
    verdict(boundary="env"),
    verdict(boundary="site"),
    verdict(boundary="policy"),
    verdict(boundary="policy", kind="worker_crash"),
    verdict(boundary="timeout"),
]


def is_retried(end: Verdict) -> bool:
    return end.error is not None and (end.error.boundary in ("env", "site") or end.error.kind == "worker_crash")


class ScheduleMachine(RuleBasedStateMachine):
    """Random workers on a random plan. The model is a dict of attempts used, a list of keys in hand, a set of keys done."""

    @initialize(
        tasks=task_sets(),
        repeats=st.integers(1, 2),
        instances=st.integers(0, 2),
        exclusive=st.booleans(),
        retries=st.integers(0, 2),
        site_failures=st.integers(1, 3),
        data=st.data(),
    )
    def begin(
        self, tasks: list[Task], repeats: int, instances: int, exclusive: bool, retries: int, site_failures: int, data: Any
    ) -> None:
        self.plan = make_plan(tasks, windows=["A"], repeats=repeats, base_seed=0, instances=instances)
        self.ordered, self.exclusive, self.retries = instances > 0, exclusive and instances > 0, retries
        self.site_limit = site_failures
        keys = [spec.key for spec in self.plan]
        before = data.draw(st.sets(st.sampled_from(keys)), label="finished by an earlier sitting")
        self.stored = {key: data.draw(st.integers(0, 2)) for key in keys if key not in before}
        self.schedule = Schedule(
            self.plan,
            limits=Limits(auto_retries=retries, site_failures=site_failures),
            finished=before,
            attempts=self.stored,
            ordered=self.ordered,
            exclusive=self.exclusive,
        )
        self.by_key = {spec.key: spec for spec in self.plan}
        self.done = set(before)
        self.running: list[EpisodeSpec] = []
        self.played: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()

    @rule(instance=st.sampled_from([None, 0, 1]))
    def take(self, instance: int | None) -> None:
        if not self.ordered:
            instance = None
        spec = self.schedule.next(instance)
        if spec is None:
            assert not [s for s in self.plan if self._startable(s, instance)], "work that may start is handed out"
            return
        planned = self.by_key[spec.key]
        assert self._startable(planned, instance), spec.key
        assert spec == planned.model_copy(update={"attempt": self.stored[spec.key] + self.played[spec.key]})
        self.running.append(spec)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), end=st.sampled_from(ENDS))
    def finish(self, data: Any, end: Verdict) -> None:
        spec = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
        self.played[spec.key] += 1
        for site in spec.task.sites:
            self.failures[site] = self.failures[site] + 1 if end.error and end.error.boundary == "site" else 0
        again = self.schedule.finish(spec, end)
        assert again == (is_retried(end) and self.played[spec.key] <= self.retries)
        if not again:
            self.done.add(spec.key)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def put_back(self, data: Any) -> None:
        self.schedule.put_back(self.running.pop(data.draw(st.integers(0, len(self.running) - 1))))

    @invariant()
    def nothing_is_lost(self) -> None:
        assert len(self.schedule) == len(self.plan) - len(self.done)
        waiting = {s.instance for s in self.plan if s.key not in self.done and s.key not in {r.key for r in self.running}}
        assert self.schedule.instances_waiting == waiting
        startable = {s.instance for s in self.plan if self._startable(s, s.instance)}
        assert self.schedule.startable_instances == startable
        assert self.schedule.down_sites == tuple(sorted(s for s, n in self.failures.items() if n >= self.site_limit))

    def teardown(self) -> None:
        """Whatever happened: once the sites are up and every episode ends well, the rest is played to its end."""
        if not hasattr(self, "plan") or self.schedule.down_sites:
            return
        while self.running:
            self.schedule.finish(self.running.pop(), verdict())
        while spec := self.schedule.next():
            self.schedule.finish(spec, verdict())
        assert len(self.schedule) == 0

    def _startable(self, spec: EpisodeSpec, instance: int | None) -> bool:
        """The rules, said plainly. A dependency later in the plan than its dependent is part of a cycle: not waited for."""
        if spec.key in self.done or any(spec.key == other.key for other in self.running):
            return False
        if instance is not None and spec.instance != instance:
            return False
        if any(self.failures[site] >= self.site_limit for site in spec.task.sites):
            return False
        if not self.ordered:
            return True
        if self.exclusive and any(other.instance == spec.instance for other in self.running):
            return False
        earlier = [other for other in self.plan[: spec.order_index] if other.key not in self.done]
        if any(other.repeat != spec.repeat for other in earlier):
            return False
        return not any(other.task.task_id in spec.task.depends_on for other in earlier)


TestSchedule = ScheduleMachine.TestCase
TestSchedule.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def schedule_of(*tasks: Task, **options: Any) -> Schedule:
    limits = Limits(auto_retries=options.pop("auto_retries", 1), site_failures=options.pop("site_failures", 2))
    repeats = options.pop("repeats", 1)
    return Schedule(make_plan(tasks, windows=["A"], repeats=repeats, base_seed=0, instances=1), limits=limits, **options)


def test_a_retry_comes_before_what_was_not_played_yet() -> None:
    schedule = schedule_of(task("a"), task("b"))
    first = schedule.next()
    assert first is not None
    assert schedule.finish(first, verdict(boundary="env"))
    again = schedule.next()
    assert again is not None
    assert (again.task.task_id, again.attempt) == ("a", 1)
    assert not schedule.finish(again, verdict(boundary="env")), "one further attempt, not more"


def test_a_resume_counts_its_own_retries() -> None:
    """Attempts of earlier sittings number the files; they do not use up the retries of this one."""
    schedule = schedule_of(task("a"), attempts={"b/a/A/0": 4})
    spec = schedule.next()
    assert spec is not None
    assert spec.attempt == 4
    assert schedule.finish(spec, verdict(boundary="env"))


def test_a_site_that_fails_in_a_row_stops_alone_and_comes_back_with_a_success() -> None:
    tasks = [task(f"s{n}", sites=["shop"]) for n in range(5)] + [task("m", sites=["map"])]
    schedule = schedule_of(*tasks, auto_retries=0)
    first, second, third = schedule.next(), schedule.next(), schedule.next()
    assert first and second and third
    schedule.finish(first, verdict(boundary="site"))
    assert not schedule.down_sites
    schedule.finish(second, verdict(boundary="site"))
    assert schedule.down_sites == ("shop",)
    other = schedule.next()
    assert other is not None
    assert other.task.task_id == "m"
    assert schedule.next() is None
    assert len(schedule) == 4, "two in hand, two that stay planned"
    schedule.finish(third, verdict())  # it was in hand already, and the site answered
    assert not schedule.down_sites
    assert schedule.next() is not None


def test_a_pass_ends_before_the_next_begins_only_where_state_is_shared() -> None:
    ordered, free = (schedule_of(task("a"), task("b"), repeats=2, ordered=flag) for flag in (True, False))
    taken = [ordered.next() for _ in range(3)]
    assert [spec and (spec.task.task_id, spec.repeat) for spec in taken] == [("a", 0), ("b", 0), None]
    assert all(free.next() for _ in range(4))


def test_a_cycle_does_not_stop_the_run() -> None:
    schedule = schedule_of(task("a", depends_on=["b"]), task("b", depends_on=["a"]), ordered=True)
    for _ in range(2):
        spec = schedule.next()
        assert spec is not None
        schedule.finish(spec, verdict())
    assert len(schedule) == 0


@given(st.data())
@settings(max_examples=20, deadline=None)
def test_a_finish_without_a_start_is_a_mistake_that_is_seen(data: Any) -> None:
    schedule = schedule_of(task("a"))
    spec = schedule.next()
    assert spec is not None
    schedule.finish(spec, data.draw(st.sampled_from(ENDS[:3])))
    with pytest.raises(KeyError):
        schedule.finish(spec, verdict())


def test_twenty_thousand_episodes_with_dependencies_are_scheduled() -> None:
    """A sanity check of the growth: with a quadratic step somewhere this takes minutes and runs into the test's limit."""
    tasks = [task(f"{n}", depends_on=[f"{n - 1}"] if n % 50 else []) for n in range(10_000)]
    plan = make_plan(tasks, windows=["A"], repeats=2, base_seed=0, instances=1)
    schedule = Schedule(plan, limits=Limits(), ordered=True)
    hands: list[EpisodeSpec] = []
    played = 0
    while len(schedule):
        while len(hands) < 4 and (spec := schedule.next(0)):
            hands.append(spec)
        schedule.finish(hands.pop(0), verdict())
        played += 1
    assert played == 20_000
