"""The forum's world: one seed, one world; whole, dated before its clock, and readable."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from datetime import datetime

import pytest

from harness.sites import catalog
from harness.sites.definition import NOW as SITES_NOW
from harness.sites.worlds.forum import MEMBER, MODERATOR, NOW, PRIVATE_CATEGORY, ForumWorld, build

LONGEST_COMMENT = 3000
"""Spirit's ST_COMMENT_MAX_LEN."""


@pytest.fixture(scope="module")
def world() -> ForumWorld:
    return build()


def digest(world: ForumWorld) -> str:
    return hashlib.sha256(json.dumps(asdict(world), sort_keys=True).encode()).hexdigest()


def test_the_same_seed_gives_the_same_world_in_another_process(world: ForumWorld) -> None:
    code = (
        "import hashlib, json; from dataclasses import asdict; from harness.sites.worlds.forum import build;"
        "print(hashlib.sha256(json.dumps(asdict(build()), sort_keys=True).encode()).hexdigest())"
    )
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": "7"}
    )
    assert other.stdout.strip() == digest(world)


def test_another_seed_gives_another_world(world: ForumWorld) -> None:
    assert digest(build(1)) != digest(world)


def test_it_is_large_enough_to_need_search_and_paging(world: ForumWorld) -> None:
    assert len(world.public_topics) >= 200
    assert len(world.comments) >= 1500
    assert len(world.users) == 42
    assert sum(category.parent is None for category in world.categories) - 1 >= 8  # without Private
    assert max(Counter(comment.topic for comment in world.comments).values()) > 40  # three pages
    assert any(t.closed for t in world.topics) and any(t.pinned for t in world.topics)
    span = datetime.fromisoformat(world.comments[-1].date) - datetime.fromisoformat(world.comments[0].date)
    assert span.days > 700


def test_the_accounts_and_the_clock_are_those_of_the_catalog(world: ForumWorld) -> None:
    member, moderator = world.users[:2]
    assert (member.username, member.password) == MEMBER
    assert (member.username, member.password, member.email) == _account(catalog.FORUM_MEMBER)
    assert (moderator.username, moderator.password) == MODERATOR
    assert (moderator.username, moderator.password, moderator.email) == _account(catalog.FORUM_MODERATOR)
    assert [user.id for user in world.users if user.moderator] == [moderator.id]
    assert world.now == SITES_NOW == NOW.isoformat()


def test_everything_happened_before_now_and_in_order(world: ForumWorld) -> None:
    assert [topic.id for topic in world.topics] == list(range(1, len(world.topics) + 1))
    assert [comment.id for comment in world.comments] == list(range(1, len(world.comments) + 1))
    dates = [comment.date for comment in world.comments]
    assert dates == sorted(set(dates))  # "the newest" always means one
    assert dates[-1] < world.now
    assert all(user.joined < dates[0] and user.joined <= user.last_seen < world.now for user in world.users)


def test_every_topic_is_whole(world: ForumWorld) -> None:
    members = {user.id for user in world.users}
    categories = {category.id for category in world.categories}
    assert len({topic.title for topic in world.topics}) == len(world.topics)
    for topic in world.topics:
        comments = world.comments_of(topic.id)
        assert [comment.first for comment in comments] == [True] + [False] * (len(comments) - 1)
        assert (topic.user, topic.date, topic.last_active) == (comments[0].user, comments[0].date, comments[-1].date)
        assert topic.category in categories
        assert {comment.user for comment in comments} <= members
        assert bool(topic.members) == (topic.category == PRIVATE_CATEGORY)
        assert not topic.members or {comment.user for comment in comments} <= set(topic.members)


def test_likes_and_votes_are_cast_once_and_never_by_the_accounts_of_tasks(world: ForumWorld) -> None:
    authors = {comment.id: comment.user for comment in world.comments}
    assert len({(like.user, like.comment) for like in world.likes}) == len(world.likes)
    assert all(like.user not in (1, 2, authors[like.comment]) for like in world.likes)
    for poll in world.polls:
        voters = [voter for choice in poll.votes for voter in choice]
        assert len(set(voters)) == len(voters) and not {1, 2} & set(voters)
        assert len(poll.votes) == len(poll.choices)


def test_texts_are_filled_in_and_fit(world: ForumWorld) -> None:
    for comment in world.comments:
        assert 0 < len(comment.text) < LONGEST_COMMENT
        assert "{" not in comment.text and "}" not in comment.text
        assert comment.fact is None or comment.fact[1] in comment.text
    assert all("{" not in topic.title and topic.title[0].isupper() for topic in world.topics)
    assert all(user.email.endswith("@example.com") for user in world.users)


def _account(account: object) -> tuple[str, str, str]:
    return (account.username, account.password, account.email)  # type: ignore[attr-defined]
