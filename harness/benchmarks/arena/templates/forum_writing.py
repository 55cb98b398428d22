"""Tasks of a member who changes something on the forum: topics, comments, likes, messages, votes, the own profile."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, changes, expect, rows
from harness.benchmarks.arena.forum import facts, steps
from harness.benchmarks.arena.forum.bases import COMMENT, NOTIFICATION, REPLIES, TOPIC, OnComment, OnTopic
from harness.sites.worlds.forum import MEMBER, Topic
from harness.sites.worlds.names import TOWNS
from harness.types import JsonDict

_TITLES = (
    "Looking for a partner for Saturday mornings", "A small success to report", "Odd question, quick answer wanted",
    "Swap: spare parts for advice", "Who else is new here?", "My list of mistakes so far",
    "Three things that nobody told me", "Lost and found after the last meeting",
)  # fmt: skip
_BODIES = (
    "I have tried it twice now and would like to hear how you do it.", "Everything worked on the second attempt, thanks to you.",
    "Does anybody here have a spare one to lend until the end of the month?", "I can offer an hour of help in return.",
    "Please tell me if this belongs somewhere else.", "It began with a good idea and ended with a hammer.",
)  # fmt: skip


class PostTopic(Template):
    id = "forum-post-topic"
    sites = ("forum",)
    kind = "content"
    phrasings = (
        'Publish a new topic in the board {board} ({subject}) with the title "{title}" and the text "{text}"',
        'Start a discussion called "{title}" in {subject}, board {board}. It should say: "{text}"',
        'Please post "{text}" under the title "{title}" as a new topic of {board}, which belongs to {subject}.',
        'In {board} (part of {subject}), create a topic. Title: "{title}". Comment: "{text}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        boards = facts.boards()
        for title, board in zip(rng.sample(_TITLES, len(_TITLES)), rng.sample(boards, len(_TITLES)), strict=True):
            yield {"title": title, "text": rng.choice(_BODIES), "board": board.title, "subject": facts.parent_of(board)}

    def expected(self, v: Values) -> JsonDict:
        sql = f"""SELECT k.title, u.username, c.comment FROM {TOPIC} t JOIN spirit_category_category k ON k.id = t.category_id
                  JOIN auth_user u ON u.id = t.user_id JOIN {COMMENT} c ON c.topic_id = t.id WHERE t.title = ?"""
        return expect(
            rows("forum", sql, [v["title"]], [[v["board"], MEMBER[0], v["text"]]]),
            changes("forum", f"{TOPIC} +1", f"{COMMENT} +1", f"{NOTIFICATION} +1"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "text": v["text"].removesuffix(".").removesuffix("?") + "!"}

    def oracle(self, o: Hands, v: Values) -> Steps:
        if o.maybe():
            yield from steps.go_to_board(o, v["subject"], v["board"])
        yield from o.click("link", "Create Topic")
        yield from o.fill("textbox", "Title:", v["title"])
        # A board's own page has chosen it already; choosing it again does no harm.
        yield from o.select("Category:", f"--- {v['board']}")
        yield from o.fill("textbox", "Comment:", v["text"])
        yield from o.click("button", "Publish")
        yield from o.stop()


class Reply(OnTopic):
    id = "forum-reply"
    phrasings = (
        'Reply to the topic "{title}" with "{text}"',
        'Add the comment "{text}" to the discussion "{title}".',
        'In the topic "{title}", answer: "{text}"',
        'Write "{text}" as a new comment below "{title}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for topic in facts.drawn(rng, self.keep):
            yield {**self.values(topic), "text": rng.choice(REPLIES)}

    def expected(self, v: Values) -> JsonDict:
        sql = f"SELECT t.title FROM {COMMENT} c JOIN {TOPIC} t ON t.id = c.topic_id WHERE c.comment = ? AND c.user_id = ?"
        return expect(
            rows("forum", sql, [v["text"], facts.MEMBER_ID], [[v["title"]]]),
            changes("forum", f"{COMMENT} +1", f"{TOPIC} ~1", NOTIFICATION),
        )

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from steps.write_reply(o, v["text"])
        yield from o.stop()


class EditComment(OnTopic):
    id = "forum-edit-comment"
    phrasings = (
        'Change my comment in the topic "{title}" so that it reads "{text}"',
        'I wrote something in "{title}" that I want to replace: my comment there should be "{text}".',
        'Edit what I posted in the discussion "{title}". The new text is "{text}"',
        'In "{title}" there is one comment of mine. Make it say: "{text}"',
    )

    def keep(self, topic: Topic) -> bool:
        own = [c for c in facts.comments_of(topic)[:20] if c.user == facts.MEMBER_ID]
        everywhere = [c for c in facts.comments_of(topic) if c.user == facts.MEMBER_ID]
        return super().keep(topic) and len(own) == len(everywhere) == 1 and not own[0].first

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for topic in facts.drawn(rng, self.keep):
            yield {**self.values(topic), "text": rng.choice(REPLIES)}

    def expected(self, v: Values) -> JsonDict:
        sql = f"""SELECT c.comment, c.is_modified OR c.modified_count > 0 FROM {COMMENT} c JOIN {TOPIC} t ON t.id = c.topic_id
                  WHERE t.title = ? AND c.user_id = ?"""
        return expect(
            rows("forum", sql, [v["title"], facts.MEMBER_ID], [[v["text"], 1]]),
            changes("forum", f"{COMMENT} ~1", "spirit_comment_history_commenthistory +2"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "text": next(text for text in REPLIES if text != v["text"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from steps.act_on_comment(o, MEMBER[0], "edit")
        yield from o.fill("textbox", "Comment:", v["text"])
        yield from o.click("button", "Publish")
        yield from o.stop()


class LikeComment(OnComment):
    id = "forum-like-comment"
    phrasings = (
        'Like the comment by {author} in the topic "{title}"',
        'Give {author} a like for their comment in "{title}".',
        'In the discussion "{title}", press like on what {author} wrote',
        'I agree with {author} in "{title}": like that comment for me.',
    )

    def expected(self, v: Values) -> JsonDict:
        sql = "SELECT comment_id FROM spirit_comment_like_commentlike WHERE user_id = ?"
        return expect(
            rows("forum", sql, [facts.MEMBER_ID], [[self.comment_id(v)]]),
            changes("forum", "spirit_comment_like_commentlike +1", f"{COMMENT} ~1"),
        )

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from steps.act_on_comment(o, v["author"], "like")
        yield from o.stop()


class ReportComment(OnComment):
    id = "forum-report-comment"
    phrasings = (
        'Report the comment by {author} in "{title}" as {reason}, with the note "{note}"',
        'The comment of {author} in the topic "{title}" should be reported. Reason: {reason}. Body: "{note}"',
        'Please flag what {author} wrote in "{title}" for the moderators: reason {reason}, explanation "{note}".',
        'Tell the moderators about {author}\'s comment in "{title}": report it as {reason} and add "{note}"',
    )
    _NOTES = (
        "It repeats an older comment word for word.",
        "This has nothing to do with the topic.",
        "Looks like an advertisement to me.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for topic in facts.drawn(rng, self.keep):
            yield {**self.values(topic), "reason": rng.choice(("Spam", "Other")), "note": rng.choice(self._NOTES)}

    def expected(self, v: Values) -> JsonDict:
        reason = ("Spam", "Other").index(v["reason"])
        sql = "SELECT comment_id, reason, body FROM spirit_comment_flag_flag WHERE user_id = ?"
        return expect(
            rows("forum", sql, [facts.MEMBER_ID], [[self.comment_id(v), reason, v["note"]]]),
            changes("forum", "spirit_comment_flag_flag +1", "spirit_comment_flag_commentflag +1"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "reason": "Other" if v["reason"] == "Spam" else "Spam"}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from steps.act_on_comment(o, v["author"], "report")
        yield from o.select("Reason:", v["reason"])
        yield from o.fill("textbox", "Body:", v["note"])
        yield from o.click("button", "Report")
        yield from o.stop()


class Subscribe(OnTopic):
    id = "forum-subscribe"
    kind = "configuration"
    phrasings = (
        'Turn on notifications for the topic "{title}"',
        'I want to be notified of new comments in "{title}".',
        'Subscribe me to the discussion "{title}"',
        'Make sure that I hear about replies in "{title}": switch its notifications on.',
    )

    def keep(self, topic: Topic) -> bool:
        return super().keep(topic) and all(c.user != facts.MEMBER_ID for c in facts.comments_of(topic))

    def expected(self, v: Values) -> JsonDict:
        sql = f"SELECT is_active FROM {NOTIFICATION} WHERE user_id = ? AND topic_id = ?"
        topic = facts.topic_called(v["title"])
        return expect(
            rows("forum", sql, [facts.MEMBER_ID, topic.id], [[1]]),
            changes("forum", f"{NOTIFICATION} +1"),
        )

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from o.click("button", "Notify Me")
        yield from o.stop()


class Unsubscribe(OnTopic):
    id = "forum-unsubscribe"
    kind = "configuration"
    phrasings = (
        'Stop the notifications for the topic "{title}"',
        'I no longer want to hear about new comments in "{title}".',
        'Unsubscribe me from the discussion "{title}"',
        'The topic "{title}" sends me too many notifications: turn them off.',
    )

    def keep(self, topic: Topic) -> bool:
        return super().keep(topic) and any(c.user == facts.MEMBER_ID for c in facts.comments_of(topic))

    def expected(self, v: Values) -> JsonDict:
        sql = f"SELECT is_active FROM {NOTIFICATION} WHERE user_id = ? AND topic_id = ?"
        topic = facts.topic_called(v["title"])
        return expect(
            rows("forum", sql, [facts.MEMBER_ID, topic.id], [[0]]),
            changes("forum", f"{NOTIFICATION} ~1"),
        )

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from o.click("button", "Unnotify Me")
        yield from o.stop()


class PrivateMessage(OnTopic):
    id = "forum-private-message"
    phrasings = (
        'Send a private message to the author of "{title}", with the title "{heading}" and the text "{text}"',
        'Write to whoever started the topic "{title}", in private. Title: "{heading}". Text: "{text}"',
        'I need to contact the member who opened "{title}" privately: "{heading}" as the title, "{text}" as the comment.',
        'Begin a private topic called "{heading}" with the person behind "{title}" and say "{text}"',
    )

    def keep(self, topic: Topic) -> bool:
        return bool(topic.thing) and topic.user > facts.MEMBER_ID

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        headings = ("A question for you", "About your last topic", "May I call you?", "An offer")
        for topic in facts.drawn(rng, self.keep):
            yield {**self.values(topic), "heading": rng.choice(headings), "text": rng.choice(_BODIES)}

    def expected(self, v: Values) -> JsonDict:
        sql = f"""SELECT u.username, c.comment FROM {TOPIC} t JOIN {COMMENT} c ON c.topic_id = t.id
                  JOIN spirit_topic_private_topicprivate p ON p.topic_id = t.id JOIN auth_user u ON u.id = p.user_id
                  WHERE t.title = ? AND u.id <> ?"""
        other = facts.username(facts.topic_called(v["title"]).user)
        return expect(
            rows("forum", sql, [v["heading"], facts.MEMBER_ID], [[other, v["text"]]]),
            changes("forum", f"{TOPIC} +1", f"{COMMENT} +1", "spirit_topic_private_topicprivate +2", f"{NOTIFICATION} +2"),
        )

    def nearly(self, v: Values) -> JsonDict:
        topic = facts.topic_called(v["title"])
        other = facts.another(topic, lambda t: self.keep(t) and t.user != topic.user)
        return {**v, **self.values(other)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_author(o, v)
        yield from o.click("link", "\uf0e0 Private Message")
        yield from o.fill("textbox", "Title:", v["heading"])
        yield from o.fill("textbox", "Comment:", v["text"])
        yield from o.click("button", "Publish")
        yield from o.stop()


class Vote(Template):
    id = "forum-vote"
    sites = ("forum",)
    kind = "content"
    phrasings = (
        'Vote for "{choice}" in the poll "{title}"',
        'My answer to the poll "{title}" is "{choice}": cast my vote.',
        'Find the poll "{title}" and choose "{choice}" there',
        'Take part in the poll "{title}" for me. I am for "{choice}".',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        polls = facts.world().polls
        for poll in rng.sample(polls, len(polls)):
            topic = facts.world().topics[poll.topic - 1]
            yield {**facts.topic_values(topic), "choice": rng.choice(poll.choices)}

    def expected(self, v: Values) -> JsonDict:
        sql = f"""SELECT t.title, ch.description FROM spirit_comment_poll_commentpollvote v
                  JOIN spirit_comment_poll_commentpollchoice ch ON ch.id = v.choice_id
                  JOIN spirit_comment_poll_commentpoll p ON p.id = ch.poll_id JOIN {COMMENT} c ON c.id = p.comment_id
                  JOIN {TOPIC} t ON t.id = c.topic_id WHERE v.voter_id = ?"""
        return expect(
            rows("forum", sql, [facts.MEMBER_ID], [[v["title"], v["choice"]]]),
            changes("forum", "spirit_comment_poll_commentpollvote +1", "spirit_comment_poll_commentpollchoice ~1"),
        )

    def nearly(self, v: Values) -> JsonDict:
        poll = next(p for p in facts.world().polls if p.topic == facts.topic_called(v["title"]).id)
        return {**v, "choice": next(choice for choice in poll.choices if choice != v["choice"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        yield from o.check(v["choice"])
        yield from o.click("button", "Vote")
        yield from o.stop()


class Location(Template):
    id = "forum-location"
    sites = ("forum",)
    kind = "configuration"
    phrasings = (
        "Set the location in my profile to {town}",
        "I have moved to {town}: update my forum profile.",
        "Change where I live to {town} in my preferences",
        "My profile should say that I am from {town}. Please correct it.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        now = facts.world().users[0].location
        for town in rng.sample([town for town in TOWNS if town != now], len(TOWNS) - 1):
            yield {"town": town}

    def expected(self, v: Values) -> JsonDict:
        sql = "SELECT location FROM spirit_user_userprofile WHERE user_id = ?"
        return expect(rows("forum", sql, [facts.MEMBER_ID], [[v["town"]]]), changes("forum", "spirit_user_userprofile ~1"))

    def nearly(self, v: Values) -> JsonDict:
        return {"town": f"{v['town']} Bay"}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_preferences(o)
        yield from o.fill("textbox", "Location:", v["town"])
        yield from o.click("button", "Save")
        yield from o.stop()


TEMPLATES = (
    PostTopic(),
    Reply(),
    EditComment(),
    LikeComment(),
    ReportComment(),
    Subscribe(),
    Unsubscribe(),
    PrivateMessage(),
    Vote(),
    Location(),
)
