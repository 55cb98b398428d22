"""The forum as it is served: pages with their style sheets, standing dates, a search, and a reset under a running server."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest

from harness.benchmarks.arena.forum import facts
from harness.sites.catalog import FORUM_MEMBER
from harness.sites.instances import reset
from harness.sites.records import InstanceSet

pytestmark = pytest.mark.sites

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@pytest.fixture
def client(instance_set: InstanceSet) -> Iterator[httpx.Client]:
    """Signed in, on a forum in its first state."""
    reset(instance_set, ["forum"])
    running = instance_set.app("forum")
    headers = {"Host": f"{running.app.hostname}:{running.port}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{running.port}", headers=headers, timeout=60) as found:
        send(found, "/user/login/", username=FORUM_MEMBER.username, password=FORUM_MEMBER.password)
        yield found


def send(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """Fill in the form at `path` as a browser does."""
    token = TOKEN.search(client.get(path).text)
    assert token is not None
    # The cookie is kept for 127.0.0.1 and sent back there: only the Host header says forum.localhost.
    answer = client.post(path, data={"csrfmiddlewaretoken": token[1], **fields})
    assert answer.status_code == 302, answer.text
    return answer


def test_pages_and_what_they_load_are_there(client: httpx.Client) -> None:
    topic = max(facts.world().public_topics, key=lambda topic: len(facts.comments_of(topic)))
    for path in ("/", "/category/2/gardening/", "/topic/publish/", "/topic/private/", "/user/", "/search/?q=leeks"):
        assert client.get(path).status_code == 200, path
    page = client.get(f"/topic/{topic.id}/", follow_redirects=True)
    assert page.status_code == 200
    assets = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert assets
    for asset in assets:
        assert client.get(asset).status_code == 200, asset


def test_dates_are_absolute(client: httpx.Client) -> None:
    page = client.get("/").text
    dates = re.findall(r'fa-clock-o"\s*></i>\s*([^<]+?)\s*</div>', page)
    assert len(dates) == 20
    assert all(re.fullmatch(r"\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d", date) for date in dates), dates


def test_errors_are_pages_of_the_forum(client: httpx.Client) -> None:
    answer = client.get("/topic/99999/")
    assert answer.status_code == 404
    assert "The Common Room" in answer.text and "Traceback" not in answer.text and "DEBUG" not in answer.text


def test_a_new_topic_is_listed_dated_now_and_gone_after_a_reset(client: httpx.Client, instance_set: InstanceSet) -> None:
    send(client, "/topic/publish/", title="Zeppelin mooring knots", category="2", comment="Who knows one?")
    page = client.get("/").text
    assert page.index("Zeppelin mooring knots") < page.index("2 Mar 2026, 10:00") < page.index("1 Mar 2026")
    assert sign_in_is_over(client, instance_set)
    assert "Zeppelin mooring knots" not in client.get("/").text


def sign_in_is_over(client: httpx.Client, instance_set: InstanceSet) -> bool:
    """Set back: sessions are part of the first state, and there are none in it."""
    reset(instance_set, ["forum"])
    return client.get("/topic/publish/").status_code == 302


def test_the_search_finds_by_title_and_by_comment(client: httpx.Client) -> None:
    assert "lavender edging" in client.get("/search/?q=lavender").text
    said = next(c for c in facts.world().comments if c.fact and c.fact[0] == "price" and not c.first)
    assert facts.title_of(said.topic) in client.get(f"/search/?q=paid+{said.fact[1] if said.fact else ''}+crowns").text
    assert "There are no search results" in client.get("/search/?q=zeppelin").text


def test_the_world_is_what_the_database_says(instance_set: InstanceSet) -> None:
    reset(instance_set, ["forum"])
    with closing(sqlite3.connect(f"file:{instance_set.app('forum').database}?mode=ro", uri=True)) as database:
        topics = database.execute(
            "SELECT t.title, u.username, t.comment_count, k.title, t.is_closed FROM spirit_topic_topic t"
            " JOIN auth_user u ON u.id = t.user_id JOIN spirit_category_category k ON k.id = t.category_id ORDER BY t.id"
        ).fetchall()
        likes = database.execute("SELECT id, likes_count FROM spirit_comment_comment ORDER BY id").fetchall()
        votes = database.execute("SELECT sum(vote_count) FROM spirit_comment_poll_commentpollchoice").fetchone()
        polls = database.execute("SELECT topic_id FROM spirit_comment_comment WHERE comment_html LIKE '%<poll name=%'").fetchall()
    world = facts.world()
    assert sorted(polls) == sorted((poll.topic,) for poll in world.polls)
    assert topics == [
        (t.title, facts.username(t.user), len(facts.comments_of(t)), facts.board(t), int(t.closed)) for t in world.topics
    ]
    assert likes == [(comment.id, facts.likes_of(comment)) for comment in world.comments]
    assert votes == (sum(len(choice) for poll in world.polls for choice in poll.votes),)
