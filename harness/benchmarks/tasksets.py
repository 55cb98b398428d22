"""The identity of a task set: one hash that two results must share before their numbers may be compared.

    tasks → one canonical JSON line per task, sorted → sha256

A line holds benchmark, task_id, goal and start URL. Where a goal is made from a template at run start (relative dates),
the template is hashed, not the resolved text: two windows a week apart then run the same task set.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from harness.types import Task

GOAL_TEMPLATE = "goal_template"
"""Key in `Task.metadata`: the goal before its dates were resolved, where the two differ."""


def task_set_hash(tasks: Sequence[Task]) -> str:
    """sha256 (64 hex digits) over the tasks, whatever their order; a task listed twice counts twice."""
    lines = sorted(_canonical(task) for task in tasks)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _canonical(task: Task) -> str:
    goal = task.metadata.get(GOAL_TEMPLATE, task.goal)
    return json.dumps([task.benchmark, task.task_id, goal, task.start_url], ensure_ascii=True)
