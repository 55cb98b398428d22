"""Fills the forum's tables from a world, with the world's keys: bulk inserts through Spirit's own models."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from djconfig.models import Config
from spirit.category.models import Category
from spirit.comment.like.models import CommentLike
from spirit.comment.models import Comment
from spirit.comment.poll.models import CommentPoll, CommentPollChoice, CommentPollVote
from spirit.core.utils.markdown import Markdown
from spirit.topic.models import Topic
from spirit.topic.notification.models import TopicNotification
from spirit.topic.private.models import TopicPrivate
from spirit.user.models import UserProfile

NEVER_LOGS_IN = "!"
SALT = "common-room-common-room"  # 22 characters or more: Django hashes a password with a shorter one again at login
VOTING = timedelta(hours=5)
"""All votes of a poll are given this long after it was published."""


def load(world: dict) -> None:
    """`world` is harness.sites.worlds.forum.ForumWorld as JSON."""
    Config.objects.bulk_create(
        [
            Config(key="site_name", value="The Common Room"),
            Config(key="site_description", value="A forum for people who make and mend things"),
            Config(key="_updated_at", value=world["now"]),
        ]
    )
    _users(world)
    Category.objects.bulk_create(
        Category(
            pk=c["id"], title=c["title"], description=c["description"], color=c["colour"], parent_id=c["parent"], sort=c["id"],
            reindex_at=world["now"], is_private=c["title"] == "Private",
        )
        for c in world["categories"]
    )  # fmt: skip
    _topics(world)
    _comments(world)
    _polls(world)


def _users(world: dict) -> None:
    topics = Counter(topic["user"] for topic in world["topics"])
    comments = Counter(comment["user"] for comment in world["comments"])
    User.objects.bulk_create(
        User(
            pk=u["id"], username=u["username"], email=u["email"], date_joined=u["joined"],
            password=make_password(u["password"], salt=SALT) if u["password"] else NEVER_LOGS_IN,
        )
        for u in world["users"]
    )  # fmt: skip
    notify = UserProfile.Notify.NEVER | UserProfile.Notify.MENTION | UserProfile.Notify.REPLY
    UserProfile.objects.bulk_create(
        UserProfile(
            pk=u["id"], user_id=u["id"], nickname=u["username"], slug=u["username"], location=u["location"], notify=notify,
            is_moderator=u["moderator"], is_verified=True, topic_count=topics[u["id"]], comment_count=comments[u["id"]],
        )
        for u in world["users"]
    )  # fmt: skip
    for u in world["users"]:  # an insert would say "now": the field is auto_now
        UserProfile.objects.filter(pk=u["id"]).update(last_seen=u["last_seen"])


def _topics(world: dict) -> None:
    sizes = Counter(comment["topic"] for comment in world["comments"])
    Topic.objects.bulk_create(
        Topic(
            pk=t["id"], user_id=t["user"], category_id=t["category"], title=t["title"], date=t["date"],
            last_active=t["last_active"], reindex_at=t["last_active"], is_pinned=t["pinned"],
            is_globally_pinned=t["globally_pinned"], is_closed=t["closed"], comment_count=sizes[t["id"]],
            view_count=sizes[t["id"]] * 7 + t["id"] % 13,
        )
        for t in world["topics"]
    )  # fmt: skip
    TopicPrivate.objects.bulk_create(
        TopicPrivate(user_id=user, topic_id=t["id"], date=t["date"]) for t in world["topics"] for user in t["members"]
    )


def _comments(world: dict) -> None:
    likes = Counter(like["comment"] for like in world["likes"])
    Comment.objects.bulk_create(
        Comment(
            pk=c["id"], user_id=c["user"], topic_id=c["topic"], comment=c["text"], comment_html=_html(c["text"]),
            date=c["date"], likes_count=likes[c["id"]], ip_address="127.0.0.1",
        )
        for c in world["comments"]
    )  # fmt: skip
    CommentLike.objects.bulk_create(
        CommentLike(user_id=like["user"], comment_id=like["comment"], date=like["date"]) for like in world["likes"]
    )
    # As Spirit does it: who has written in a topic is notified of the next comments there.
    latest = {(c["user"], c["topic"]): c for c in world["comments"]}
    TopicNotification.objects.bulk_create(
        TopicNotification(user_id=user, topic_id=topic, comment_id=c["id"], date=c["date"], is_read=True, is_active=True)
        for (user, topic), c in latest.items()
    )


def _html(text: str) -> str:
    """With a parser of its own: it counts the choices of all the polls it has ever seen, and stops at twenty."""
    return Markdown().render(text)


def _polls(world: dict) -> None:
    for poll in world["polls"]:
        comment = Comment.objects.filter(topic_id=poll["topic"]).earliest("date")
        markdown = Markdown()
        markdown.render(comment.comment)
        parsed = markdown.get_polls()
        CommentPoll.update_or_create_many(comment=comment, polls_raw=parsed["polls"])
        CommentPollChoice.update_or_create_many(comment=comment, choices_raw=parsed["choices"])
        CommentPoll.objects.filter(comment=comment).update(created_at=comment.date)
        for number, voters in enumerate(poll["votes"], start=1):
            choice = CommentPollChoice.objects.get(poll__comment=comment, number=number)
            CommentPollChoice.objects.filter(pk=choice.pk).update(vote_count=len(voters))
            CommentPollVote.objects.bulk_create(
                CommentPollVote(voter_id=voter, choice=choice, created_at=comment.date + VOTING) for voter in voters
            )
