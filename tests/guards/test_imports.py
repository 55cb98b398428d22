"""Imports only point down. A contract that cannot fail proves nothing, so each is also seen failing on a planted violation."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.repository import PACKAGES, ROOT

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]

PLANTED = {
    "harness/types.py": "import harness.runner",
    "harness/envs/settle.py": "import harness.policies",
    "harness/cli/fetch.py": "import results.reader",
    "results/text.py": "import training",
    "harness/axtree/tree.py": "import pandas",
    "dashboards/__init__.py": "import vllm",
}
"""File → a line that is appended to it. All of them are wrong but that of harness.cli, which may import everything."""

BROKEN = (
    "harness.types is not allowed to import harness.runner",
    "harness.envs is not allowed to import harness.policies",
    "results is not allowed to import training",
    "harness.axtree is not allowed to import pandas",
    "dashboards is not allowed to import vllm",
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The packages and their contracts, to do harm to."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(directory: Path) -> subprocess.CompletedProcess[str]:
    """import-linter in `directory`, whose packages come before the installed ones."""
    program = "from importlinter.cli import lint_imports_command as command; command()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"], cwd=directory, capture_output=True, text=True, check=False
    )


def test_the_contracts_hold(copy: Path) -> None:
    done = lint(copy)
    assert done.returncode == 0, done.stdout
    assert f"{len(CONTRACTS)} kept, 0 broken" in done.stdout


def test_every_contract_fails_on_a_planted_violation(copy: Path) -> None:
    for name, line in PLANTED.items():
        path = copy / name
        path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    done = lint(copy)
    assert done.returncode == 1
    assert f"0 kept, {len(CONTRACTS)} broken" in done.stdout
    printed = " ".join(done.stdout.split())
    for violation in BROKEN:
        assert violation in printed
    assert "harness.cli is not allowed" not in printed


def test_every_module_has_a_layer() -> None:
    """A module that no contract names would be free to import anything."""
    (layers,) = (contract["layers"] for contract in CONTRACTS if contract["type"] == "layers")
    named = {module.strip() for layer in layers for module in layer.split("|")}
    children = {path for path in (ROOT / "harness").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    modules = {f"harness.{path.stem}" for path in children if path.stem != "__init__"}
    assert named == modules | (set(PACKAGES) - {"harness"})
