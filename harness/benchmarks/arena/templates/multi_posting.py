"""Tasks on several sites that end on the forum: what another site says becomes a reply or a topic."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, changes, expect, rows
from harness.benchmarks.arena.forum import facts, steps
from harness.benchmarks.arena.forum.bases import COMMENT, NOTIFICATION, TOPIC
from harness.benchmarks.arena.shop_moves import find_product, price_shown, world
from harness.benchmarks.arena.templates.multi_moves import (
    DEAREST,
    open_topics,
    order_in_dashboard,
    order_numbered,
    orders,
    price_of,
    replied,
    reply,
    town_called,
    under,
    wiki_page,
)
from harness.benchmarks.arena.templates.tracker_moves import fact
from harness.sites.worlds.tracker import build
from harness.types import JsonDict

TASKS = 4


class PriceToTopic(Template):
    id = "multi-price-to-topic"
    sites = ("shop", "forum")
    kind = "content"
    count = TASKS
    phrasings = (
        'What does the {product} cost in the shop? Post the price (like £12.50, nothing else) in the forum topic "{title}".',
        'They want to know in the forum topic "{title}" what the {product} costs. Look it up in the shop and reply with the '
        "price alone, written like £12.50.",
        'Reply to "{title}" on the forum with the shop\'s price of the {product}: only the price, as in £12.50.',
        "Find the {product} in the shop and write its price, and just that (for example £12.50), as a comment in the "
        'discussion "{title}".',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        cheap = [p for p in world().products if p.price < DEAREST and p.stock]
        for values in open_topics(rng, 12):
            product, wrong = rng.sample(cheap, 2)
            if product.price != wrong.price:
                yield {**values, "product": product.title, "path": list(product.category), "wrong": wrong.title}

    def expected(self, v: Values) -> JsonDict:
        return expect(*replied(v["title"], price_of(v["product"])))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong"], "path": []}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_product(o, v["product"], v["path"])
        yield from o.read("£")
        yield from reply(o, v, price_shown(o))
        yield from o.stop("The price is posted.")


class OrderStatusToTopic(Template):
    id = "multi-order-status-to-topic"
    sites = ("shop_admin", "forum")
    kind = "content"
    count = TASKS
    phrasings = (
        "A customer asks in the forum topic \"{title}\" about order {number}. Look up the order's status in the shop's dashboard "
        'and reply "Order {number}: STATUS", with the status in place of STATUS.',
        'Post the status of order {number} in the discussion "{title}" on the forum, in this form: "Order {number}: STATUS". '
        "The dashboard of the shop knows the status.",
        'In the dashboard, see what has become of order {number}. Then write "Order {number}: " and its status as a comment in '
        '"{title}" on the forum.',
        'Answer the people in "{title}" (forum): "Order {number}: STATUS", where STATUS is what the dashboard says about it.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        listed = orders(rng, 30)
        for order, values in zip(listed, open_topics(rng, 8), strict=False):
            wrong = next(other for other in listed if other.status != order.status)
            yield {**values, "number": order.number, "asked": order.number, "wrong": wrong.number}

    def expected(self, v: Values) -> JsonDict:
        return expect(*replied(v["title"], f"Order {v['number']}: {order_numbered(v['number']).status}"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "asked": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from order_in_dashboard(o, v["asked"])
        status = under(o, "Status")
        yield from reply(o, v, f"Order {v['number']}: {status}")
        yield from o.stop("The answer is posted.")


class TownFactToTopic(Template):
    id = "multi-town-fact-to-topic"
    sites = ("wiki", "forum")
    kind = "content"
    count = TASKS
    phrasings = (
        'Look up in the wiki how many copies the library of {town} has, and post just this number in the forum topic "{title}".',
        'In "{title}" on the forum they argue about the size of the library in {town}. Reply with its number of copies as the '
        "wiki gives it, the number only.",
        'Reply to the forum topic "{title}" with one number: the copies of the library of {town}, from its wiki page.',
        "The wiki has a page about the library of {town}. Write the number of copies that it names (only the number) into the "
        'discussion "{title}".',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        towns = rng.sample(build().facts.deployments, self.count)
        for town, values in zip(towns, open_topics(rng, self.count), strict=True):
            yield {**values, "town": town.town}

    def expected(self, v: Values) -> JsonDict:
        return expect(*replied(v["title"], str(town_called(v["town"]).copies)))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "town": next(d.town for d in build().facts.deployments if d.town != v["town"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from wiki_page(o, "DeploymentList", v["town"])
        yield from o.read("runs Stackwren")
        yield from reply(o, v, fact(o, "copies"))
        yield from o.stop("The number is posted.")


class MilestoneToBoard(Template):
    id = "multi-milestone-to-board"
    sites = ("tracker", "forum")
    kind = "content"
    count = TASKS
    phrasings = (
        "When is the milestone {milestone} due? Announce it in the forum: a new topic in {board} ({subject}) with the title "
        '"Stackwren {milestone}" and the date as its text, in the form 2026-01-31.',
        'Start a forum topic "Stackwren {milestone}" in {subject}, board {board}. Its text is only the due date of this '
        "milestone in the tracker, written like 2026-01-31.",
        "Publish the due date of {milestone} (see the tracker's roadmap) on the forum. Board: {board} in {subject}. Title: "
        '"Stackwren {milestone}". Text: the date alone, year first, as in 2026-01-31.',
        'Our readers in {board} ({subject}) wait for {milestone}. Create a topic there called "Stackwren {milestone}" that says '
        "nothing but the due date from the tracker, like 2026-01-31.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        dated = _to_come()
        for number, board in enumerate(rng.sample(facts.boards(), self.count)):
            name = dated[number % len(dated)]
            yield {"milestone": name, "asked": name, "board": board.title, "subject": facts.parent_of(board)}

    def expected(self, v: Values) -> JsonDict:
        sql = f"""SELECT k.title, trim(c.comment) FROM {TOPIC} t JOIN spirit_category_category k ON k.id = t.category_id
                  JOIN {COMMENT} c ON c.topic_id = t.id WHERE t.title = ? AND t.user_id = ?"""
        return expect(
            rows("forum", sql, [f"Stackwren {v['milestone']}", facts.MEMBER_ID], [[v["board"], due_of(v["milestone"])]]),
            changes("forum", f"{TOPIC} +1", f"{COMMENT} +1", f"{NOTIFICATION} +1"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "asked": next(name for name in _to_come() if name != v["milestone"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from o.click("link", "Roadmap")
        yield from o.click("link", f"Milestone: {v['asked']}")
        due = yield from o.read(r"Due in[^(]*\((\d{4}-\d\d-\d\d)")
        yield from o.open("forum")
        if o.maybe():
            yield from steps.go_to_board(o, v["subject"], v["board"])
        yield from o.click("link", "Create Topic")
        yield from o.fill("textbox", "Title:", f"Stackwren {v['milestone']}")
        yield from o.select("Category:", f"--- {v['board']}")
        yield from o.fill("textbox", "Comment:", due)
        yield from o.click("button", "Publish")
        yield from o.stop("It is announced.")


def _to_come() -> list[str]:
    """Milestones with a date that is not past."""
    return [m.name for m in build().milestones if m.due and not m.completed]


def due_of(milestone: str) -> str:
    return next(m.due for m in build().milestones if m.name == milestone)


TEMPLATES = (
    PriceToTopic(),
    OrderStatusToTopic(),
    TownFactToTopic(),
    MilestoneToBoard(),
)
