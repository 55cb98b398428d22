"""Bringing sites up, setting them back while they run, taking them down."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest

from harness.errors import UsageError
from harness.sites import catalog, instances
from harness.sites.instances import reset, reset_epochs, running_sets
from tests.sites.conftest import NOTES, SHOP, ToySites, get, notes


def test_up_serves_the_first_state_and_down_ends_exactly_that(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    assert notes(found) == NOTES
    (line,) = toy.status()
    assert (line.instance, line.app, line.condition, line.reset_epoch) == (0, "shop", "up", 1)
    assert line.sites == ("shop", "shop_admin")
    assert line.url == found.url("shop") == f"http://shop.localhost:{found.app('shop').port}"
    assert found.url("shop_admin") == f"{line.url}/dashboard"
    assert line.memory_mb > 1
    assert toy.down(SHOP) == ["shop of set 0: stopped"]
    assert not psutil.pid_exists(line.pid)
    assert [line.condition for line in toy.status()] == ["down"]
    assert running_sets(toy.layout.root) == ()
    assert toy.down(SHOP) == []


def test_a_reset_brings_rows_and_files_back_while_the_server_runs_on(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    shop = found.app("shop")
    get(found, "/add/four")
    (shop.data / "picture.png").unlink()
    (shop.data / "index" / "segment-1").write_text("other")
    assert notes(found) == (*NOTES, "four")
    assert reset(found, ["shop_admin"]) == {"shop": 2}
    assert notes(found) == NOTES
    assert reset_epochs(found) == {"shop": 2}
    for path in ("picture.png", "index/segment-1"):
        assert (shop.data / path).read_bytes() == (shop.golden / path).read_bytes()
    assert sorted(path.name for path in (shop.data / "index").iterdir()) == ["empty", "segment-1"]
    assert running_sets(toy.layout.root)[0].app("shop").pid == shop.pid


def test_the_epoch_outlives_commands_and_servers(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    reset(found, ["shop"])
    toy.down(SHOP)
    (found,) = toy.twin().up(SHOP)
    assert reset_epochs(found) == {"shop": 3}, "a start from the first state is a reset too"


def test_up_leaves_a_healthy_server_as_it_is(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    get(found, "/add/four")
    (again,) = toy.twin().up(SHOP)
    assert again == found
    assert notes(again) == (*NOTES, "four")


def test_other_contents_start_the_server_anew_and_remove_the_old_ones(toy: ToySites) -> None:
    (before,) = toy.up(SHOP)
    toy.world = {"notes": ["other"]}
    said: list[str] = []
    (after,) = toy.up(SHOP, say=said.append)
    assert notes(after) == ("other",)
    assert after.app("shop").pid != before.app("shop").pid
    assert any("other contents" in line for line in said)
    assert [path.name for path in toy.layout.goldens.iterdir() if path.is_dir()] == [after.app("shop").golden.parent.name]


def test_instance_sets_share_nothing(toy: ToySites) -> None:
    first, second = toy.up(SHOP, instances=2)
    assert (first.index, second.index) == (0, 1)
    assert first.app("shop").port != second.app("shop").port
    get(first, "/add/four")
    get(second, "/add/five")
    reset(first, ["shop"])
    assert notes(first) == NOTES
    assert notes(second) == (*NOTES, "five")
    assert (reset_epochs(first), reset_epochs(second)) == ({"shop": 2}, {"shop": 1})
    toy.down(SHOP, instance=0)
    assert [found.index for found in running_sets(toy.layout.root)] == [1]


def test_the_golden_state_is_never_written(toy: ToySites) -> None:
    (found,) = toy.up(SHOP)
    golden = found.app("shop").golden

    def contents() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in golden.rglob("*") if path.is_file()}

    before = contents()
    for _ in range(3):
        get(found, "/add/x")
        reset(found, ["shop"])
    assert contents() == before


def test_fifty_resets_under_load_lose_nothing(toy: ToySites) -> None:
    """Readers and writers with open connections never see half a state, nor one that is gone for good."""
    toy.world = {"notes": [f"note {number} {'x' * 400}" for number in range(5_000)]}  # 2 MB, as a real site
    (found,) = toy.up(SHOP)
    first = tuple(toy.world["notes"])
    done, wrong = threading.Event(), []
    counts = {"read": 0, "written": 0}

    def read() -> None:
        while not done.is_set():
            seen = notes(found)
            counts["read"] += 1
            if seen[: len(first)] != first or set(seen[len(first) :]) - {"new"}:
                wrong.append(seen)

    def write() -> None:
        while not done.is_set():
            try:
                get(found, "/add/new")
                counts["written"] += 1
            except (httpx.HTTPStatusError, httpx.RemoteProtocolError) as error:  # a writer may be told to try again …
                assert "500" in str(error) or "disconnected" in str(error)

    with ThreadPoolExecutor(3) as pool:
        hammering = [pool.submit(read), pool.submit(write), pool.submit(write)]
        try:
            for expected in range(2, 52):
                assert reset(found, ["shop"]) == {"shop": expected}
        finally:
            done.set()
        for future in hammering:
            future.result()
    assert not wrong
    assert counts["read"] and counts["written"]
    reset(found, ["shop"])
    assert notes(found) == first  # … but the state is the first one


def test_two_commands_at_once_start_one_server(toy: ToySites) -> None:
    commands = [toy, toy.twin(), toy.twin()]
    with ThreadPoolExecutor(3) as pool:
        results = [future.result() for future in [pool.submit(command.up, SHOP) for command in commands]]
    assert results[0] == results[1] == results[2]
    serving = [process for process in psutil.process_iter(["cmdline"]) if str(toy.layout.root) in str(process.info["cmdline"])]
    assert [process.pid for process in serving] == [results[0][0].app("shop").pid]


def test_sets_and_sites_that_do_not_exist_are_named(toy: ToySites) -> None:
    toy.up(SHOP)
    (found,) = running_sets(toy.layout.root)
    with pytest.raises(UsageError, match="no instance set 4"):
        toy.reset(SHOP, instance=4)
    with pytest.raises(UsageError, match="forum is not running in instance set 0"):
        found.url("forum")
    with pytest.raises(UsageError, match="between 1 and"):
        toy.up(SHOP, instances=instances.MAX_SETS + 1)
    with pytest.raises(UsageError, match="no site 'gitlab'"):
        catalog.apps_of(["gitlab"])
    assert found.sites == ("shop", "shop_admin")
    assert found.urls == {"__SHOP__": found.url("shop"), "__SHOP_ADMIN__": found.url("shop_admin")}
    assert found.account("shop").email.endswith("@example.com")
