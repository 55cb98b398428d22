"""What goes wrong on real machines: each case ends in one clear line or in recovery, and never in harm to others."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import psutil
import pytest

from harness.errors import NotReadyError, SiteError
from harness.sites import health, instances, layout, process, snapshot
from harness.sites.instances import reset, running_sets
from harness.types import Record
from tests.sites.conftest import NOTES, SHOP, ToySites, get, notes
from tests.support import disk


@pytest.fixture
def stranger(toy: ToySites, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """Somebody else's process; one that looks into our files has their path on its command line, as a server of ours has."""
    looks = [str(toy.layout.place(0, "shop").data)] if request.param == "looks into our files" else []
    with subprocess.Popen([sys.executable, "-c", "input()", *looks], stdin=subprocess.PIPE) as other:
        yield other
        assert other.poll() is None, "it was stopped"
        other.kill()


def test_a_port_that_is_taken_is_passed_over(toy: ToySites, first_port: int) -> None:
    said: list[str] = []
    with socket.create_server(("127.0.0.1", first_port)):
        (found,) = toy.up(SHOP, say=said.append)
        assert found.app("shop").port == first_port + instances.PORT_STEP
        assert notes(found) == NOTES
    assert f"shop of set 0: port {first_port} is taken, uses {first_port + instances.PORT_STEP}" in said


def test_a_port_taken_everywhere_is_an_error(toy: ToySites, monkeypatch: pytest.MonkeyPatch, first_port: int) -> None:
    monkeypatch.setattr(instances, "PORT_TRIES", 1)
    with socket.create_server(("127.0.0.1", first_port)), pytest.raises(NotReadyError, match=f"port {first_port}") as caught:
        toy.up(SHOP)
    assert "--port" in caught.value.fix
    assert running_sets(toy.layout.root) == ()


def test_a_server_of_someone_else_is_not_taken_for_ours(toy: ToySites) -> None:
    """Another program that answers 200 on the port: it has the wrong page, or our process is gone."""
    (found,) = toy.up(SHOP)
    port = found.app("shop").port
    other = found.app("shop").app.model_copy(update={"health_text": "a word that is not there"})
    assert "is not the shop" in health.problem(other, port)
    assert health.wait(found.app("shop").app, port, 5, lambda: False) == "the server ended while starting"


@pytest.mark.parametrize(
    ("stranger", "same_moment"),
    [("elsewhere", True), ("elsewhere", False), ("looks into our files", False)],
    indirect=["stranger"],
)
def test_a_stale_pid_is_never_killed(toy: ToySites, stranger: subprocess.Popen[bytes], same_moment: bool) -> None:
    """server.json names a pid that now belongs to another process: even one that started at that very moment."""
    (found,) = toy.up(SHOP)
    place = toy.layout.place(0, "shop")
    real = layout.read_record(place.server, process.Server)
    assert real is not None
    process.stop(real, place.data)
    moment = process._started(psutil.Process(stranger.pid)) if same_moment else real.started - 3600
    layout.write_record(place.server, process.Server(pid=stranger.pid, started=moment, port=real.port))
    assert [line.condition for line in toy.status()] == ["dead"]
    assert running_sets(toy.layout.root) == ()
    with pytest.raises(SiteError, match="shop of set 0 is dead"):
        reset(found, ["shop"])
    assert toy.twin().up(SHOP)[0].app("shop").pid != stranger.pid
    layout.write_record(place.server, process.Server(pid=stranger.pid, started=moment, port=real.port))
    assert toy.down(SHOP) == ["shop of set 0: had ended already"]
    # The server that `up` started above lost its record to this test.
    for other in psutil.process_iter(["cmdline"]):
        if other.pid != stranger.pid and str(place.data) in (other.info["cmdline"] or ()):
            other.kill()


@pytest.mark.parametrize("content", [b"", b"{", b'{"pid": "me"}', b"\xff\x00", b'{"pid": 1, "started": 0, "port": 80}'])
def test_a_damaged_server_file_hurts_nobody(toy: ToySites, content: bytes) -> None:
    toy.up(SHOP)
    toy.down(SHOP)
    toy.layout.place(0, "shop").server.write_bytes(content)
    assert running_sets(toy.layout.root) == ()
    toy.down(SHOP)
    assert notes(toy.up(SHOP)[0]) == NOTES


def test_a_killed_server_is_seen_and_comes_back_in_its_first_state(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    get(found, "/add/four")
    os.kill(found.app("shop").pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(found.app("shop").pid)], timeout=5)
    (line,) = toy.status()
    assert line.condition == "dead" and "harness sites up" in line.detail
    with pytest.raises(SiteError, match="is dead") as caught:
        reset(found, ["shop"])
    assert caught.value.fix == "harness sites up shop"
    said: list[str] = []
    (again,) = toy.up(SHOP, say=said.append)
    assert notes(again) == NOTES
    assert said == ["shop of set 0: had ended, is started anew"]


def test_a_server_that_answers_wrongly_is_restarted(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    with pytest.raises(httpx.HTTPStatusError, match="500"):
        get(found, "/break")
    (line,) = toy.status()
    assert (line.condition, line.detail) == ("silent", "/accounts/login/ answers 500")
    (again,) = toy.up(SHOP)
    assert again.app("shop").pid != found.app("shop").pid
    assert not psutil.pid_exists(found.app("shop").pid)
    assert notes(again) == NOTES


def test_a_server_that_will_not_start_says_why(toy: ToySites, monkeypatch: pytest.MonkeyPatch) -> None:
    serve = toy.folder / "apps" / "shop" / "serve.py"
    serve.write_text("import sys; print('one\\ntwo', file=sys.stderr); sys.exit('settings are wrong')")
    with pytest.raises(NotReadyError, match=r"(?s)shop did not start: the server ended.*\| two\n *\| settings are wrong"):
        toy.up(SHOP)
    assert [line.condition for line in toy.status()] == ["down"]
    monkeypatch.setattr(instances, "START_SECONDS", 0.3)
    serve.write_text("import time; time.sleep(60)")
    with pytest.raises(NotReadyError, match=r"does not answer .* after 0\.3 s"):
        toy.up(SHOP)
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(toy.layout.root) in str(p.info["cmdline"])]


def test_an_interrupted_up_leaves_no_server(toy: ToySites, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(health, "wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            toy.up(SHOP)
    assert [line.condition for line in toy.status()] == ["down"]
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(toy.layout.root) in str(p.info["cmdline"])]
    assert notes(toy.up(SHOP)[0]) == NOTES


def test_a_server_that_cannot_be_written_down_is_not_left_running(toy: ToySites, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, record: Record) -> None:
        if path.name == "server.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        layout.write_record(path, record)

    monkeypatch.setattr(instances, "write_record", full)
    with pytest.raises(NotReadyError, match="no space left"):
        toy.up(SHOP)
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(toy.layout.root) in str(p.info["cmdline"])]


def test_contents_that_cannot_be_built_show_the_end_of_the_log(toy: ToySites) -> None:
    toy.world = {"notes": [], "fails": True}
    with pytest.raises(NotReadyError, match=r"(?s)shop cannot be built: exit 1.*\| the loader does not like") as caught:
        toy.up(SHOP)
    assert "shop-build.log" in caught.value.fix
    toy.world = {"notes": list(NOTES)}
    assert notes(toy.up(SHOP)[0]) == NOTES


def test_a_killed_build_is_not_taken_for_a_first_state(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    toy.down(SHOP)
    (found.app("shop").golden.parent / "manifest.json").write_text("{")
    (toy.layout.goldens / ".building-shop").mkdir()
    assert notes(toy.up(SHOP)[0]) == NOTES


def test_a_first_state_that_is_gone_is_said(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    shutil.rmtree(toy.layout.goldens)
    with pytest.raises(SiteError, match="first state of shop of set 0 is gone"):
        reset(found, ["shop"])


def test_a_database_that_is_no_database_any_more_is_set_back(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    found.database("shop").write_bytes(b"not a database" * 1000)
    reset(found, ["shop"])
    assert found.database("shop").stat().st_size == found.golden_database("shop").stat().st_size


def test_a_write_ahead_log_is_set_back_too(toy: ToySites) -> None:
    """An application that turns its database into WAL mode: sidecar files, open connections, and still the first state."""
    (found,) = toy.up(SHOP)
    get(found, "/add/four")
    with closing(sqlite3.connect(found.database("shop"))) as other:
        assert other.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    get(found, "/add/five")
    reset(found, ["shop"])
    assert notes(found) == NOTES
    toy.world = {"notes": ["wal"], "journal": "WAL"}
    assert notes(toy.up(SHOP)[0]) == ("wal",)


def test_a_locked_database_is_given_up_with_a_word(toy: ToySites, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = toy.up(SHOP)
    monkeypatch.setattr(snapshot, "LOCK_SECONDS", 0.2)
    holder = sqlite3.connect(found.database("shop"))
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SiteError, match=r"cannot be reset: .* locked"):
        reset(found, ["shop"])
    holder.close()
    assert reset(found, ["shop"]) == {"shop": 2}


def test_a_lock_that_is_held_is_not_waited_for_forever(tmp_path: Path) -> None:
    with (
        layout.locked(tmp_path / "lock", 0),
        pytest.raises(NotReadyError, match="held by another"),
        layout.locked(tmp_path / "lock", 0.05),
    ):
        pass


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with disk.small_disk(tmp_path, "3m") as mount:
        yield mount


def test_a_full_disk_is_said_and_nothing_is_lost_when_there_is_space_again(small_disk: Path, first_port: int) -> None:
    toy = ToySites(small_disk, first_port)
    (found,) = toy.up(SHOP)
    get(found, "/add/four")
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4096))
    (found.app("shop").data / "picture.png").unlink()
    with filler.open("ab", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4096))
    with pytest.raises(SiteError, match="no space left on the disk of") as caught:
        reset(found, ["shop"])
    assert "--state" in caught.value.fix
    with pytest.raises(NotReadyError, match=r"no space left|cannot be built"):
        toy.world = {"notes": ["x" * 1000] * 1000}
        toy.up(SHOP)
    filler.unlink()
    assert reset(found, ["shop"]) == {"shop": 2}
    assert notes(found) == NOTES
    toy.down(SHOP)
