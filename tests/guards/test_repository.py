"""What must not be in a repository that other people clone: places and hosts of the machine it was written on, loose ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import harness
from audits.ablation import read_grid
from harness.config import RunConfig, read_config
from harness.policies import load_policy_config
from tests.support.repository import PACKAGES, ROOT, files, text_of
from training.agent.config import load_agent_config
from training.agent.sft_config import read_sft_config
from training.world_model.sft.config import read_config as read_world_model_config

MAX_LINES = 400
PUBLIC_HOSTS = {"pypi.org", "files.pythonhosted.org", "download.pytorch.org", "localhost", "127.0.0.1"}
SYSTEM_FOLDERS = {"", "app", "home", "mnt", "opt", "root", "srv", "tmp", "usr", "var", "workspace"}


def machine_places() -> re.Pattern[str]:
    """Home folders, installed packages, named folders in the temporary one, this checkout, and the folder that it lies in."""
    # Written so that this file does not hold what it looks for.
    places = [r"/home/\w+/", r"/Users/\w+/", "/roo" + "t/", "site-" + "packages/", r"/tmp/[a-z]+/", re.escape(f"{ROOT}/")]
    if ROOT.parent.name not in SYSTEM_FOLDERS:
        places.append(re.escape(f"{ROOT.parent}/"))
    return re.compile("|".join(places))


def index_hosts() -> set[str]:
    """Hosts that this machine installs packages from, other than the public ones."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    told += "\n".join(value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_")))
    hosts = {urlsplit(url).hostname or "" for url in re.findall(r"https?://[^\s'\",\]]+", told)}
    return hosts - PUBLIC_HOSTS - {""}


def lines() -> Iterator[tuple[str, str]]:
    """(place, line) of every text file."""
    for path in files():
        for number, line in enumerate((text_of(path) or "").splitlines(), start=1):
            yield f"{path}:{number}", line


def test_no_place_of_a_machine_is_written_down() -> None:
    pattern = machine_places()
    assert [place for place, line in lines() if pattern.search(line) and not place.startswith(".gitignore")] == []


def test_no_private_package_index_is_written_down() -> None:
    hosts = index_hosts()
    assert [place for place, line in lines() if any(host in line for host in hosts)] == []


@pytest.mark.parametrize("place", ["/ho" + "me/me/x", "/tm" + "p/build/x", "lib/site-" + "packages/x", str(ROOT / "x")])
def test_the_pattern_finds_what_it_is_for(place: str) -> None:
    assert machine_places().search(f"see {place}")


def test_nothing_is_left_for_later() -> None:
    later = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error")) + r")\b")
    assert [place for place, line in lines() if place.partition(":")[0].endswith(".py") and later.search(line)] == []


def test_no_file_is_longer_than_one_purpose() -> None:
    long = {str(path): count for path in files("*.py") if (count := len((text_of(path) or "").splitlines())) > MAX_LINES}
    assert long == {}


def test_every_module_of_the_product_says_what_it_is() -> None:
    bare = []
    for path in files(*(f"{package}/*.py" for package in PACKAGES)):
        text = (text_of(path) or "").lstrip()
        if text and not text.startswith('"""'):
            bare.append(str(path))
    assert bare == []


@pytest.mark.parametrize("path", files("configs/*.toml", "examples/*.toml"), ids=str)
def test_every_configuration_file_is_valid(path: Path) -> None:
    if path.parts[:2] == ("configs", "policies"):
        assert load_policy_config(str(ROOT / path)).name
        return
    if path.parts[:2] == ("configs", "world_model") or (path.name == "world_model.toml" and path.parent.name == "demo"):
        assert read_world_model_config(ROOT / path).preset
        return
    if path.parts[:2] == ("configs", "agent"):
        assert (read_sft_config if path.stem.partition("-")[0] == "sft" else load_agent_config)(ROOT / path)
        return
    if path.parts[:3] == ("configs", "ablations", "common"):
        grids = [grid.read_text() for grid in (ROOT / "configs" / "ablations").glob("*.toml")]
        assert any(f'extends = "common/{path.name}"' in grid for grid in grids), "it is checked with the grids that extend it"
        return
    if path.parts[:2] == ("configs", "ablations"):
        assert read_grid(ROOT / path).name == path.stem
        return
    config = read_config(ROOT / path, {})
    assert isinstance(config, RunConfig)
    assert config.explicit(), "a file that says nothing is no example"


def test_the_version_is_one() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^version: {re.escape(harness.__version__)}$", citation, re.MULTILINE)
    assert re.search(rf"^## \[{re.escape(harness.__version__)}\]", changes, re.MULTILINE)
    assert tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dynamic"] == ["version"]
