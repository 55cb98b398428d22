"""The committed tasks: one JSON file per site, and one for tasks on several, written by scripts/build_arena.py and read here.

    data/shop.json      {"schema_version": 1, "tasks": [one WebArena task per line, …]}
    data/splits.json    template id → train | dev | test
    data/manifest.json  counts, task-set hash and data hash: what a result names

A task is WebArena's record (`task_id` and `intent_template_id` are words, not numbers) with these entries of ours:
`kind`, `login` (sites to be signed in to), `split`, `held_out_site`, `nearly` (the wrong values of the nearly right oracle), and
in `eval` the entry `state`. `__SHOP__` and its like stand for the sites' addresses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

from harness.benchmarks.arena.expect import NOT_ACHIEVABLE
from harness.errors import NotReadyError
from harness.types import EvaluatorSpec, JsonDict, Task

NAME: Final = "arena"
SCHEMA_VERSION: Final = 1
SPLITS: Final = "splits.json"
MANIFEST: Final = "manifest.json"
REBUILD = "python scripts/build_arena.py"


def read(name: str) -> Any:
    """A data file of this package. Raises NotReadyError if it is not there or not JSON."""
    try:
        return json.loads(resources.files(__package__).joinpath("data", name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise NotReadyError(f"the arena's data file {name} is missing or damaged", fix=REBUILD) from None


@cache
def definitions() -> Mapping[str, JsonDict]:
    """task_id → the task as it is in the data, site by site."""
    found: dict[str, JsonDict] = {}
    for group in read(MANIFEST)["files"]:
        content = read(f"{group}.json")
        if content["schema_version"] != SCHEMA_VERSION:
            raise NotReadyError(f"{group}.json has schema version {content['schema_version']}, not {SCHEMA_VERSION}", fix=REBUILD)
        found.update({str(row["task_id"]): row for row in content["tasks"]})
    return MappingProxyType(found)


@cache
def load_tasks() -> tuple[Task, ...]:
    """All tasks, in the order of the files."""
    return tuple(as_task(row) for row in definitions().values())


@cache
def data_hash() -> str:
    """sha256 over everything a task is, evaluators included: two results with equal hashes had the same tasks."""
    return hash_of(definitions().values())


def hash_of(rows: Iterable[Mapping[str, Any]]) -> str:
    lines = sorted(json.dumps(row, sort_keys=True, ensure_ascii=True) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def as_task(row: Mapping[str, Any]) -> Task:
    """The harness's record of one row of the data."""
    evaluation = row["eval"]
    return Task(
        benchmark=NAME,
        task_id=row["task_id"],
        sites=tuple(row["sites"]),
        goal=row["intent"],
        start_url=row["start_url"],
        intent_template_id=row["intent_template_id"],
        evaluator=EvaluatorSpec(
            kind="+".join(evaluation["eval_types"]),
            spec=evaluation,
            needs=("live_page",) if "program_html" in evaluation["eval_types"] else (),
        ),
        unachievable=evaluation["reference_answers"] == {"exact_match": NOT_ACHIEVABLE},
        metadata={
            "intent_template": row["intent_template"],
            "kind": row["kind"],
            "split": row["split"],
            "held_out_site": row["held_out_site"],
        },
    )


def render(value: Any, urls: Mapping[str, str]) -> Any:
    """`value` with every placeholder in its texts replaced. `urls`: placeholder → address."""
    if isinstance(value, str):
        for placeholder, url in urls.items():
            value = value.replace(placeholder, url)
        return value
    if isinstance(value, list):
        return [render(item, urls) for item in value]
    if isinstance(value, dict):
        return {key: render(item, urls) for key, item in value.items()}
    return value
