"""Sites whose applications are a page of Python: everything about servers and files is real, and a start takes 0.2 s."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from harness.sites import catalog
from harness.sites.environment import Environment
from harness.sites.instances import Sites
from harness.sites.records import InstanceSet

TOY = Path(__file__).parent / "toy"
SHOP = (catalog.APPS["shop"],)
NOTES = ("one", "two", "three")


class ThisPython(Environment):
    """An environment that needs no installation: the interpreter of the tests."""

    @property
    def python(self) -> Path:
        return Path(sys.executable)

    def problem(self) -> str:
        return ""


class ToySites(Sites):
    """Sites of toy applications, with what a test does to them from outside."""

    def __init__(self, folder: Path, first_port: int) -> None:
        self.folder = folder
        self.world = {"notes": list(NOTES)}
        for app in catalog.APPS:
            shutil.copytree(TOY, folder / "apps" / app, dirs_exist_ok=True)
        super().__init__(
            folder / "state",
            ThisPython(),
            first_port=first_port,
            apps_folder=folder / "apps",
            world=lambda _: json.dumps(self.world),
        )

    def twin(self) -> ToySites:
        """Another command on the same state directory."""
        return ToySites(self.folder, self._first_port)


def get(found: InstanceSet, path: str) -> str:
    """A page of the toy shop, as text. Raises for anything but 200."""
    shop = found.app("shop")
    answer = httpx.get(f"http://127.0.0.1:{shop.port}{path}", headers={"Host": f"{shop.app.hostname}:{shop.port}"}, timeout=20)
    return answer.raise_for_status().text


def notes(found: InstanceSet) -> tuple[str, ...]:
    return tuple(get(found, "/notes").splitlines())


@pytest.fixture
def first_port() -> int:
    """A port that is free now; the ones that follow it very likely are too."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def toy(tmp_path: Path, first_port: int) -> Iterator[ToySites]:
    sites = ToySites(tmp_path, first_port)
    yield sites
    sites.down(tuple(catalog.APPS.values()))
