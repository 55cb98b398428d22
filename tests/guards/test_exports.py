"""Names that other people's code may import do not vanish by accident: `exports.txt` lists them, module by module.

When this test fails because you meant it: edit exports.txt, and say in CHANGELOG.md what was renamed or removed.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import types
from collections.abc import Iterator
from pathlib import Path

MODULES = (
    "audits.fidelity",
    "audits.metrics.summarise",
    "audits.metrics.summary",
    "audits.records",
    "harness.actions",
    "harness.axtree",
    "harness.completions",
    "harness.errors",
    "harness.policies",
    "harness.predictions",
    "harness.protocols",
    "harness.rollout",
    "harness.runner",
    "harness.scoring.judges",
    "harness.sites",
    "harness.testing",
    "harness.types",
    "results.aggregate",
    "results.compare",
    "results.frames",
    "results.intervals",
    "results.labels",
    "results.manifest",
    "results.outcomes",
    "results.published",
    "results.reader",
    "results.redact",
    "results.report",
    "results.store",
    "results.transitions",
    "training.agent.policy",
    "training.dream",
    "training.models",
    "training.objectives",
    "training.world_model.formats",
    "training.world_model.labels",
    "training.world_model.model",
    "training.world_model.transitions",
)
GOLDEN = Path(__file__).parent / "exports.txt"


def public(module: types.ModuleType) -> set[str]:
    """`__all__`; without one, the public names that the module's own source binds (constants and aliases too, no imports)."""
    declared = getattr(module, "__all__", None)
    return set(declared) if declared is not None else {name for name in _bound(module) if not name.startswith("_")}


def _bound(module: types.ModuleType) -> Iterator[str]:
    for statement in ast.parse(inspect.getsource(module)).body:
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def found() -> list[str]:
    return sorted(f"{name}.{export}" for name in MODULES for export in public(importlib.import_module(name)))


def test_public_names_are_those_listed() -> None:
    listed = GOLDEN.read_text(encoding="utf-8").splitlines()
    assert listed == sorted(set(listed))
    now = found()
    assert not set(listed) - set(now), "gone: see this file's docstring"
    assert not set(now) - set(listed), "new: list them in exports.txt"


def test_every_declared_export_exists() -> None:
    for name in MODULES:
        module = importlib.import_module(name)
        missing = [export for export in public(module) if not hasattr(module, export)]
        assert not missing, name
