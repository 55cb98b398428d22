"""The real applications in their own environment: up, written to, set back, down."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from harness.sites import APPS, InstanceSet, Sites, golden, reset, running_sets
from harness.sites.layout import Layout

pytestmark = pytest.mark.sites

PAGES = {
    "shop": ("/catalogue/", "/search/?q=oak", "/dashboard/"),
    "forum": ("/", "/category/", "/user/login/"),
    "tracker": ("/wiki", "/query", "/roadmap"),
}
SECRETS = {("auth_user", "password"), ("django_session", "session_key")}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """On a copy of the applications' programs: whoever works on them meanwhile does not change what is tested."""
    apps = shutil.copytree(golden.APPS_FOLDER, tmp_path_factory.mktemp("code") / "apps")
    sites = Sites(tmp_path_factory.mktemp("sites"), first_port=18500, apps_folder=apps)
    yield sites
    sites.down(tuple(APPS.values()))


@pytest.fixture(scope="module")
def found(sites: Sites) -> InstanceSet:
    (found,) = sites.up(tuple(APPS.values()))
    return found


def get(found: InstanceSet, app: str, path: str) -> httpx.Response:
    instance = found.app(app)
    host = f"{instance.app.hostname}:{instance.port}"
    return httpx.get(f"http://127.0.0.1:{instance.port}{path}", headers={"Host": host}, timeout=60, follow_redirects=False)


def rows(database: Path) -> dict[str, list[tuple[object, ...]]]:
    """table → its rows, salted and drawn secrets aside: a page never shows them."""
    found = {}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [name for _, name, *_ in connection.execute(f'PRAGMA table_info("{table}")')]
            shown = ", ".join(f'"{name}"' for name in columns if (table, name) not in SECRETS)
            found[table] = sorted(connection.execute(f'SELECT {shown} FROM "{table}"').fetchall(), key=repr)
    return found


def scribble(database: Path) -> int:
    """Change every table that can be changed without thinking. Returns how many rows are gone."""
    with closing(sqlite3.connect(database, timeout=20)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        gone = 0
        for table in tables:
            if not table.startswith("sqlite_"):
                gone += connection.execute(f'DELETE FROM "{table}" WHERE rowid % 2 = 0').rowcount
        connection.commit()
    return gone


def test_every_page_is_there_and_none_is_a_traceback(found: InstanceSet) -> None:
    assert found.sites == ("shop", "shop_admin", "forum", "tracker", "wiki")
    for app, paths in PAGES.items():
        for path in paths:
            answer = get(found, app, path)
            assert answer.status_code in (200, 302), (app, path, answer.status_code)
            assert "Traceback" not in answer.text


def test_what_is_not_there_is_a_plain_404(found: InstanceSet) -> None:
    for app in APPS:
        answer = get(found, app, "/no/such/page" if app == "tracker" else "/no/such/page/")
        assert answer.status_code == 404, app
        assert "Traceback" not in answer.text and "DEBUG" not in answer.text


@pytest.mark.parametrize("app", APPS)
def test_half_of_all_rows_gone_and_back(found: InstanceSet, app: str) -> None:
    assert get(found, app, PAGES[app][0]).status_code == 200
    first = rows(found.golden_database(app))
    for _ in range(3):
        assert scribble(found.database(app)) > 100
        reset(found, [app])
    assert rows(found.database(app)) == first
    assert get(found, app, PAGES[app][0]).status_code == 200


@pytest.mark.parametrize("app", APPS)
def test_fifty_resets_while_pages_are_read(found: InstanceSet, app: str) -> None:
    def read(number: int) -> int:
        return get(found, app, PAGES[app][number % 2]).status_code

    with ThreadPoolExecutor(2) as pool:
        reading = [pool.submit(read, number) for number in range(20)]
        for _ in range(50):
            reset(found, [app])
        assert {future.result() for future in reading} == {200}
    reset(found, [app])
    assert rows(found.database(app)) == rows(found.golden_database(app))
    assert running_sets(found.state_dir)[0].app(app).pid == found.app(app).pid


@pytest.mark.parametrize("app", APPS)
def test_a_first_state_built_again_is_the_same(sites: Sites, found: InstanceSet, app: str, tmp_path: Path) -> None:
    """Row by row and file by file: ids, times and search results in task data hold on every machine."""
    again = golden.ensure(Layout(tmp_path), sites._builder, APPS[app].name, lambda: None)
    assert rows(again.files / APPS[app].database) == rows(found.golden_database(app))
    index = {name for name in again.manifest.files if name.startswith("index/")}  # Whoosh draws the names of its files
    assert again.manifest.files.keys() - index == {
        path.relative_to(found.app(app).golden).as_posix()
        for path in found.app(app).golden.rglob("*")
        if path.is_file() and path.relative_to(found.app(app).golden).parts[0] != "index"
    } - set(again.manifest.databases)


def test_two_sets_of_the_real_applications(sites: Sites, found: InstanceSet) -> None:
    first, second = sites.up(tuple(APPS.values()), instances=2)
    assert first == found, "the first set was left as it was"
    scribble(second.database("forum"))
    assert rows(first.database("forum")) == rows(first.golden_database("forum"))
    sites.down(tuple(APPS.values()), instance=1)
