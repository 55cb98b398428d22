"""Where the walks of `harness explore` begin: tasks of the train split, spread evenly over sites and templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, zip_longest
from random import Random

from harness.types import Task

TRAIN = ("", "train")
"""Splits whose tasks a walk may start from; the empty one is that of benchmarks without splits."""


def allowed(task: Task, sites: Sequence[str]) -> bool:
    """May a walk start there? Not where a model is tested later; on a held-out site only if it was asked for by name."""
    held_out = task.metadata.get("held_out_site") is True and not set(task.sites) <= set(sites)
    return not held_out and str(task.metadata.get("split", "")) in TRAIN


def starting_points(tasks: Sequence[Task], walks: int, seed: int) -> tuple[list[Task], int]:
    """(tasks, passes over them): at least `walks` walks, and fewer than one per pass too many.

    Sites take turns; so do templates within a site, in an order drawn from `seed`.
    """
    by_site: dict[str, list[Task]] = {}
    for task in sorted(tasks, key=lambda task: task.task_id):
        by_site.setdefault(task.site, []).append(task)
    turns = zip_longest(*(_in_turns(found, Random(f"{seed}/{site}")) for site, found in sorted(by_site.items())))
    ordered = [task for task in chain.from_iterable(turns) if task is not None]
    if not ordered:
        return [], 1
    passes = -(-walks // len(ordered))
    return ordered[: -(-walks // passes)], passes


def _in_turns(tasks: list[Task], rng: Random) -> list[Task]:
    """Shuffled, then the first task of every template, the second of every template, …"""
    shuffled = rng.sample(tasks, len(tasks))
    seen: Counter[str] = Counter()
    turn: dict[str, int] = {}
    for task in shuffled:
        turn[task.task_id] = seen[task.cluster]
        seen[task.cluster] += 1
    return sorted(shuffled, key=lambda task: turn[task.task_id])
