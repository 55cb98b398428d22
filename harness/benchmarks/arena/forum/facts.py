"""What is true in the forum's world, as values and answers of tasks. Nothing here is drawn without the caller's `rng`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache
from random import Random

from harness.sites.worlds.forum import Category, Comment, ForumWorld, Topic, User, build
from harness.types import JsonDict

MEMBER_ID = 1
"""The account that tasks are signed in with; 2 is the moderator."""

TopicTest = Callable[[Topic], bool]


@cache
def world() -> ForumWorld:
    return build()


@cache
def _users() -> dict[int, User]:
    return {user.id: user for user in world().users}


@cache
def _categories() -> dict[int, Category]:
    return {category.id: category for category in world().categories}


@cache
def _topics() -> dict[str, Topic]:
    return {topic.title: topic for topic in world().topics}


@cache
def _comments() -> dict[int, list[Comment]]:
    found = defaultdict(list)
    for comment in world().comments:
        found[comment.topic].append(comment)
    return dict(found)


@cache
def _likes() -> dict[int, int]:
    counts: dict[int, int] = defaultdict(int)
    for like in world().likes:
        counts[like.comment] += 1
    return dict(counts)


def username(user: int) -> str:
    return _users()[user].username


def topic_called(title: str) -> Topic:
    """Titles are unique."""
    return _topics()[title]


def comments_of(topic: Topic) -> list[Comment]:
    """In the order of the page."""
    return _comments()[topic.id]


def likes_of(comment: Comment) -> int:
    return _likes().get(comment.id, 0)


def board(topic: Topic) -> str:
    return _categories()[topic.category].title


def subject(topic: Topic) -> str:
    """The main category: what lists on the front page and on profiles show."""
    category = _categories()[topic.category]
    return category.title if category.parent is None else _categories()[category.parent].title


def boards() -> list[Category]:
    """Subcategories: the places below a subject."""
    return [category for category in world().categories if category.parent is not None]


def parent_of(category: Category) -> str:
    return _categories()[category.parent].title if category.parent is not None else category.title


def category_id(title: str) -> int:
    return next(category.id for category in world().categories if category.title == title)


def joined(user: int) -> str:
    """As a profile shows it, without the time of day."""
    at = datetime.fromisoformat(_users()[user].joined)
    return f"{at.day} {at:%b %Y}"


def public_comments_by(user: int) -> list[Comment]:
    public = {topic.id for topic in world().public_topics}
    return [comment for comment in world().comments if comment.user == user and comment.topic in public]


def title_of(topic: int) -> str:
    return world().topics[topic - 1].title


def topic_values(topic: Topic) -> JsonDict:
    """What a task says about a topic (`title`), and how to find it: what to search for, where to browse."""
    return {"title": topic.title, "about": topic.thing or topic.title, "board": board(topic), "subject": subject(topic)}


def drawn(rng: Random, keep: TopicTest) -> Iterator[Topic]:
    """The public topics that satisfy `keep`, shuffled."""
    pool = [topic for topic in world().public_topics if keep(topic)]
    rng.shuffle(pool)
    yield from pool


def another(topic: Topic, keep: TopicTest) -> Topic:
    """The next public topic that satisfies `keep`, from the start again at the end."""
    topics = world().public_topics
    place = topics.index(topic)
    return next(other for other in (*topics[place + 1 :], *topics[:place]) if keep(other))


def single_author(topic: Topic) -> Comment | None:
    """The first reply on page one whose author has written only once in the topic, is not us and does not begin it."""
    comments = comments_of(topic)
    writers = [comment.user for comment in comments]
    candidates = [c for c in comments[1:20] if writers.count(c.user) == 1 and c.user > MEMBER_ID]
    return candidates[0] if candidates else None
