"""The tracker as it is served: pages with all that they load, a standing clock, nothing kept over a reset."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest

from harness.benchmarks.arena.state import Database, diff
from harness.sites.catalog import TRACKER_MEMBER
from harness.sites.instances import reset
from harness.sites.records import InstanceSet
from harness.sites.worlds.tracker import build

pytestmark = pytest.mark.sites

TOKEN = re.compile(r'name="__FORM_TOKEN" value="(\w+)"')
SECRET = re.compile(r"\b[0-9a-f]{24}\b")
"""The token of a session's forms: nothing else differs between two visits."""
PAGES = (
    "/wiki", "/wiki/Components/Search", "/wiki/Glossary?action=edit", "/wiki/Glossary?action=history", "/wiki/TitleIndex",
    "/ticket/192", "/newticket", "/query", "/query?status=!closed&component=search", "/report", "/report/8",
    "/roadmap", "/milestone/2.6%20Sanderling", "/timeline", "/search?q=backup", "/admin/ticket/components", "/prefs",
)  # fmt: skip


@pytest.fixture
def client(instance_set: InstanceSet) -> Iterator[httpx.Client]:
    """Signed in, on a tracker in its first state."""
    reset(instance_set, ["tracker"])
    running = instance_set.app("tracker")
    headers = {"Host": f"{running.app.hostname}:{running.port}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{running.port}", headers=headers, timeout=60) as found:
        sign_in(found)
        yield found


def sign_in(client: httpx.Client) -> None:
    client.cookies.clear()
    send(client, "/login", username=TRACKER_MEMBER.username, password=TRACKER_MEMBER.password)


def send(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """Fill in the form at `path` as a browser does."""
    token = TOKEN.search(client.get(path).text)
    assert token is not None
    answer = client.post(path, data={"__FORM_TOKEN": token[1], **fields})
    assert answer.status_code == 303 or answer.status_code == 302, re.findall(r"system-message.*?</div>", answer.text, re.DOTALL)
    return answer


def add_component(client: httpx.Client, name: str) -> None:
    send(client, "/admin/ticket/components", name=name, owner="mhale", add="Add")


def remark(client: httpx.Client, ticket: int, text: str) -> None:
    """Add a comment, with the two times that the form carries."""
    form = client.get(f"/ticket/{ticket}").text
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)"\s+value="([^"]*)"', form[form.index('id="propertyform"') :]))
    fields = {**hidden, "comment": text, "action": "leave", "submit": "Submit changes"}
    answer = client.post(f"/ticket/{ticket}", data=fields)
    assert answer.status_code in (302, 303), re.findall(r"system-message.*?</div>", answer.text, re.DOTALL)


def ask(instance_set: InstanceSet, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{instance_set.app('tracker').database}?mode=ro", uri=True)) as database:
        return database.execute(sql).fetchall()


def test_pages_and_what_they_load_are_there(client: httpx.Client) -> None:
    assets = set()
    for path in PAGES:
        page = client.get(path)
        assert page.status_code == 200 and "Traceback" not in page.text and "Morgan Hale" in page.text, path
        assets.update(re.findall(r'(?:href|src)="(/chrome/[^"?]+\.(?:css|js|png))', page.text))
    assert len(assets) > 10
    for asset in assets:
        answer = client.get(asset)
        assert answer.status_code == 200 and answer.headers["cache-control"] == "max-age=86400", asset


def test_ages_are_dates_and_the_day_is_the_pinned_one(client: httpx.Client) -> None:
    assert re.search(r"Opened.*at 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", client.get("/ticket/192").text, re.DOTALL)
    assert "4 weeks" in client.get("/milestone/2.6%20Sanderling").text
    assert 'value="2026-03-02T10:00:00Z"' in client.get("/admin/ticket/versions").text


def test_the_same_pages_after_a_reset(client: httpx.Client, instance_set: InstanceSet) -> None:
    def look() -> dict[str, str]:
        return {path: SECRET.sub("", client.get(path).text) for path in PAGES if not path.startswith("/query")}

    before = look()
    add_component(client, "kiosk")
    remark(client, 192, "Still there.")
    reset(instance_set, ["tracker"])
    sign_in(client)
    assert look() == before


def test_two_changes_in_one_second_are_two(client: httpx.Client, instance_set: InstanceSet) -> None:
    remark(client, 192, "First.")
    remark(client, 192, "Second.")
    sql = "SELECT newvalue, time / 1000000 FROM ticket_change WHERE ticket = 192 AND author = 'mhale' ORDER BY time DESC LIMIT 2"
    assert ask(instance_set, sql) == [("Second.", 1772445600), ("First.", 1772445600)]


def test_no_list_is_kept_over_a_reset(client: httpx.Client, instance_set: InstanceSet) -> None:
    """Trac numbers the generations of its caches in the database: after a reset the same number means another list."""
    for name in ("kiosk", "labels"):
        add_component(client, name)
        page = client.get("/newticket").text
        assert f">{name}</option>" in page
        reset(instance_set, ["tracker"])
        sign_in(client)
    assert ">labels</option>" not in client.get("/newticket").text


def test_a_default_set_in_the_admin_pages_is_seen_and_undone(client: httpx.Client, instance_set: InstanceSet) -> None:
    """Trac keeps defaults in trac.ini, not in the database, and reads that file again when its time is another."""

    def chosen() -> str:
        form = client.get("/newticket").text
        component = form[form.index('id="field-component"') :]
        found = re.search(r"<option[^>]*selected[^>]*>([^<]+)", component[: component.index("</select>")])
        return found[1] if found else ""

    running = instance_set.app("tracker")
    files = Database("tracker", running.database, running.golden_database, (running.data, running.golden))
    before = chosen()
    names = re.findall(r'name="default" value="([^"]+)"', client.get("/admin/ticket/components").text)
    other = next(name for name in names if name != before)
    send(client, "/admin/ticket/components", default=other, apply="Apply changes")
    assert chosen() == other
    assert "files/project/conf/trac.ini" in diff(files)
    reset(instance_set, ["tracker"])
    sign_in(client)
    assert chosen() == before
    assert diff(files) == {}


def test_who_may_do_what(client: httpx.Client) -> None:
    for path in ("/admin/general/basics", "/admin/general/perm", "/admin/general/logging", "/admin/general/plugin"):
        assert client.get(path).status_code in (403, 404), path
    client.cookies.clear()
    assert client.get("/wiki").status_code == 200
    assert client.get("/newticket").status_code == 403
    token = TOKEN.search(client.get("/login").text)
    assert token is not None
    answer = client.post("/login", data={"__FORM_TOKEN": token[1], "username": "mhale", "password": "wrong"})
    assert answer.status_code == 200 and "Invalid username or password" in answer.text


def test_the_world_is_what_the_database_says(instance_set: InstanceSet) -> None:
    reset(instance_set, ["tracker"])
    world = build()
    names = "summary, component, type, priority, milestone, status, owner, reporter, keywords, cc"
    assert ask(instance_set, f"SELECT id, {names} FROM ticket ORDER BY id") == [
        (t.id, *(getattr(t, name) for name in names.split(", "))) for t in world.tickets
    ]
    assert ask(instance_set, "SELECT name, version, text FROM wiki ORDER BY name, version") == [
        (page.name, version.number, version.text) for page in world.pages for version in page.versions
    ]
    assert ask(instance_set, "SELECT name, owner FROM component ORDER BY name") == [(c.name, c.owner) for c in world.components]
