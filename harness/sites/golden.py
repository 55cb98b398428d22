"""First states of the applications: built once per contents, code and versions; kept under a name that says so.

key(app)        hash of the world, the application's folder and the pinned requirements
ensure(app)  →  STATE/golden/<app>-<key>/   world.json → apps/<app>/build.py → files/ + manifest.json
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import NotReadyError
from harness.sites.definition import NOW, AppName
from harness.sites.environment import REQUIREMENTS, Environment
from harness.sites.layout import Layout, read_record, write_record
from harness.sites.process import last_lines
from harness.sites.snapshot import Manifest, finish
from harness.types import Record

APPS_FOLDER = Path(__file__).parent / "apps"
BUILD_SECONDS = 600.0
_KEY_CHARS = 16
_LOG_LINES = 15


class Golden(NamedTuple):
    """A first state on disk."""

    name: str
    files: Path
    manifest: Manifest


def world_json(app: AppName) -> str:
    """The contents of an application as its loader reads them. The same text in every process."""
    world = importlib.import_module(f"harness.sites.worlds.{app}").build()
    if isinstance(world, Record):
        return world.model_dump_json()
    return json.dumps(dataclasses.asdict(world), default=_plain, ensure_ascii=False, separators=(",", ":"))


def process_environment() -> dict[str, str]:
    """What the applications' processes see: nothing of the caller's that could change a page."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
    fixed = {"TZ": "UTC", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    return kept | fixed | {"HARNESS_SITES_NOW": NOW}


def current_name(app: AppName, apps_folder: Path = APPS_FOLDER, world: str = "") -> str:
    """What the first state of `app` is called that this code would make today; `world` spares making the contents again."""
    return f"{app}-{_key(apps_folder / app, world or world_json(app))}"


def find(layout: Layout, name: str) -> Golden | None:
    """A finished first state of this name."""
    folder = layout.golden(name)
    manifest = read_record(folder / "manifest.json", Manifest)
    return Golden(name, folder / "files", manifest) if manifest else None


class Builder(NamedTuple):
    """What first states are made with."""

    environment: Environment
    apps_folder: Path
    world: Callable[[AppName], str]

    def script(self, app: AppName, name: str) -> Path:
        """`build.py` or `serve.py` of an application."""
        return self.apps_folder / app / name


def ensure(layout: Layout, builder: Builder, app: AppName, announce: Callable[[], object]) -> Golden:
    """The first state of `app`, built if there is none of this key. Callers hold the state directory's lock."""
    world = builder.world(app)
    name = current_name(app, builder.apps_folder, world)
    if found := find(layout, name):
        return found
    announce()
    return _build(layout, builder, app, world, name)


def _build(layout: Layout, builder: Builder, app: AppName, world: str, name: str) -> Golden:
    final, scratch = layout.golden(name), layout.golden(f".building-{app}")
    for leftover in (final, scratch):
        shutil.rmtree(leftover, ignore_errors=True)
    files = scratch / "files"
    files.mkdir(parents=True)
    world_file, log = scratch / "world.json", layout.goldens / f"{app}-build.log"
    world_file.write_text(world, encoding="utf-8")
    _run_build(
        [str(builder.environment.python), str(builder.script(app, "build.py")), "--world", str(world_file), "--out", str(files)],
        app,
        log,
    )
    # Renamed only when complete: a killed build leaves a scratch folder, never a first state that lacks something.
    write_record(scratch / "manifest.json", finish(files))
    scratch.rename(final)
    golden = find(layout, name)
    assert golden is not None
    return golden


def _run_build(command: list[str], app: AppName, log: Path) -> None:
    try:
        with log.open("wb") as output:
            done = subprocess.run(
                command, stdout=output, stderr=output, env=process_environment(), timeout=BUILD_SECONDS, check=False
            )
        failed = f"exit {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired:
        failed = f"not done after {BUILD_SECONDS:g} s"
    if failed:
        said = "\n".join(["", *(f"  | {line}" for line in last_lines(log, _LOG_LINES))])
        raise NotReadyError(f"the contents of the {app} cannot be built: {failed}{said}", fix=f"the whole log: {log}")


def _key(folder: Path, world: str) -> str:
    digest = hashlib.sha256(world.encode())
    pins = [line.partition("#")[0].strip() for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines()]
    digest.update("\n".join(pins).encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        digest.update(f"\0{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:_KEY_CHARS]


def _plain(value: Any) -> Any:
    """JSON for what dataclasses hold beyond JSON: dates, decimals, enumerations, sets in order."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
