"""Which tasks a command is about: globs over ids and sites, with a clear word for a glob that matches nothing."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from harness.errors import UsageError
from harness.types import Task


def select(tasks: Sequence[Task], globs: Sequence[str], sites: Sequence[str]) -> list[Task]:
    """Tasks whose id matches any glob and which run on any of the sites, in benchmark order. Raises UsageError if a glob or
    a site matches no task: a typo must not shrink a run."""
    for glob in globs:
        if not any(fnmatchcase(task.task_id, glob) for task in tasks):
            near = difflib.get_close_matches(glob, [task.task_id for task in tasks], n=3)
            raise UsageError(
                f"no task matches {glob!r}", fix=f"did you mean {', '.join(near)}?" if near else "harness list shows all tasks"
            )
    known_sites = sorted({site for task in tasks for site in task.sites})
    for site in sites:
        if site not in known_sites:
            raise UsageError(f"no task runs on site {site!r}", fix=f"sites: {', '.join(known_sites[:20]) or 'none'}")
    return [
        task
        for task in tasks
        if (not globs or any(fnmatchcase(task.task_id, glob) for glob in globs)) and (not sites or set(task.sites) & set(sites))
    ]
