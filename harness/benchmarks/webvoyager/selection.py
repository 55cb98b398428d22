"""From files to the task set of a run: read, replace texts, resolve dates, exclude. Pure apart from reading.

task file → rows ──→ base hash (filters are checked against it)
    redated file → texts by id
    templates, `dates = "redate"` → goal as the agent reads it; the original stays in metadata
    rules, filters → exclusions
→ Selection(tasks, exclusions, …)
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import NamedTuple

from harness.benchmarks.tasksets import GOAL_TEMPLATE, task_set_hash
from harness.benchmarks.webvoyager.config import WebVoyagerConfig
from harness.benchmarks.webvoyager.data import (
    PINNED_SHA256,
    REFERENCE_FILE,
    Reference,
    Row,
    read_references,
    read_rows,
    sha256_of,
    task_file,
)
from harness.benchmarks.webvoyager.dates import has_template, redate, resolve
from harness.benchmarks.webvoyager.filters import read_filter, unknown_ids
from harness.benchmarks.webvoyager.rules import RULES, apply_rules, find_rule
from harness.types import EvaluatorSpec, Exclusion, JsonDict, Task

NAME = "webvoyager"
REDATE_VERSION = "1"
"""Version of the rule by which `dates = "redate"` moves dates; part of the task-set hash."""


class Selection(NamedTuple):
    """The task set of a run."""

    path: Path
    published: bool
    """The task file is the published one, byte for byte."""
    base_hash: str
    """Of all tasks as written in the file: what filter manifests are bound to."""
    tasks: tuple[Task, ...]
    exclusions: tuple[Exclusion, ...]
    unknown_ids: tuple[str, ...]
    """Ids that filters name and the task file lacks."""


def select(config: WebVoyagerConfig) -> Selection:
    """Raises NotReadyError without the task file, UsageError for a file that is not what it should be."""
    path = task_file(config.data)
    rows = read_rows(path)
    reference_path = path.with_name(REFERENCE_FILE)
    references = read_references(reference_path) if reference_path.is_file() else {}
    all_tasks, missing = tasks_of(rows, config, references)
    base_hash = task_set_hash(base_tasks(rows))
    for rule in config.rules:
        find_rule(rule)
    manifests = [read_filter(filter_path, base_hash) for filter_path in config.filters]
    known = {row.id for row in rows}
    exclusions = [
        *missing,
        *apply_rules(config.rules, [(task.task_id, task.goal) for task in all_tasks], config.run_date),
        *(e for manifest in manifests for e in manifest.exclusions if e.task_id in known),
    ]
    out = {exclusion.task_id for exclusion in exclusions}
    return Selection(
        path=path,
        published=sha256_of(path.read_bytes()) in PINNED_SHA256.values(),
        base_hash=base_hash,
        tasks=tuple(task for task in all_tasks if task.task_id not in out),
        exclusions=tuple(exclusions),
        unknown_ids=tuple(unknown_ids(manifests, sorted(known))),
    )


def base_tasks(rows: list[Row]) -> list[Task]:
    """The tasks as the file has them: unfiltered, texts unresolved. Their hash is what a filter manifest is bound to."""
    return [_task(row, row.ques, {}, "", None) for row in rows]


def tasks_of(rows: list[Row], config: WebVoyagerConfig, references: dict[str, Reference]) -> tuple[list[Task], list[Exclusion]]:
    """Tasks as the agent will read them; and what the re-dated file, if one is configured, leaves out."""
    texts = {row.id: row.ques for row in read_rows(config.redated)} if config.redated else None
    tasks, missing = [], []
    for row in rows:
        text = row.ques if texts is None else texts.get(row.id)
        if text is None:
            reason = f"not in {config.redated.name}" if config.redated else ""
            missing.append(Exclusion(task_id=row.id, rule="redated-file", rule_version="1", reason=reason))
            continue
        goal, metadata = _goal(row.ques, text, config.dates == "redate", config.run_date)
        tasks.append(_task(row, goal, metadata, config.judge_protocol, references.get(row.id), config.run_date))
    return tasks, missing


def _goal(original: str, text: str, move_past_dates: bool, run_date: date) -> tuple[str, JsonDict]:
    """The goal with its dates resolved, and what must be stored to know how it came about."""
    metadata: JsonDict = {}
    goal = resolve(text, run_date) if has_template(text) else text
    template = text
    if move_past_dates and RULES["past-dates"].find(goal, run_date):
        goal = redate(goal, run_date)
        template = f"{{{{redate v{REDATE_VERSION}}}}} {text}"
    if template != goal:
        metadata[GOAL_TEMPLATE] = template
    if goal != original:
        metadata["original_goal"] = original
        metadata["run_date"] = run_date.isoformat()
    return goal, metadata


def _task(
    row: Row,
    goal: str,
    metadata: JsonDict,
    protocol: str,
    reference: Reference | None,
    run_date: date | None = None,
) -> Task:
    spec: JsonDict = {"protocol": protocol}
    if reference is not None:
        spec["reference_answer"], spec["reference_type"] = reference.answer, reference.type
    hits = [f"{rule.id}: {reason}" for rule in RULES.values() if run_date and (reason := rule.find(goal, run_date))]
    return Task(
        benchmark=NAME,
        task_id=row.id,
        sites=(row.web_name,),
        goal=goal,
        start_url=row.web,
        evaluator=EvaluatorSpec(kind="judge", spec=spec, needs=("judge",)),
        known_problems=tuple(hits),
        metadata=metadata,
    )
