"""The plan of a run: every episode, in order, with its seed and the site instance it belongs to. It is the denominator."""

from __future__ import annotations

import random
from collections.abc import Sequence

from harness.types import EpisodeSpec, Task


def make_plan(
    tasks: Sequence[Task],
    *,
    windows: Sequence[str],
    repeats: int,
    base_seed: int,
    instances: int,
    shuffle: int | None = None,
) -> tuple[EpisodeSpec, ...]:
    """Tasks × windows × repeats, windows and repeats outermost: one pass over all tasks, then the next.

    Seeds are `base_seed + repeat`: distinct for the repeats of a task by construction, and equal across runs, windows and
    policies, so that runs can be compared pair by pair.
    With site instances, tasks that depend on each other share one: connected components of the graph go to the instance with
    the least work so far.
    With a `shuffle` seed the tasks come in a random order, the same in every pass: results must not depend on the order.
    """
    if shuffle is not None:
        tasks = random.Random(shuffle).sample(tasks, len(tasks))
    place = assign_instances(tasks, instances) if instances else {}
    specs: list[EpisodeSpec] = []
    for window in windows:
        for repeat in range(repeats):
            for task in dependency_order(tasks):
                specs.append(
                    EpisodeSpec(
                        task=task,
                        window=window,
                        repeat=repeat,
                        seed=base_seed + repeat,
                        order_index=len(specs),
                        instance=place.get(task.task_id, 0),
                    )
                )
    return tuple(specs)


def dependency_order(tasks: Sequence[Task]) -> list[Task]:
    """The given order, with every task after those it depends on. Dependencies outside the selection are ignored; a cycle
    (bad data) keeps the given order."""
    by_id = {task.task_id: task for task in tasks}
    done: dict[str, None] = {}
    for root in tasks:
        path = [(root, iter(root.depends_on))]
        open_ids = {root.task_id}
        if root.task_id in done:
            continue
        while path:
            task, needs = path[-1]
            following = next((need for need in needs if need in by_id and need not in done and need not in open_ids), None)
            if following is None:
                done[task.task_id] = None
                path.pop()
            else:
                open_ids.add(following)
                path.append((by_id[following], iter(by_id[following].depends_on)))
    return [by_id[task_id] for task_id in done]


def assign_instances(tasks: Sequence[Task], instances: int) -> dict[str, int]:
    """task_id → instance. Largest component first, each to the least loaded instance."""
    components = _components(tasks)
    load = [0] * instances
    place = {}
    for component in sorted(components, key=lambda ids: (-len(ids), ids[0])):
        target = load.index(min(load))
        load[target] += len(component)
        place.update(dict.fromkeys(component, target))
    return place


def parallelism_bound(plan: Sequence[EpisodeSpec], *, ordered: bool) -> float:
    """Most episodes that can run at once, on average over a run, if all take equally long: no number of workers beats it.

    `ordered`: dependencies hold and one pass (window, repeat) ends before the next begins (harness.runner.schedule); the bound
    is then the number of episodes over the longest chains of all passes. Otherwise all episodes may run at once.
    """
    if not ordered:
        return float(len(plan))
    depth: dict[tuple[str, int, str], int] = {}
    longest: dict[tuple[str, int], int] = {}
    for spec in plan:  # plan order is dependency order
        here = (spec.window, spec.repeat)
        needs = [depth.get((*here, need), 0) for need in spec.task.depends_on]
        depth[(*here, spec.task.task_id)] = 1 + max(needs, default=0)
        longest[here] = max(longest.get(here, 0), depth[(*here, spec.task.task_id)])
    return len(plan) / sum(longest.values()) if plan else 0.0


def _components(tasks: Sequence[Task]) -> list[list[str]]:
    parent = {task.task_id: task.task_id for task in tasks}

    def root(task_id: str) -> str:
        while parent[task_id] != task_id:
            parent[task_id] = parent[parent[task_id]]
            task_id = parent[task_id]
        return task_id

    for task in tasks:
        for need in task.depends_on:
            if need in parent:
                parent[root(task.task_id)] = root(need)
    groups: dict[str, list[str]] = {}
    for task in tasks:
        groups.setdefault(root(task.task_id), []).append(task.task_id)
    return list(groups.values())
