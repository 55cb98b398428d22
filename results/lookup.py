"""Finding an episode by what a person remembers of it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from harness.errors import UsageError
from results.reader import RunReader


def find_episode(run: RunReader, name: str) -> str:
    """The id of the episode called `name`: its id or key, else a task id, else the beginning of an id or key.

    A key or task id means its last attempt. Raises `UsageError` naming near matches if none or several fit.
    """
    rows, unreadable = run.rows(), run.unreadable()
    if name in unreadable:
        raise UsageError(f"cannot read episode {name}: {unreadable[name]}", fix="resume the run to play it again")
    if any(row.episode_id == name for row in rows):
        return name
    rows = sorted(rows, key=lambda row: row.attempt)
    for matches in (
        {row.key: row.episode_id for row in rows if name == row.key},
        {row.key: row.episode_id for row in rows if name == row.task_id},
        {row.key: row.episode_id for row in rows if row.episode_id.startswith(name) or row.key.startswith(name)},
    ):
        if len(matches) == 1:
            return next(iter(matches.values()))
        if matches:
            raise UsageError(f"{len(matches)} episodes match {name!r}", fix=f"give one of: {_some(matches.values())}")
    ids = [row.episode_id for row in rows]
    tasks = {row.task_id: row.episode_id for row in rows}
    near = get_close_matches(name, [*ids, *tasks], n=5, cutoff=0.5)
    raise UsageError(f"no episode {name!r} in {run.manifest.run_id}", fix=f"there are: {_some(near or ids)}")


def _some(names: Iterable[str], limit: int = 6) -> str:
    found = list(names)
    return (", ".join(found[:limit]) + (", …" if len(found) > limit else "")) or "none yet"
