"""Which dreams of a run are replayed: a sampling plan, fixed before the first browser starts, and the episodes it makes.

    strata   dreams that call themselves a success, and those that call themselves a failure
    order    by SHA-256 of seed and key within a stratum; the first n are drawn: a larger n draws the same ones and more
Dreams without a self-assessment (errors, unscored) are in no stratum; the plan's rule counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Literal, NamedTuple

from audits.records import SamplingPlan, Stratum
from audits.replay.evidence import DREAM_KEY, UNKNOWN_KEY
from harness.errors import UsageError
from harness.types import EpisodeSpec, Task
from results.index import EpisodeRow
from results.reader import RunReader

Which = Literal["success", "all"]


class Drawn(NamedTuple):
    specs: tuple[EpisodeSpec, ...]
    sampling: SamplingPlan


def draw(
    dreams: RunReader,
    tasks: Mapping[str, Task],
    *,
    which: Which = "all",
    limit: int | None = None,
    seed: int = 0,
    instances: int = 0,
) -> Drawn:
    """The plan of a replay run. `tasks`: today's, by id; `limit`: dreams in all, shared out by the strata's sizes.

    Raises UsageError if there is nothing to replay.
    """
    rows = [row for row in dreams.latest().values() if row.final]
    strata = {
        name: [row for row in rows if row.status == name] for name in ("success", "failure")[: 1 if which == "success" else 2]
    }
    available = sum(map(len, strata.values()))
    if not available:
        raise UsageError(f"{dreams.directory} holds no dream with a verdict to audit", fix="harness report shows what it holds")
    drawn: list[EpisodeRow] = []
    described: list[Stratum] = []
    for name, members in strata.items():
        if members:
            number = len(members) if limit is None else min(len(members), round(limit * len(members) / available))
            drawn += sorted(members, key=lambda row: sha256(f"{seed}/{row.key}".encode()).digest())[:number]
            described.append(Stratum(name=f"dreamed {name}", available=len(members), drawn=number))
    drawn.sort(key=lambda row: (row.window, row.repeat, row.order_index, row.key))
    plan = SamplingPlan(
        source=dreams.manifest.run_id,
        rule=f"by SHA-256 of seed and key within what dreams say of themselves; {len(rows) - available} others left out",
        seed=seed,
        strata=tuple(described),
    )
    return Drawn(tuple(_spec(row, dreams, tasks, number, instances) for number, row in enumerate(drawn)), plan)


def weights(plan: SamplingPlan) -> dict[bool, float]:
    """Horvitz–Thompson weight by what the dream says of itself."""
    return {stratum.name.endswith("success"): stratum.weight for stratum in plan.strata if stratum.drawn}


def _spec(row: EpisodeRow, dreams: RunReader, tasks: Mapping[str, Task], number: int, instances: int) -> EpisodeSpec:
    """The seed is the one that the real start page was made with: a dream may have drawn its own from another."""
    dream = dreams.episode(row.episode_id)
    today = tasks.get(row.task_id)
    task = today if today is not None else dream.spec.task
    marks = {DREAM_KEY: row.episode_id, **({} if today is not None else {UNKNOWN_KEY: True})}
    return EpisodeSpec(
        task=task.model_copy(update={"metadata": {**task.metadata, **marks}, "depends_on": ()}),
        window=row.window,
        repeat=row.repeat,
        seed=dream.trajectory.seed,
        order_index=number,
        instance=number % instances if instances else 0,
    )
