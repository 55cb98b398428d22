"""The forum's world: members, categories, topics, comments, likes, polls, private topics. Pure data from one seed.

    build() → ForumWorld
        users       42: an ordinary account (`MEMBER`), a moderator (`MODERATOR`) and forty more; ids from 1
        categories  26: eight subjects with two boards each, and "Forum Help", after Spirit's own "Private" (id 1)
        topics      in order of their date, ids from 1; `comments` in order of theirs over all topics
        likes, polls, private topics

`dataclasses.asdict` of it is JSON data: dates are ISO 8601 strings in UTC. Every date lies before `NOW`, which is what the
forum's clock shows all the time.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from harness.sites.worlds import forum_text as text
from harness.sites.worlds.names import TOWNS, Person, people

SEED = 20260302
NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
FIRST_DAY = datetime(2024, 3, 1, 8, 0, tzinfo=UTC)

MEMBER = ("morgan_hale", "kettle-19")
MODERATOR = ("tobias_wren", "gavel-33")
"""(user name, password) of the two accounts that tasks use; `harness.sites.catalog` knows them as well."""

PRIVATE_CATEGORY = 1
TOPICS_PER_THING = (1, 2)
LONG_TOPICS = 12
DAYS = ("Monday", "Tuesday", "Wednesday", "Friday", "Saturday")


@dataclass(frozen=True, slots=True)
class User:
    id: int
    username: str
    """Shown as the nickname, too: members are called by it everywhere."""
    email: str
    password: str
    """Plain; empty for members who never log in here."""
    location: str
    joined: str
    last_seen: str
    moderator: bool = False


@dataclass(frozen=True, slots=True)
class Category:
    id: int
    title: str
    description: str
    colour: str
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    id: int
    category: int
    user: int
    title: str
    date: str
    last_active: str = ""
    pinned: bool = False
    globally_pinned: bool = False
    closed: bool = False
    thing: str = ""
    """What it is about, in words that a search finds; empty for topics without a subject of their own."""
    members: tuple[int, ...] = ()
    """Who may read a private topic; empty for a public one."""


@dataclass(frozen=True, slots=True)
class Comment:
    id: int
    topic: int
    user: int
    text: str
    """Markdown, as it was typed."""
    date: str
    first: bool = False
    """The body of its topic."""
    fact: tuple[str, str] | None = None
    """(kind, value) of the checkable sentence in it (`forum_text.FACTS`)."""


@dataclass(frozen=True, slots=True)
class Like:
    user: int
    comment: int
    date: str


@dataclass(frozen=True, slots=True)
class Poll:
    """A poll in the first comment of a topic. `votes[i]` are the users who chose `choices[i]`; each user votes once."""

    topic: int
    name: str
    choices: tuple[str, ...]
    votes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ForumWorld:
    now: str
    users: tuple[User, ...]
    categories: tuple[Category, ...]
    topics: tuple[Topic, ...]
    comments: tuple[Comment, ...]
    likes: tuple[Like, ...]
    polls: tuple[Poll, ...]

    def comments_of(self, topic: int) -> tuple[Comment, ...]:
        """In the order of the page: by date."""
        return tuple(comment for comment in self.comments if comment.topic == topic)

    @property
    def public_topics(self) -> tuple[Topic, ...]:
        return tuple(topic for topic in self.topics if topic.category != PRIVATE_CATEGORY)


def build(seed: int = SEED) -> ForumWorld:
    """The whole world. The same seed gives the same world, to the byte."""
    rng = random.Random(seed)
    users = _users(rng)
    categories = _categories()
    boards = {category.title: category.id for category in categories}
    clock = _Clock(rng)
    drafts = [
        *_subject_drafts(rng, clock, users, boards),
        *_help_drafts(rng, clock, users, boards),
        *_poll_drafts(rng, clock, users, boards),
        *_private_drafts(rng, clock, users),
    ]
    drafts.sort(key=lambda draft: draft.posts[0].at)
    topics, comments = _numbered(drafts)
    return ForumWorld(
        now=_iso(NOW),
        users=tuple(replace(user, last_seen=_last_seen(user, comments)) for user in users),
        categories=tuple(categories),
        topics=topics,
        comments=comments,
        likes=_likes(rng, users, comments),
        polls=_polls(rng, users, topics),
    )


@dataclass(frozen=True, slots=True)
class _Post:
    at: datetime
    user: int
    text: str
    fact: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _Draft:
    """A topic before ids are known: they follow the dates."""

    topic: Topic
    posts: tuple[_Post, ...]


class _Clock:
    """Moments that are all different, so that "the newest" always means one."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[datetime] = set()

    def between(self, first: datetime, last: datetime) -> datetime:
        """A free minute in [first, last), or within the hour after `first` where that is not later than `last`."""
        span = max(60, int((last - first).total_seconds() // 60))
        while True:
            at = first + timedelta(minutes=self._rng.randrange(span))
            if at not in self._taken:
                self._taken.add(at)
                return at


def _users(rng: random.Random) -> list[User]:
    accounts = ((Person("Morgan", "Hale"), MEMBER[1]), (Person("Tobias", "Wren"), MODERATOR[1]))
    known = {person.last for person, _ in accounts}
    others = [person for person in people(rng, 44) if person.last not in known][:40]
    users = []
    for number, (person, password) in enumerate([*accounts, *((person, "") for person in others)], start=1):
        joined = FIRST_DAY - timedelta(days=rng.randrange(20, 700), minutes=rng.randrange(1440))
        users.append(
            User(
                id=number, username=person.username.replace(".", "_"), email=person.email, password=password,
                location=rng.choice(TOWNS), joined=_iso(joined), last_seen=_iso(joined), moderator=number == 2,
            )
        )  # fmt: skip
    return users


def _categories() -> list[Category]:
    categories = [Category(PRIVATE_CATEGORY, "Private", "", "")]
    for subject in text.SUBJECTS:
        parent = Category(len(categories) + 1, subject.title, subject.description, subject.colour)
        categories.append(parent)
        for board in subject.boards:
            categories.append(Category(len(categories) + 1, board.title, board.description, subject.colour, parent.id))
    categories.append(Category(len(categories) + 1, *text.HELP_CATEGORY))
    return categories


def _subject_drafts(rng: random.Random, clock: _Clock, users: list[User], boards: dict[str, int]) -> Iterable[_Draft]:
    chosen = [
        (subject, board, thing, frame)
        for subject in text.SUBJECTS
        for board in subject.boards
        for thing in board.things
        for frame in rng.sample(text.FRAMES, rng.choice(TOPICS_PER_THING))
    ]
    long_ones = set(rng.sample(range(len(chosen)), LONG_TOPICS))
    for place, (subject, board, thing, (title, opening, question)) in enumerate(chosen):
        replies = rng.randrange(22, 44) if place in long_ones else rng.choice((1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 10))
        body = " ".join([opening, *rng.sample(board.details, 2), question])
        posts = _posts(rng, clock, users, _filled(body, thing), _advice(rng, replies, subject.advice, thing))
        start = posts[0]
        topic = Topic(
            0, boards[board.title], start.user, _filled(title, thing), _iso(start.at),
            pinned=rng.random() < 0.03, closed=rng.random() < 0.06, thing=thing,
        )  # fmt: skip
        yield _Draft(topic, posts)


def _help_drafts(rng: random.Random, clock: _Clock, users: list[User], boards: dict[str, int]) -> Iterable[_Draft]:
    for place, (title, body) in enumerate(text.HELP_TOPICS):
        posts = _posts(rng, clock, users, body, [(reply, None) for reply in rng.sample(text.HELP_REPLIES, rng.randrange(2, 9))])
        rules = place == 0
        if rules:
            posts = (replace(posts[0], user=2), *posts[1:])
        topic = Topic(
            0, boards[text.HELP_CATEGORY[0]], posts[0].user, title, _iso(posts[0].at), globally_pinned=rules, closed=rules
        )
        yield _Draft(topic, posts)


def _poll_drafts(rng: random.Random, clock: _Clock, users: list[User], boards: dict[str, int]) -> Iterable[_Draft]:
    for title, board, name, choices in text.POLLS:
        lines = "\n".join(f"{number}. {choice}" for number, choice in enumerate(choices, start=1))
        body = f"I am curious what most of you do.\n\n[poll name={name}]\n{lines}\n[/poll]"
        posts = _posts(rng, clock, users, body, [(reply, None) for reply in rng.sample(text.POLL_REPLIES, rng.randrange(2, 7))])
        yield _Draft(Topic(0, boards[board], posts[0].user, title, _iso(posts[0].at)), posts)


def _private_drafts(rng: random.Random, clock: _Clock, users: list[User]) -> Iterable[_Draft]:
    """Conversations of the ordinary account with one other member each; the other one begins."""
    partners = rng.sample(users[2:], len(text.PRIVATE_TOPICS))
    for partner, (title, body, answer) in zip(partners, text.PRIVATE_TOPICS, strict=True):
        values = {
            "town": rng.choice(TOWNS),
            "price": str(rng.randrange(4, 60)),
            "day": rng.choice(DAYS),
            "time": f"{rng.randrange(8, 20)}:{rng.choice(('15', '30', '45'))}",
        }
        start = clock.between(NOW - timedelta(days=90), NOW - timedelta(days=5))
        reply = clock.between(start + timedelta(minutes=20), start + timedelta(days=2))
        posts = (_Post(start, partner.id, body.format(**values)), _Post(reply, 1, answer.format(**values)))
        yield _Draft(Topic(0, PRIVATE_CATEGORY, partner.id, title, _iso(start), members=(1, partner.id)), posts)


_Reply = tuple[str, tuple[str, str] | None]
"""Text and the fact in it."""


def _posts(rng: random.Random, clock: _Clock, users: list[User], body: str, replies: Sequence[_Reply]) -> tuple[_Post, ...]:
    """The first post and its replies in order of date."""
    weights = [8.0 if user.id == 1 else 3.0 if user.id == 2 else 1.0 + 12.0 / (1 + user.id % 17) for user in users]
    at = clock.between(FIRST_DAY, NOW - timedelta(days=30))
    posts = [_Post(at, rng.choices(users, weights)[0].id, body)]
    for reply, fact in replies:
        latest = min(at + timedelta(days=rng.choice((1, 1, 2, 4, 9))), NOW - timedelta(hours=30))
        at = clock.between(at + timedelta(minutes=4), latest)
        posts.append(_Post(at, rng.choices(users, weights)[0].id, reply, fact))
    return tuple(posts)


def _advice(rng: random.Random, count: int, advice: tuple[str, ...], thing: str) -> list[_Reply]:
    """Replies to a topic about `thing`. At most one of them per kind of fact states one."""
    kinds = list(text.FACTS)
    rng.shuffle(kinds)
    replies: list[_Reply] = []
    for _ in range(count):
        fact = _fact(rng, kinds.pop()) if kinds and rng.random() < 0.22 else None
        parts = [rng.choice(text.REPLY_OPENERS), rng.choice(advice)]
        if fact:
            parts.append(text.FACTS[fact[0]].format(value=fact[1]))
        if rng.random() < 0.6:
            parts.append(rng.choice(text.REPLY_CLOSERS))
        replies.append((_filled(" ".join(parts), thing), fact))
    return replies


def _fact(rng: random.Random, kind: str) -> tuple[str, str]:
    value = {"price": str(rng.randrange(12, 240)), "days": str(rng.randrange(2, 60)), "town": rng.choice(TOWNS)}[kind]
    return kind, value


def _numbered(drafts: list[_Draft]) -> tuple[tuple[Topic, ...], tuple[Comment, ...]]:
    topics, posts = [], []
    for number, draft in enumerate(drafts, start=1):
        topics.append(replace(draft.topic, id=number, last_active=_iso(draft.posts[-1].at)))
        posts += [(post.at, number, place, post) for place, post in enumerate(draft.posts)]
    posts.sort(key=lambda entry: entry[:3])
    comments = [
        Comment(number, topic, post.user, post.text, _iso(at), first=place == 0, fact=post.fact)
        for number, (at, topic, place, post) in enumerate(posts, start=1)
    ]
    return tuple(topics), tuple(comments)


def _likes(rng: random.Random, users: list[User], comments: tuple[Comment, ...]) -> tuple[Like, ...]:
    likes = []
    for comment in comments:
        for user in rng.sample(users[2:], rng.choice((0, 0, 0, 0, 1, 1, 2, 3, 5))):
            if user.id != comment.user:
                at = datetime.fromisoformat(comment.date) + timedelta(minutes=rng.randrange(3, 1400))
                likes.append(Like(user.id, comment.id, _iso(at)))
    return tuple(likes)


def _polls(rng: random.Random, users: list[User], topics: tuple[Topic, ...]) -> tuple[Poll, ...]:
    by_title = {topic.title: topic for topic in topics}
    polls = []
    for title, _, name, choices in text.POLLS:
        voters = [user.id for user in rng.sample(users[2:], rng.randrange(14, 30))]
        votes: list[list[int]] = [[] for _ in choices]
        for voter in voters:
            rng.choices(votes, [len(choices) - place + rng.random() for place in range(len(choices))])[0].append(voter)
        polls.append(Poll(by_title[title].id, name, choices, tuple(map(tuple, votes))))
    return tuple(polls)


def _last_seen(user: User, comments: tuple[Comment, ...]) -> str:
    return max([user.joined, *(comment.date for comment in comments if comment.user == user.id)])


def _filled(template: str, thing: str) -> str:
    return template.replace("{thing}", thing).replace("{Thing}", thing[0].upper() + thing[1:])


def _iso(at: datetime) -> str:
    return at.isoformat()
