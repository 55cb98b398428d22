"""Small grids for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audits.ablation import Grid, Plan, Stages, make_plan
from audits.ablation.fingerprint import fingerprints

DREAM = {"name": "dream", "command": ["write", "{out}", "{base}", "{length}", "{seed}"], "gives": "dreamed"}
REAL = {"name": "real", "command": ["write", "{out}", "{base}", "{seed}"], "gives": "real"}
BASE = {"name": "base", "command": ["write", "{out}", "model", "{seed}"], "writes": ["answer"]}


def grid(*stages: dict[str, Any], **fields: Any) -> Grid:
    data: dict[str, Any] = {
        "name": "g",
        "factor": "dream_length",
        "seeds": [0],
        "levels": {"1": {"length": 1}, "5": {"length": 5}},
        "stages": stages or (BASE, DREAM, REAL),
    }
    return Grid.model_validate({**data, **fields})


def planned(found: Grid, root: Path) -> tuple[Plan, Stages]:
    stages = Stages(root)
    return make_plan(found, fingerprints(found.inputs), stages.directory), stages
