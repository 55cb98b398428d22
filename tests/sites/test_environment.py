"""The applications' own environment: complete, or plainly not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from harness.errors import NotReadyError
from harness.sites import environment
from harness.sites.environment import REQUIREMENTS, Environment


@pytest.fixture
def nothing_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A requirements file without a requirement: an installation that needs no package index."""
    path = tmp_path / "requirements.txt"
    path.write_text("# none\n")
    monkeypatch.setattr(environment, "REQUIREMENTS", path)
    return path


def test_it_is_installed_once_and_again_when_the_pins_change(tmp_path: Path, nothing_to_install: Path) -> None:
    home = Environment(tmp_path / "venv")
    assert home.problem() == "venv is not installed"
    with pytest.raises(NotReadyError, match="not installed") as caught:
        home.require()
    assert caught.value.fix == "harness sites install"
    assert home.install() is True
    assert home.python.exists() and home.problem() == ""
    home.require()
    assert home.install() is False
    nothing_to_install.write_text("# reworded\n\n")
    assert home.problem() == ""
    nothing_to_install.write_text(f"--no-index\n# {sys.version}\n")
    assert home.problem() == "venv was installed from other requirements"


def test_an_interrupted_installation_is_taken_up_again(tmp_path: Path, nothing_to_install: Path) -> None:
    home = Environment(tmp_path / "venv")
    home.install()
    (home.folder / ".installed").unlink()
    assert "interrupted" in home.problem()
    assert home.install() is True


def test_a_package_that_cannot_be_had_is_one_line(tmp_path: Path, nothing_to_install: Path) -> None:
    nothing_to_install.write_text("--no-index\nno-such-distribution==0\n")
    home = Environment(tmp_path / "venv")
    with pytest.raises(NotReadyError, match=r"cannot install the applications: .") as caught:
        home.install()
    assert "\n" not in str(caught.value)
    assert "-r" in caught.value.fix
    assert "interrupted" in home.problem()


def test_every_package_is_pinned() -> None:
    lines = [line.partition("#")[0].strip() for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines()]
    pins = [line for line in lines if line]
    assert len(pins) > 20
    assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][\w.]*", pin)] == []
    assert not [pin for pin in pins if "multipart" in pin]
