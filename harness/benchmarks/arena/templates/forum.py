"""Tasks of reading on the forum: find a topic, a comment, a member, a poll, and say or show what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import ClassVar

from harness.benchmarks.arena.api import Hands, Kind, Steps, Template, Values, answer, at_url, exact_answer, expect
from harness.benchmarks.arena.forum import facts, steps
from harness.benchmarks.arena.forum.bases import AboutTopic
from harness.sites.worlds.forum import PRIVATE_CATEGORY, Comment, Topic
from harness.types import JsonDict


class StartedBy(AboutTopic):
    id = "forum-started-by"
    phrasings = (
        'Who started the topic "{title}"?',
        'Find the topic "{title}" and tell me the user name of the member who opened it',
        'I need the name of the person who began the discussion "{title}".',
        'Which member published the topic "{title}"?',
    )

    def truth(self, topic: Topic) -> str:
        return facts.username(topic.user)

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from o.stop(steps.opener_name(o))


class CommentCount(AboutTopic):
    id = "forum-comment-count"
    phrasings = (
        'How many comments does the forum count for the topic "{title}"? Answer with the number only.',
        'Tell me the number of comments that lists show beside "{title}" (just the number)',
        'What is the comment count of the topic "{title}", the opening post included? Only the number, please.',
        'Look up "{title}" and reply with its number of comments and nothing else',
    )

    def truth(self, topic: Topic) -> str:
        return str(len(facts.comments_of(topic)))

    def expected(self, v: Values) -> JsonDict:
        return expect(exact_answer(self.truth(facts.topic_called(v["title"]))))

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.find_topic(o, v)
        yield from o.stop(str(steps.comment_counts(o)[v["title"]]))


class LastCommenter(AboutTopic):
    id = "forum-last-commenter"
    phrasings = (
        'Who wrote the most recent comment in the topic "{title}"?',
        'The discussion "{title}" goes on for several pages: which member had the last word?',
        'Name the author of the newest comment in "{title}".',
        'Find out who commented last in the topic "{title}"',
    )

    def keep(self, topic: Topic) -> bool:
        return len(facts.comments_of(topic)) > 21

    def truth(self, topic: Topic) -> str:
        return facts.username(facts.comments_of(topic)[-1].user)

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from steps.last_page(o)
        yield from o.stop(steps.author_names(o)[-1])


class OpeningLikes(AboutTopic):
    id = "forum-opening-likes"
    phrasings = (
        'How many likes does the first post of the topic "{title}" have? Answer with the number only.',
        'Count the likes of the opening post of "{title}" and reply with just the number',
        'What number of members liked the post that opens "{title}"? Only the number, please.',
        'Tell me how often the opening post in the topic "{title}" was liked, as a bare number.',
    )

    def keep(self, topic: Topic) -> bool:
        return bool(topic.thing) and topic.user != facts.MEMBER_ID

    def truth(self, topic: Topic) -> str:
        return str(facts.likes_of(facts.comments_of(topic)[0]))

    def expected(self, v: Values) -> JsonDict:
        return expect(exact_answer(self.truth(facts.topic_called(v["title"]))))

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        likes = o.match(r"like \((\d+)\)") or _link_match(o, r"like \((\d+)\)")
        yield from o.stop(likes[1] if likes else "0")


class _FactInTopic(AboutTopic):
    """What one member stated in a topic."""

    fact: str
    pattern: str

    def keep(self, topic: Topic) -> bool:
        return self._comment(topic) is not None

    def truth(self, topic: Topic) -> str:
        comment = self._comment(topic)
        assert comment is not None and comment.fact is not None
        return comment.fact[1]

    def values(self, topic: Topic) -> JsonDict:
        comment = self._comment(topic)
        assert comment is not None
        return {**facts.topic_values(topic), "author": facts.username(comment.user)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        while not (found := o.match(self.pattern)):
            yield from o.click("link", steps.NEXT_ICON)
        yield from o.stop(found[1])

    def _comment(self, topic: Topic) -> Comment | None:
        return next((c for c in facts.comments_of(topic) if c.fact is not None and c.fact[0] == self.fact), None)


class PricePaid(_FactInTopic):
    id = "forum-price-paid"
    fact = "price"
    pattern = r"I paid (\d+) crowns"
    phrasings = (
        'According to the topic "{title}", how many crowns did {author} pay? Answer with the number only.',
        'What did {author} pay, as they say in "{title}"? Just the number of crowns.',
        '{author} mentions a price in the discussion "{title}". Which one? Reply with the bare number.',
        'Read "{title}" and tell me the amount in crowns that {author} spent (number only)',
    )

    def expected(self, v: Values) -> JsonDict:
        return expect(exact_answer(self.truth(facts.topic_called(v["title"]))))


class ShopTown(_FactInTopic):
    id = "forum-shop-town"
    fact = "town"
    pattern = r"small shop in ([A-Z][\w ]+)\."
    phrasings = (
        'In which town did {author} find what they needed, according to the topic "{title}"?',
        '{author} recommends a small shop in the discussion "{title}": where is it?',
        'Look into "{title}" and tell me the town of the shop that {author} mentions',
        'Which place does {author} name in "{title}" as the home of a small shop?',
    )


class AuthorJoined(AboutTopic):
    id = "forum-author-joined"
    phrasings = (
        'When did the author of the topic "{title}" join the forum? Give the date as their profile shows it, like 5 Jan 2025.',
        'Since what date has the member who started "{title}" been on this forum? Write it like 5 Jan 2025',
        'Look at the profile of the person who opened "{title}" and tell me the joining date (for example 5 Jan 2025).',
        'On which day did whoever began the topic "{title}" sign up? The format should be that of 5 Jan 2025.',
    )

    def truth(self, topic: Topic) -> str:
        return facts.joined(topic.user)

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_author(o, v)
        found = o.match(r"Joined at\n(\d+ \w+ \d+)")
        yield from o.stop(found[1] if found else "I cannot find the date.")


class AuthorLatest(AboutTopic):
    id = "forum-author-latest"
    phrasings = (
        'In which topic did the author of "{title}" comment most recently? Give its title.',
        'Find the member who opened "{title}" and tell me the title of the topic where they posted last',
        'Where on the forum was whoever started "{title}" active most recently? I want the topic\'s title.',
        'What is the title of the topic that holds the newest comment by the author of "{title}"?',
    )

    def truth(self, topic: Topic) -> str:
        return facts.title_of(facts.public_comments_by(topic.user)[-1].topic)

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_author(o, v)
        newest = o.find("link", re.compile("^\uf086 "))[0]
        yield from o.stop(newest.name.removeprefix("\uf086 "))


class AuthorTopicCount(AboutTopic):
    id = "forum-author-topic-count"
    phrasings = (
        'How many topics in {subject} has the author of "{title}" started? Answer with the number only.',
        'Count the {subject} topics on the profile of the member who opened "{title}" and reply with just the number',
        'Of all the topics begun by whoever published "{title}", how many belong to {subject}? Only the number, please.',
        'I want to know how often the author of "{title}" has opened a topic in {subject}. A bare number will do.',
    )

    def keep(self, topic: Topic) -> bool:
        return bool(topic.thing) and int(self.truth(topic)) >= 2

    def truth(self, topic: Topic) -> str:
        own = [t for t in facts.world().public_topics if t.user == topic.user]
        return str(sum(facts.subject(t) == facts.subject(topic) for t in own))

    def expected(self, v: Values) -> JsonDict:
        return expect(exact_answer(self.truth(facts.topic_called(v["title"]))))

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_author(o, v)
        yield from o.click("link", "Topics")
        count = steps.listed_categories(o).count(v["subject"])
        while o.has("link", steps.NEXT_ICON):
            yield from o.click("link", steps.NEXT_ICON)
            count += steps.listed_categories(o).count(v["subject"])
        yield from o.stop(str(count))


class PollLeader(AboutTopic):
    id = "forum-poll-leader"
    count = 4
    phrasings = (
        'Which choice leads in the poll "{title}"?',
        'Look at the results of the poll "{title}" and tell me the answer that got the most votes',
        'What do most members vote for in "{title}"?',
        'Name the winning option of the poll "{title}" as it stands.',
    )

    def keep(self, topic: Topic) -> bool:
        votes = next((sorted(map(len, p.votes)) for p in facts.world().polls if p.topic == topic.id), None)
        return votes is not None and votes[-1] > votes[-2]

    def truth(self, topic: Topic) -> str:
        poll = next(poll for poll in facts.world().polls if poll.topic == topic.id)
        return max(zip(map(len, poll.votes), poll.choices, strict=True))[1]

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from o.click("link", re.compile("Show results$"))
        results = re.findall(r"^(.+), (\d+)%", "\n".join(o.texts()), re.MULTILINE)
        yield from o.stop(max(results, key=lambda result: int(result[1]))[0])


class BusiestTopic(Template):
    id = "forum-busiest-topic"
    sites = ("forum",)
    kind: ClassVar[Kind] = "information"
    phrasings = (
        "Which topic in {board} (a board of {subject}) has the most comments? Give its title.",
        "Find the most discussed topic of the board {board} in {subject} and tell me what it is called",
        "What is the title of the topic with the highest comment count in {subject}, board {board}?",
        "In the {board} board below {subject}, which discussion is the longest? I need the title.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        boards = [category for category in facts.boards() if self._truth(category.title)]
        for category in rng.sample(boards, len(boards)):
            yield {"board": category.title, "subject": facts.parent_of(category)}

    def expected(self, v: Values) -> JsonDict:
        title = self._truth(v["board"])
        assert title is not None
        return expect(answer(title))

    def nearly(self, v: Values) -> JsonDict:
        other = next(c for c in facts.boards() if c.title != v["board"] and self._truth(c.title))
        return {"board": other.title, "subject": facts.parent_of(other)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.go_to_board(o, v["subject"], v["board"])
        counts = steps.comment_counts(o)
        while o.has("link", steps.NEXT_ICON):
            yield from o.click("link", steps.NEXT_ICON)
            counts |= steps.comment_counts(o)
        yield from o.stop(max(counts, key=lambda title: counts[title]))

    def _truth(self, board: str) -> str | None:
        """None where two topics lead."""
        topics = [topic for topic in facts.world().public_topics if facts.board(topic) == board]
        topics.sort(key=lambda topic: len(facts.comments_of(topic)))
        return topics[-1].title if len(facts.comments_of(topics[-1])) > len(facts.comments_of(topics[-2])) else None


class PrivateSender(Template):
    id = "forum-private-sender"
    sites = ("forum",)
    kind = "information"
    count = 5
    phrasings = (
        'Who sent me the private message "{title}"?',
        'Among my private topics there is one called "{title}": which member began it?',
        'Tell me the user name of the person who wrote to me privately about "{title}"',
        'Look into my private topics. Who is the author of "{title}"?',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for topic in rng.sample(self._topics(), len(self._topics())):
            yield {"title": topic.title}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(facts.username(facts.topic_called(v["title"]).user)))

    def nearly(self, v: Values) -> JsonDict:
        return {"title": next(topic.title for topic in self._topics() if topic.title != v["title"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_menu(o, "Private topics")
        yield from o.click("link", v["title"])
        yield from o.stop(steps.opener_name(o))

    def _topics(self) -> list[Topic]:
        return [topic for topic in facts.world().topics if topic.category == PRIVATE_CATEGORY]


class OpenTopic(AboutTopic):
    id = "forum-open-topic"
    kind: ClassVar[Kind] = "navigation"
    phrasings = (
        'Open the topic "{title}"',
        'Take me to the discussion "{title}".',
        'I would like to read "{title}", please bring it up',
        'Show me the page of the topic "{title}".',
    )

    def truth(self, topic: Topic) -> str:
        return f"__FORUM__/topic/{topic.id}/"

    def expected(self, v: Values) -> JsonDict:
        return expect(at_url(self.truth(facts.topic_called(v["title"]))))

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from o.stop("Here it is.")


class OpenAuthorTopics(OpenTopic):
    id = "forum-open-author-topics"
    phrasings = (
        'Show me the list of all topics by the author of "{title}"',
        'I like how "{title}" begins: open the page with everything else its author has started.',
        'Go to the topics tab of the profile of whoever opened "{title}"',
        'Bring up all the topics that the member behind "{title}" has published.',
    )

    def truth(self, topic: Topic) -> str:
        return f"__FORUM__/user/topics/{topic.user}/"

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_author(o, v)
        yield from o.click("link", "Topics")
        yield from o.stop("These are all of them.")


class OpenBoard(BusiestTopic):
    id = "forum-open-board"
    kind = "navigation"
    phrasings = (
        "Open the board {board}, which is part of {subject}",
        "Take me to {board} below {subject}.",
        "Show me the topics of {board} (you find it in {subject})",
        "In the category {subject}, go to the board {board}.",
    )

    def expected(self, v: Values) -> JsonDict:
        return expect(at_url(f"__FORUM__/category/{facts.category_id(v['board'])}/"))

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.go_to_board(o, v["subject"], v["board"])
        yield from o.stop("You are there.")


def _link_match(o: Hands, pattern: str) -> re.Match[str] | None:
    """The first link whose name has the pattern: texts inside links are not pieces of text of their own."""
    found = o.find("link", re.compile(pattern))
    return re.search(pattern, found[0].name) if found else None


TEMPLATES = (
    StartedBy(),
    CommentCount(),
    LastCommenter(),
    OpeningLikes(),
    PricePaid(),
    ShopTown(),
    AuthorJoined(),
    AuthorLatest(),
    AuthorTopicCount(),
    PollLeader(),
    BusiestTopic(),
    PrivateSender(),
    OpenTopic(),
    OpenAuthorTopics(),
    OpenBoard(),
)
