"""What `pip install` would bring: all five packages with their data files, and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import harness
from tests.support.repository import PACKAGES, ROOT, files

DATA = (
    "harness/py.typed",
    "harness/benchmarks/arena/data/manifest.json",
    "harness/benchmarks/arena/state.toml",
    "harness/benchmarks/arena/volatile.toml",
    "harness/benchmarks/miniwob.toml",
    "harness/benchmarks/webarena/errata.toml",
    "harness/policies/prompts/browsergym.md",
    "harness/policies/prompts/dynaweb.md",
    "results/py.typed",
    "results/published/dynaweb.json",
)
"""Files that the code opens at run time, or that other tools look for: losing one breaks an installed copy only."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # The build backend itself, in this environment: no network, no isolation.
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_it_holds_the_packages_whole_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == {str(path) for path in files(*PACKAGES)}
    assert set(DATA) <= names
    assert {name.partition("/")[0] for name in names} == set(PACKAGES)


def test_its_metadata_is_what_the_repository_says(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (folder,) = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
    metadata = archive.read(f"{folder}/METADATA").decode("utf-8")
    assert re.search(r"^Name: dynaweb-harness$", metadata, re.MULTILINE)
    assert re.search(rf"^Version: {re.escape(harness.__version__)}$", metadata, re.MULTILINE)
    assert f"{folder}/licenses/LICENSE" in archive.namelist()
    assert "harness = harness.cli.main:main" in archive.read(f"{folder}/entry_points.txt").decode("utf-8")
    extras = set(re.findall(r"^Provides-Extra: (\S+)$", metadata, re.MULTILINE))
    assert extras == {"webarena", "train", "audit", "dashboard", "vllm", "oracle", "dev"}


def test_an_unpacked_copy_finds_its_data(wheel: Path, tmp_path: Path) -> None:
    """Thresholds, prompts, errata and published numbers are read through the package, not through the checkout."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = (
        "import harness, results.published as published\n"
        "from harness.benchmarks.arena import ArenaBenchmark\n"
        "from harness.benchmarks.arena.state import ignore_list\n"
        "from harness.benchmarks.miniwob import MiniwobBenchmark\n"
        "from harness.benchmarks.webarena.errata import all_errata\n"
        "from harness.completions import EndpointConfig\n"
        "from harness.policies import LlmConfig\n"
        "from harness.policies.prompting import system_prompt\n"
        "prompts = [system_prompt(LlmConfig(endpoint=EndpointConfig(model='m'), prompt=p)) for p in ('dynaweb', 'browsergym')]\n"
        "assert all('{actions}' not in prompt and len(prompt) > 1000 for prompt in prompts)\n"
        "assert len(ArenaBenchmark().tasks()) >= 400 and ignore_list('forum').tables\n"
        "print(harness.__file__, len(MiniwobBenchmark().tasks()), len(published.load_published()), len(all_errata()) > 5)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    where, *counts = done.stdout.split()
    assert Path(where).is_relative_to(tmp_path)
    assert counts == ["125", "1", "True"]
