"""Task definitions of the installed packages → `Task` records. No browser, no network, no upstream import.

    webarena           libwebarena           test.raw.json                  812
    webarena-lite      browsergym-webarenalite  test_webarena_lite.raw.json 165; 46 definitions differ from webarena's
    webarena-verified  webarena-verified     webarena-verified.json         812; hard subset 258

Placeholders (`__SHOPPING__`) stay in `start_url` and in the evaluator's spec: a task is the same task on every site set.

`depends_on` is BrowserGym's rule, derived here: tasks of one site run in the order of their ids, because each may
change what the next one sees. A task depends on the latest earlier task of each of its sites; wikipedia is read-only.
For webarena that gives 5 roots and a longest chain of 246.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from harness.benchmarks.webarena.errata import errata_for
from harness.errors import NotReadyError, UsageError
from harness.scoring.webarena_upstream import FIX
from harness.types import EvaluatorSpec, JsonDict, Task

READ_ONLY_SITES = ("wikipedia",)

_FILES = {
    "webarena": ("webarena", "test.raw.json", 812),
    "webarena-lite": ("browsergym.webarenalite", "test_webarena_lite.raw.json", 165),
    "webarena-verified": ("webarena_verified", "assets/dataset/webarena-verified.json", 812),
}
_HARD = "assets/dataset/subsets/webarena-verified-hard.json"


@lru_cache(maxsize=3)
def definitions(benchmark: str) -> dict[str, JsonDict]:
    """task_id → definition as installed. WebArena-Lite is keyed by its `old_task_id`, the id in webarena."""
    package, file, expected = _FILES[benchmark]
    rows = json.loads(_read(package, file))
    found = {str(row.get("old_task_id", row["task_id"])): row for row in rows}
    if len(found) != expected:
        raise NotReadyError(f"{package} holds {len(found)} tasks of {benchmark}, not {expected}", fix=FIX)
    return found


def _read(package: str, file: str) -> str:
    try:
        # find_spec-style access: `browsergym.webarenalite` must not be imported, its __init__ would download nltk data
        parent, _, child = package.rpartition(".")
        root = resources.files(parent).joinpath(child) if parent else resources.files(package)
        return root.joinpath(file).read_text(encoding="utf-8")
    except (ModuleNotFoundError, FileNotFoundError, OSError):
        raise NotReadyError(f"the task file {file} of {package} is not installed", fix=FIX) from None


@lru_cache(maxsize=4)
def load_tasks(benchmark: str, subset: str = "all") -> tuple[Task, ...]:
    """The benchmark's tasks, in the order of their ids. Raises `NotReadyError` without the package."""
    rows = definitions(benchmark)
    if subset == "hard":
        if benchmark != "webarena-verified":
            raise UsageError(f"{benchmark} has no subset 'hard'", fix="use --bench webarena-verified")
        keep = {str(i) for i in json.loads(_read("webarena_verified", _HARD))["task_ids"]}
        rows = {task_id: row for task_id, row in rows.items() if task_id in keep}
    ordered = sorted(rows, key=int)
    parents = dependencies((task_id, rows[task_id]["sites"]) for task_id in ordered)
    convert: Callable[[str, str, Any, tuple[str, ...]], Task] = (
        _verified_task if benchmark == "webarena-verified" else _official_task
    )
    return tuple(convert(benchmark, task_id, rows[task_id], parents[task_id]) for task_id in ordered)


def dependencies(tasks: Iterable[tuple[str, Any]]) -> dict[str, tuple[str, ...]]:
    """task_id → task_ids that must be finished before. `tasks` are (task_id, sites) in the order they should run."""
    latest: dict[str, str] = {}
    result = {}
    for task_id, sites in tasks:
        writable = [site for site in sites if site not in READ_ONLY_SITES]
        result[task_id] = tuple(sorted({latest[s] for s in writable if s in latest}, key=int))
        latest.update(dict.fromkeys(writable, task_id))
    return result


def longest_chain(tasks: Sequence[Task]) -> int:
    """Tasks on the longest path of `depends_on`: what no number of workers on one site set can beat."""
    depth: dict[str, int] = {}
    for task in tasks:
        depth[task.task_id] = 1 + max((depth.get(parent, 0) for parent in task.depends_on), default=0)
    return max(depth.values(), default=0)


def _official_task(benchmark: str, task_id: str, row: Any, depends_on: tuple[str, ...]) -> Task:
    spec = row["eval"]
    references = spec.get("reference_answers") or {}
    pages = spec.get("program_html") or []
    needs = []
    if "fuzzy_match" in references or any("fuzzy_match" in page["required_contents"] for page in pages):
        needs.append("judge")
    if "program_html" in spec["eval_types"]:
        needs.append("live_page")
    return Task(
        benchmark=benchmark,
        task_id=task_id,
        sites=tuple(row["sites"]),
        goal=row["intent"],
        start_url=row["start_url"],
        intent_template_id=str(row["intent_template_id"]),
        evaluator=EvaluatorSpec(kind="+".join(spec["eval_types"]), spec=spec, needs=tuple(needs)),
        depends_on=depends_on,
        require_reset=bool(row["require_reset"]),
        known_problems=tuple(e.text for e in errata_for(benchmark, task_id)),
        unachievable=bool(references) and all(value in ("N/A", ["N/A"]) for value in references.values()),
        metadata={"reference_kinds": list(references), "intent_template": row["intent_template"]},
    )


def _verified_task(benchmark: str, task_id: str, row: Any, depends_on: tuple[str, ...]) -> Task:
    expected = row["eval"][0]["expected"]
    network = len(row["eval"]) > 1
    return Task(
        benchmark=benchmark,
        task_id=task_id,
        sites=tuple(row["sites"]),
        goal=row["intent"],
        start_url=" |AND| ".join(row["start_urls"]),
        intent_template_id=str(row["intent_template_id"]),
        evaluator=EvaluatorSpec(
            kind="response+network" if network else "response",
            spec={"eval": row["eval"], "revision": row["revision"]},
            needs=("network_trace",) if network else (),
        ),
        depends_on=depends_on,
        known_problems=tuple(e.text for e in errata_for(benchmark, task_id)),
        unachievable=expected["status"] != "SUCCESS",
        metadata={"task_type": expected["task_type"], "intent_template": row["intent_template"]},
    )
