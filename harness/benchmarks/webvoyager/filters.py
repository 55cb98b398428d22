"""Filters as data: which tasks are left out, by which rule, why, and of which task set.

    rules (rules.py)  ─┐
    probe (probe.py)  ─┼→ FilterManifest (JSON: name, task-set hash, one Exclusion per task and rule) ─→ WebVoyagerConfig.filters
    published list    ─┘   a JSON list of task ids, or an object {task id: reason}

A manifest that was made for another task set is refused: its reasons are about other texts or other start pages.
A published list has no hash; its rule is `list:<file stem>` and its version the start of the file's sha256.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from harness.benchmarks.webvoyager.data import read_json, sha256_of
from harness.errors import UsageError
from harness.types import Exclusion, JsonDict, Record


class FilterManifest(Record):
    """One filter, as stored. `task_set_hash` is of the whole set before any filter (empty for published lists)."""

    schema_name: Literal["dynaweb-harness/filter"] = "dynaweb-harness/filter"
    schema_version: Literal[1] = 1
    name: str
    task_set_hash: str = ""
    created_at: str = ""
    """ISO 8601, UTC."""
    exclusions: tuple[Exclusion, ...] = ()
    details: JsonDict = Field(default_factory=dict)
    """What the maker wants to keep: a probe's findings per start URL."""


def read_filter(path: Path, task_set_hash: str) -> FilterManifest:
    """A manifest or a published list. UsageError if it is neither, or belongs to another task set."""
    content = read_json(path)
    if isinstance(content, dict) and "schema_name" in content:
        return _manifest(content, path, task_set_hash)
    if isinstance(content, list) and all(isinstance(task_id, str) for task_id in content):
        reasons = dict.fromkeys(content, f"listed in {path.name}")
    elif isinstance(content, dict) and all(isinstance(reason, str) for reason in content.values()):
        reasons = {task_id: reason or f"listed in {path.name}" for task_id, reason in content.items()}
    else:
        raise UsageError(
            f"{path} is not a filter",
            fix="give a filter manifest, a JSON list of task ids, or an object {task id: reason}",
        )
    version = sha256_of(path.read_bytes())[:12]
    return FilterManifest(
        name=path.stem,
        exclusions=tuple(
            Exclusion(task_id=task_id, rule=f"list:{path.stem}", rule_version=version, reason=reason)
            for task_id, reason in reasons.items()
        ),
    )


def write_filter(manifest: FilterManifest, path: Path) -> None:
    """Write a manifest for people to read and `read_filter` to load."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.part")
        temporary.write_text(json.dumps(manifest.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n", "utf-8")
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", fix="choose another path") from error


def excluded_ids(exclusions: Iterable[Exclusion]) -> frozenset[str]:
    return frozenset(exclusion.task_id for exclusion in exclusions)


def unknown_ids(manifests: Iterable[FilterManifest], known: Sequence[str]) -> list[str]:
    """Ids that filters name and the task set lacks: a sign of a wrong file, or of a list for a larger set."""
    return sorted({e.task_id for manifest in manifests for e in manifest.exclusions} - set(known))


def _manifest(content: dict[str, Any], path: Path, task_set_hash: str) -> FilterManifest:
    try:
        manifest = FilterManifest.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{path} is not a filter manifest: {where}: {first['msg']}", fix="make it again") from error
    if manifest.task_set_hash and manifest.task_set_hash != task_set_hash:
        raise UsageError(
            f"filter {path} was made for task set {manifest.task_set_hash[:12]}, this one is {task_set_hash[:12]}",
            fix="make the filter again from this task file",
        )
    return manifest
