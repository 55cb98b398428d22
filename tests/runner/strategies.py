"""Task sets for property tests: with dependencies (cycles and ids outside the set too), sites and instances."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from harness.types import ErrorInfo, EvaluatorSpec, Status, Task, Verdict

SITES = ("shop", "map", "wiki")


def task(task_id: str, *, sites: Sequence[str] = (), depends_on: Sequence[str] = ()) -> Task:
    return Task(
        benchmark="b", task_id=task_id, sites=tuple(sites), depends_on=tuple(depends_on), evaluator=EvaluatorSpec(kind="x")
    )


@st.composite
def task_sets(draw: st.DrawFn, *, max_size: int = 12, acyclic: bool = False) -> list[Task]:
    """Up to `max_size` tasks in any order. `elsewhere` is a dependency outside the selection."""
    ids = [f"t{number}" for number in range(draw(st.integers(1, max_size)))]
    tasks = []
    for place, task_id in enumerate(ids):
        known = ids[:place] if acyclic else ids
        needs = draw(st.lists(st.sampled_from([*known, "elsewhere"]), max_size=2, unique=True))
        sites = draw(st.lists(st.sampled_from(SITES), max_size=2, unique=True))
        tasks.append(task(task_id, sites=sites, depends_on=needs))
    return draw(st.permutations(tasks))


def verdict(status: Status = "success", boundary: str = "", kind: str = "k") -> Verdict:
    """A verdict; with `boundary` an error of that boundary."""
    if not boundary:
        return Verdict(status=status, reward=1.0 if status == "success" else None, scorer="s", scorer_version="1")
    error = ErrorInfo.model_validate({"boundary": boundary, "kind": kind, "message": "m"})
    return Verdict(status="error", scorer="s", scorer_version="1", error=error)
