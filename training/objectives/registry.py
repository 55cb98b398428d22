"""Name → method. A new method is a file in training/objectives/methods and a line here."""

from __future__ import annotations

from typing import Any

from harness.errors import UsageError
from harness.settings import validated
from training.objectives.config import ObjectiveConfig
from training.objectives.methods.dynaweb import DYNAWEB

METHODS: dict[str, ObjectiveConfig] = {method.name: method for method in (DYNAWEB,)}
"""Treat as read-only."""


def get_objective(name: str, **changes: Any) -> ObjectiveConfig:
    """The preset `name`, with fields replaced; a table (`clip={"low": 0.1}`) replaces only what it names. Raises UsageError."""
    if name not in METHODS:
        raise UsageError(f"there is no objective {name!r}", fix=f"objectives: {', '.join(sorted(METHODS))}")
    data = METHODS[name].model_dump()
    for key, value in changes.items():
        data[key] = {**data[key], **value} if isinstance(data.get(key), dict) and isinstance(value, dict) else value
    return validated(ObjectiveConfig, data, source=f"objective {name}", fix="see docs/objectives/")
