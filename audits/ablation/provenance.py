"""Which processes made a grid's numbers: its stages' records in one small file, without a place on the machine that ran them.

`stages.json` stands beside `ablation.json`, so that a grid's directory says by itself what it came from, and can be kept or
published alone. Of a merged grid it holds `parts`: those of the grids that were merged, one after another.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audits.ablation.plan import Plan
from audits.ablation.records import StageRecord, Stages
from harness.errors import UsageError

PROVENANCE = "stages.json"


def provenance(plan: Plan, stages: Stages) -> dict[str, Any]:
    """The grid as its file says it, inputs as hashes of their content, and each stage that was begun: key, commit, time, end."""
    users = plan.users()
    environments: list[dict[str, Any]] = []
    listed = []
    for stage_id in plan.stages:
        record = stages.record(stage_id)
        if record is not None:
            where = record.environment.model_dump(mode="json", exclude={"commit", "dirty"})
            if where not in environments:
                environments.append(where)
            listed.append({**_about(record), "cells": users[stage_id], "environment": environments.index(where)})
    return {
        "schema_version": 1,
        "grid": plan.grid.model_dump(mode="json", exclude={"inputs"}),
        "inputs": dict(plan.fingerprints),
        "environments": environments,
        "stages": listed,
    }


def read_provenance(path: Path) -> dict[str, Any]:
    """Raises `UsageError` if the file is not there or not one of these."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}", fix="run the ablation again: it resumes") from None
    if not isinstance(found, dict) or not ({"stages", "parts"} & found.keys()):
        raise UsageError(f"{path} says nothing of stages", fix="run the ablation again: it resumes")
    return found


def joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of several grids that were merged; one that was merged before brings its parts."""
    return {"schema_version": 1, "parts": [one for part in parts for one in part.get("parts", [part])]}


def _about(record: StageRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "key": record.key,
        "state": record.state,
        "commit": record.environment.commit,
        "uncommitted_changes": record.environment.dirty,
        "started_at": record.attempts[0].started_at,
        "attempts": len(record.attempts),
        "seconds": round(record.seconds, 1),
        "exit_code": record.attempts[-1].exit_code,
    }
