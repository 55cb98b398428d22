"""Tasks of the forum's moderator, who has to sign in first: the task names the account and its password."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, changes, expect, rows
from harness.benchmarks.arena.forum import facts, steps
from harness.benchmarks.arena.forum.bases import COMMENT, TOPIC
from harness.sites.worlds.forum import MODERATOR, Topic
from harness.types import JsonDict


class _Moderation(Template):
    """Something a moderator does to a topic. Nearly right: to another topic."""

    sites = ("forum",)
    kind = "configuration"
    login = ()
    column = ""
    """Of the topic's row; becomes 1."""
    entry = ""
    """Of the moderation menu."""
    action_comments = 0
    """Comments that the forum adds by itself ("tobias_wren closed this …")."""

    def keep(self, topic: Topic) -> bool:
        return bool(topic.thing) and not topic.closed and not topic.pinned

    def values(self, topic: Topic) -> JsonDict:
        return facts.topic_values(topic)

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        account = {"account": MODERATOR[0], "password": MODERATOR[1]}
        return ({**self.values(topic), **account} for topic in facts.drawn(rng, self.keep))

    def expected(self, v: Values) -> JsonDict:
        sql = f"SELECT {self.column} FROM {TOPIC} WHERE title = ?"
        by_itself = [f"{COMMENT} +{self.action_comments}"] if self.action_comments else []
        return expect(rows("forum", sql, [v["title"]], [[1]]), changes("forum", f"{TOPIC} ~1", *by_itself))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, **self.values(facts.another(facts.topic_called(v["title"]), self.keep))}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.log_in(o, v)
        yield from steps.open_topic(o, v)
        yield from steps.moderate(o, self.entry)
        yield from o.stop()


class CloseTopic(_Moderation):
    id = "forum-close-topic"
    column, entry, action_comments = "is_closed", "Close topic", 1
    phrasings = (
        'Log in as {account} with the password {password} and close the topic "{title}"',
        'As the moderator {account} (password {password}), put an end to the discussion "{title}": close it.',
        'The topic "{title}" has run its course. Sign in as {account}, password {password}, and close it',
        'Nobody should comment in "{title}" any more. The moderator is {account}, the password {password}: lock the topic.',
    )


class PinTopic(_Moderation):
    id = "forum-pin-topic"
    column, entry, action_comments = "is_pinned", "Pin topic", 1
    phrasings = (
        'Log in as {account} with the password {password} and pin the topic "{title}" in its board (not globally)',
        'As the moderator {account} (password {password}), make "{title}" stay on top of its board by pinning it.',
        'Sign in as {account}, password {password}, and pin "{title}" within its category',
        'The discussion "{title}" deserves a pin in its own board. Use the account {account} with {password}.',
    )


class DeleteTopic(_Moderation):
    id = "forum-delete-topic"
    column, entry = "is_removed", "Delete topic"
    phrasings = (
        'Log in as {account} with the password {password} and delete the topic "{title}"',
        'As the moderator {account} (password {password}), remove the topic "{title}" from the forum.',
        'Sign in as {account}, password {password}, and take down the whole discussion "{title}"',
        'The topic "{title}" breaks the house rules: delete it. Your account is {account}, your password {password}.',
    )


class MoveTopic(_Moderation):
    id = "forum-move-topic"
    phrasings = (
        'Log in as {account} with the password {password} and move the topic "{title}" to the board {target}',
        'As the moderator {account} (password {password}), change the category of "{title}" to {target}.',
        'Sign in as {account}, password {password}: the topic "{title}" belongs to {target}, so put it there',
        'Somebody posted "{title}" in the wrong board. Move it to {target}; you are {account} with the password {password}.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for values in super().instances(rng):
            yield {**values, "target": rng.choice([b.title for b in facts.boards() if b.title != values["board"]])}

    def expected(self, v: Values) -> JsonDict:
        sql = f"SELECT k.title FROM {TOPIC} t JOIN spirit_category_category k ON k.id = t.category_id WHERE t.title = ?"
        return expect(rows("forum", sql, [v["title"]], [[v["target"]]]), changes("forum", f"{TOPIC} ~1", f"{COMMENT} +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "target": next(b.title for b in facts.boards() if b.title not in (v["board"], v["target"]))}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.log_in(o, v)
        yield from steps.open_topic(o, v)
        yield from o.click("link", "\uf040 edit")
        yield from o.select("Category:", f"--- {v['target']}")
        yield from o.click("button", "Update")
        yield from o.stop()


class RenameTopic(_Moderation):
    id = "forum-rename-topic"
    phrasings = (
        'Log in as {account} with the password {password} and rename the topic "{title}" to "{heading}"',
        'As the moderator {account} (password {password}), give "{title}" the clearer title "{heading}".',
        'Sign in as {account}, password {password}, and change the title of "{title}" into "{heading}"',
        'The title "{title}" says too little: make it "{heading}". The account is {account}, the password {password}.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for values in super().instances(rng):
            yield {**values, "heading": f"{rng.choice(('Solved', 'Collected answers', 'Open question'))}: {values['about']}"}

    def expected(self, v: Values) -> JsonDict:
        topic = facts.topic_called(v["title"])
        sql = f"SELECT title FROM {TOPIC} WHERE id = ?"
        return expect(rows("forum", sql, [topic.id], [[v["heading"]]]), changes("forum", f"{TOPIC} ~1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "heading": v["heading"].upper()}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.log_in(o, v)
        yield from steps.open_topic(o, v)
        yield from o.click("link", "\uf040 edit")
        yield from o.fill("textbox", "Title:", v["heading"])
        yield from o.click("button", "Update")
        yield from o.stop()


class DeleteComment(_Moderation):
    id = "forum-delete-comment"
    phrasings = (
        'Log in as {account} with the password {password} and delete the comment by {author} in "{title}"',
        'As the moderator {account} (password {password}), remove what {author} wrote in the topic "{title}".',
        'Sign in as {account}, password {password}. The comment of {author} in the discussion "{title}" has to go',
        'Delete {author}\'s only comment in "{title}". You are the moderator {account}, the password is {password}.',
    )

    def keep(self, topic: Topic) -> bool:
        comment = facts.single_author(topic)
        return super().keep(topic) and comment is not None

    def values(self, topic: Topic) -> JsonDict:
        comment = facts.single_author(topic)
        assert comment is not None
        return {**facts.topic_values(topic), "author": facts.username(comment.user)}

    def expected(self, v: Values) -> JsonDict:
        comment = facts.single_author(facts.topic_called(v["title"]))
        assert comment is not None
        sql = f"SELECT is_removed FROM {COMMENT} WHERE id = ?"
        return expect(rows("forum", sql, [comment.id], [[1]]), changes("forum", f"{COMMENT} ~1"))

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.log_in(o, v)
        yield from steps.open_topic(o, v)
        yield from steps.act_on_comment(o, v["author"], "delete")
        if o.has("button", "Apply"):
            yield from o.click("button", "Apply")
        yield from o.stop()


TEMPLATES = (
    CloseTopic(),
    PinTopic(),
    DeleteTopic(),
    MoveTopic(),
    RenameTopic(),
    DeleteComment(),
)
