"""What several of the forum's templates have in common: a topic is asked about, or something is done to it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from random import Random
from typing import ClassVar

from harness.benchmarks.arena.api import Kind, Template, Values, answer, expect
from harness.benchmarks.arena.forum import facts
from harness.sites.worlds.forum import Topic
from harness.types import JsonDict

TOPIC, COMMENT = "spirit_topic_topic", "spirit_comment_comment"
NOTIFICATION = "spirit_topic_notification_topicnotification"

REPLIES = (
    "Thank you all, I will try that at the weekend.", "I made the same experience and agree.", "Could you post a picture of it?",
    "My neighbour swears by the opposite, but I trust you.", "That saved me a whole afternoon.",
    "I would wait until spring before I decide.",
)  # fmt: skip


class AboutTopic(Template):
    """A question about one topic. The nearly right oracle looks at another topic, whose answer differs."""

    sites = ("forum",)
    kind: ClassVar[Kind] = "information"

    def keep(self, topic: Topic) -> bool:
        """May the question be asked of it?"""
        return bool(topic.thing)

    @abstractmethod
    def truth(self, topic: Topic) -> str:
        """The answer, of topics that are kept."""

    def values(self, topic: Topic) -> JsonDict:
        return facts.topic_values(topic)

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        return (self.values(topic) for topic in facts.drawn(rng, self.keep))

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(self.truth(facts.topic_called(v["title"]))))

    def nearly(self, v: Values) -> JsonDict:
        topic = facts.topic_called(v["title"])
        other = facts.another(topic, lambda t: self.keep(t) and self.truth(t) != self.truth(topic))
        return self.values(other)


class OnTopic(Template):
    """Something that is done to one topic. The nearly right oracle does it to another."""

    sites = ("forum",)
    kind: ClassVar[Kind] = "content"

    def keep(self, topic: Topic) -> bool:
        return bool(topic.thing) and not topic.closed

    def values(self, topic: Topic) -> JsonDict:
        return facts.topic_values(topic)

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        return (self.values(topic) for topic in facts.drawn(rng, self.keep))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, **self.values(facts.another(facts.topic_called(v["title"]), self.keep))}


class OnComment(OnTopic):
    """Something done to the only comment that somebody else has in a topic."""

    def keep(self, topic: Topic) -> bool:
        return super().keep(topic) and facts.single_author(topic) is not None

    def values(self, topic: Topic) -> JsonDict:
        comment = facts.single_author(topic)
        assert comment is not None
        return {**facts.topic_values(topic), "author": facts.username(comment.user)}

    def comment_id(self, v: Values) -> int:
        comment = facts.single_author(facts.topic_called(v["title"]))
        assert comment is not None
        return comment.id
