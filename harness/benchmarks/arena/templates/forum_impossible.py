"""Tasks that cannot be done on the forum: the right answer is to say so."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, expect, impossible
from harness.benchmarks.arena.forum import facts, steps
from harness.benchmarks.arena.forum.bases import REPLIES, OnTopic
from harness.sites.worlds.forum import Topic
from harness.sites.worlds.forum_text import SUBJECTS
from harness.types import JsonDict


class MissingTopic(Template):
    id = "forum-missing-topic"
    sites = ("forum",)
    kind = "information"
    unachievable = True
    phrasings = (
        'Who started the topic "Beekeeping diary: {about}"?',
        'How many comments has the discussion "Beekeeping diary: {about}"? Say so if there is no such topic.',
        'Find the topic titled "Beekeeping diary: {about}" and name its latest commenter.',
        'Open "Beekeeping diary: {about}" and tell me when it was published.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        things = [thing for subject in SUBJECTS for board in subject.boards for thing in board.things]
        for thing in rng.sample(things, self.count):
            yield {"about": thing, "title": f"Beekeeping diary: {thing}"}

    def expected(self, v: Values) -> JsonDict:
        return expect(impossible())

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "title": next(t.title for t in facts.world().public_topics if t.thing == v["about"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.search(o, v["title"])
        if o.maybe():
            yield from steps.search(o, v["about"])
        if o.has("link", v["title"]):
            yield from o.click("link", v["title"])
            yield from o.stop(steps.opener_name(o))
        else:
            yield from o.give_up(f'There is no topic called "{v["title"]}".')


class ReplyToClosed(OnTopic):
    id = "forum-reply-closed"
    unachievable = True
    phrasings = (
        'Add a comment to "{title}" that says "{text}". If that is impossible, tell me so.',
        'Post "{text}" as an answer in the topic "{title}"',
        'Please take part in the discussion "{title}": write "{text}" there.',
        'I want my opinion below "{title}", namely "{text}"',
    )

    def keep(self, topic: Topic) -> bool:
        return bool(topic.thing) and topic.closed

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for topic in facts.drawn(rng, self.keep):
            yield {**self.values(topic), "text": rng.choice(REPLIES)}

    def expected(self, v: Values) -> JsonDict:
        return expect(impossible())

    def nearly(self, v: Values) -> JsonDict:
        open_one = facts.another(facts.topic_called(v["title"]), lambda topic: bool(topic.thing) and not topic.closed)
        return {**v, **self.values(open_one)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from steps.last_page(o)
        if o.has("textbox"):
            yield from steps.write_reply(o, v["text"])
            yield from o.stop()
        else:
            yield from o.give_up("The topic is closed: nobody can comment there any more.")


TEMPLATES = (MissingTopic(), ReplyToClosed())
