"""Instance sets: bring up, take down, set back, look.

    up ──► golden.ensure ──► snapshot.restore ──► process.start ──► health.wait        under STATE/lock
    reset ───────────────────► snapshot.restore, the server runs on                     under the instance's lock
    running_sets(state_dir), reset(set, sites)                                          what a benchmark uses

A server that has not been found dead is never restarted, and nothing is stopped that was not started here.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness.errors import NotReadyError, SiteError, UsageError
from harness.sites import golden, health, process, snapshot
from harness.sites.catalog import APPS, SITES, apps_of
from harness.sites.definition import AppDefinition, AppName
from harness.sites.environment import Environment
from harness.sites.layout import DEFAULT_STATE, Layout, Place, explained, locked, read_record, write_record
from harness.sites.records import AppInstance, AppStatus, Condition, InstanceSet, PlaceState

FIRST_PORT = 8100
PORTS_PER_SET = 10
PORT_STEP = 100
"""A taken port is replaced by the one this much higher."""
PORT_TRIES = 20
MAX_SETS = 32
START_SECONDS = 60.0
COMMAND_LOCK_SECONDS = 900.0
"""How long one command waits for another: long enough for a first `up`."""
RESET_LOCK_SECONDS = 60.0
_LOG_LINES = 15

Say = Callable[[str], object]
"""Takes a line for the person who waits."""


class _Starting(NamedTuple):
    app: AppDefinition
    place: Place
    server: process.Server


class Sites:
    """The sites of one state directory. `apps_folder` and `world` say how applications are made; tests bring their own."""

    def __init__(
        self,
        state_dir: Path = DEFAULT_STATE,
        environment: Environment | None = None,
        *,
        first_port: int = FIRST_PORT,
        apps_folder: Path = golden.APPS_FOLDER,
        world: Callable[[AppName], str] = golden.world_json,
    ) -> None:
        self.layout = Layout(state_dir)
        self._builder = golden.Builder(environment or Environment(), apps_folder, world)
        self._first_port = first_port

    def up(self, apps: Sequence[AppDefinition], instances: int = 1, say: Say = str) -> tuple[InstanceSet, ...]:
        """Bring `instances` sets of `apps` up, from their first state; what is healthy already is left as it is.

        Raises NotReadyError with the end of the server's log when one does not become healthy; it is stopped again.
        """
        if not 1 <= instances <= MAX_SETS:
            raise UsageError(f"{instances} instance sets: between 1 and {MAX_SETS}", fix="harness sites up --instances 2")
        with explained(self.layout.root), locked(self.layout.lock, COMMAND_LOCK_SECONDS):
            self._builder.environment.require()
            firsts = self._firsts(apps, say)
            starting: list[_Starting] = []
            try:
                for index in range(instances):
                    for app in apps:
                        if begun := self._begin(index, app, firsts[app.name], say):
                            starting.append(begun)
                self._await(starting)
            except BaseException:  # Ctrl-C too: a server that nobody waited for is not left behind
                for _, place, server in starting:
                    process.stop(server, place.data)
                    place.server.unlink(missing_ok=True)
                raise
            self._prune(firsts.values())
        return tuple(found for found in running_sets(self.layout.root) if found.index < instances)

    def down(self, apps: Sequence[AppDefinition], instance: int | None = None) -> list[str]:
        """Stop what was started here. Returns a line for each server, also for one that had died by itself."""
        told = []
        with explained(self.layout.root), locked(self.layout.lock, COMMAND_LOCK_SECONDS):
            for index, app, place in self._places(apps, instance):
                if server := read_record(place.server, process.Server):
                    ended = "stopped" if process.stop(server, place.data) else "had ended already"
                    told.append(f"{app.name} of set {index}: {ended}")
                place.server.unlink(missing_ok=True)
        return told

    def reset(self, apps: Sequence[AppDefinition], instance: int | None = None) -> dict[tuple[int, AppName], int]:
        """Set running applications back. Returns (set, application) → reset epoch. Raises SiteError for a dead server."""
        found = [
            (index, app, place) for index, app, place in self._places(apps, instance) if read_record(place.server, process.Server)
        ]
        if not found:
            raise SiteError("none of these sites is up", kind="site_down", fix="harness sites up")
        return {(index, app.name): self._reset(index, app, place) for index, app, place in found}

    def status(self) -> tuple[AppStatus, ...]:
        """How every application of every set does, asked now."""
        return tuple(self._status(index, app, place) for index, app, place in self._places(tuple(APPS.values()), None))

    def log(self, app: AppDefinition, instance: int, lines: int) -> list[str]:
        """The end of a server's log."""
        return process.last_lines(self.layout.place(instance, app.name).log, lines)

    def _places(self, apps: Sequence[AppDefinition], instance: int | None) -> list[tuple[int, AppDefinition, Place]]:
        known = self.layout.instances()
        if instance is not None and instance not in known:
            raise UsageError(f"there is no instance set {instance}", fix=f"sets: {', '.join(map(str, known)) or 'none yet'}")
        chosen = known if instance is None else (instance,)
        places = [(index, app, self.layout.place(index, app.name)) for index in chosen for app in apps]
        return [(index, app, place) for index, app, place in places if place.folder.is_dir()]

    def _firsts(self, apps: Sequence[AppDefinition], say: Say) -> dict[AppName, golden.Golden]:
        """The first state of each application; those that are missing are made side by side."""

        def ensure(app: AppDefinition) -> golden.Golden:
            announce = partial(say, f"{app.name}: making its contents (once)")
            return golden.ensure(self.layout, self._builder, app.name, announce)

        with ThreadPoolExecutor(len(APPS)) as pool:
            return dict(zip((app.name for app in apps), pool.map(ensure, apps), strict=True))

    def _begin(self, index: int, app: AppDefinition, first: golden.Golden, say: Say) -> _Starting | None:
        """Start a server on a first state, unless a healthy one of the same contents is there."""
        place = self.layout.place(index, app.name)
        if server := read_record(place.server, process.Server):
            why = self._unfit(app, place, server, first)
            if not why:
                return None
            say(f"{app.name} of set {index}: {why}, is started anew")
            process.stop(server, place.data)
        with locked(place.lock, RESET_LOCK_SECONDS):
            self._restore(place, first)
        port = self._port(index, app, place, say)
        command = [
            *(str(self._builder.environment.python), str(self._builder.script(app.name, "serve.py"))),
            *("--data", str(place.data), "--port", str(port), "--host", "127.0.0.1"),
        ]
        begun = process.start(command, port=port, log=place.log, environment=golden.process_environment())
        try:
            write_record(place.server, begun)
        except BaseException:  # a full disk, Ctrl-C: nobody would know of it
            process.stop(begun, place.data)
            raise
        return _Starting(app, place, begun)

    def _unfit(self, app: AppDefinition, place: Place, server: process.Server, first: golden.Golden) -> str:
        """Why a server that was started earlier cannot stay; empty if it can."""
        state = read_record(place.state, PlaceState)
        if not process.alive(server, place.data):
            return "had ended"
        if state is None or state.golden != first.name:
            return "has other contents"
        return health.problem(app, server.port)

    def _port(self, index: int, app: AppDefinition, own: Place, say: Say) -> int:
        """The set's port for this application, or a free one above it; not one that another set was given."""
        others = [place for _, _, place in self._places(tuple(APPS.values()), None) if place.folder != own.folder]
        given = {server.port for place in others if (server := read_record(place.server, process.Server))}
        wanted = self._first_port + index * PORTS_PER_SET + app.port_offset
        for port in range(wanted, wanted + PORT_TRIES * PORT_STEP, PORT_STEP):
            if port not in given and health.is_free(port):
                if port != wanted:
                    say(f"{app.name} of set {index}: port {wanted} is taken, uses {port}")
                return port
        raise NotReadyError(f"port {wanted} and {PORT_TRIES - 1} above it are taken", fix="harness sites up --port N")

    def _await(self, starting: Sequence[_Starting]) -> None:
        for app, place, server in starting:
            why = health.wait(app, server.port, START_SECONDS, partial(process.alive, server, place.data))
            if why:
                said = "\n".join(["", *(f"  | {line}" for line in process.last_lines(place.log, _LOG_LINES))])
                raise NotReadyError(f"{app.name} did not start: {why}{said}", fix=f"the whole log: {place.log}")

    def _reset(self, index: int, app: AppDefinition, place: Place) -> int:
        server, state = read_record(place.server, process.Server), read_record(place.state, PlaceState)
        name = f"{app.name} of set {index}"
        if server is None or state is None or not process.alive(server, place.data):
            raise SiteError(f"{name} is dead", kind="site_down", fix=f"harness sites up {app.name}")
        first = golden.find(self.layout, state.golden)
        if first is None:
            raise SiteError(f"the first state of {name} is gone", kind="site_down", fix="harness sites down, then up")
        try:
            with explained(self.layout.root), locked(place.lock, RESET_LOCK_SECONDS):
                return self._restore(place, first)
        except NotReadyError as error:
            raise SiteError(f"{name} cannot be reset: {error}", kind="reset_failed", fix=error.fix) from error

    def _restore(self, place: Place, first: golden.Golden) -> int:
        """Set the files back and count it. Callers hold the place's lock."""
        snapshot.restore(first.files, first.manifest, place.data)
        state = read_record(place.state, PlaceState)
        epoch = state.reset_epoch + 1 if state else 1
        write_record(place.state, PlaceState(golden=first.name, reset_epoch=epoch))
        return epoch

    def _status(self, index: int, app: AppDefinition, place: Place) -> AppStatus:
        server, state = read_record(place.server, process.Server), read_record(place.state, PlaceState)
        condition, detail = _condition(app, place, server)
        return AppStatus(
            instance=index,
            app=app.name,
            sites=tuple(site.name for site in SITES.values() if site.app == app.name),
            condition=condition,
            url=f"http://{app.hostname}:{server.port}" if server else "",
            pid=server.pid if server else 0,
            reset_epoch=state.reset_epoch if state else 0,
            memory_mb=round(process.memory_bytes(server, place.data) / 1e6, 1) if server else 0.0,
            detail=detail,
        )

    def _prune(self, current: Iterable[golden.Golden]) -> None:
        """Remove first states of these applications that nobody uses any more: contents or code have changed since."""
        names = {first.name for first in current}
        states = (read_record(place.state, PlaceState) for _, _, place in self._places(tuple(APPS.values()), None))
        used = names | {state.golden for state in states if state}
        apps = {name.rpartition("-")[0] for name in names}
        for path in self.layout.goldens.iterdir():
            if path.is_dir() and path.name not in used and path.name.rpartition("-")[0] in apps:
                shutil.rmtree(path, ignore_errors=True)


def running_sets(state_dir: Path = DEFAULT_STATE) -> tuple[InstanceSet, ...]:
    """Instance sets with at least one living server, in order. Looks at processes, asks no server."""
    layout = Layout(state_dir)
    sets = []
    for index in layout.instances():
        found = {app.name: instance for app in APPS.values() if (instance := _running(layout, index, app))}
        if found:
            sets.append(InstanceSet(index=index, state_dir=layout.root, apps=found))
    return tuple(sets)


def reset(instance_set: InstanceSet, sites: Iterable[str]) -> dict[AppName, int]:
    """Set the applications behind `sites` back. Returns application → new reset epoch. Raises SiteError."""
    told = Sites(instance_set.state_dir).reset(apps_of(sites), instance_set.index)
    return {app: epoch for (_, app), epoch in told.items()}


def reset_epochs(instance_set: InstanceSet) -> dict[AppName, int]:
    """Application → how often its files have been set to a first state."""
    layout = Layout(instance_set.state_dir)
    states = {app: read_record(layout.place(instance_set.index, app).state, PlaceState) for app in instance_set.apps}
    return {app: state.reset_epoch for app, state in states.items() if state}


def _running(layout: Layout, index: int, app: AppDefinition) -> AppInstance | None:
    place = layout.place(index, app.name)
    server, state = read_record(place.server, process.Server), read_record(place.state, PlaceState)
    if server is None or state is None or not process.alive(server, place.data):
        return None
    files = layout.golden(state.golden) / "files"
    return AppInstance(app=app, port=server.port, pid=server.pid, data=place.data, golden=files)


def _condition(app: AppDefinition, place: Place, server: process.Server | None) -> tuple[Condition, str]:
    if server is None:
        return "down", "stopped"
    if not process.alive(server, place.data):
        return "dead", "the server has ended: see `harness sites logs`, then `harness sites up`"
    why = health.problem(app, server.port)
    return ("silent", why) if why else ("up", "")
