"""What tasks on several sites share: the moves between reading in one place and writing in another, and what writing leaves.

read …   order_in_dashboard, wiki_page                    → the page that shows the fact
write …  reply, file_ticket, write_page                   → one new comment, ticket or page
replied, filed, written                                   what must be in the database then, and nothing besides
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from random import Random

from harness.benchmarks.arena.api import Hands, OracleLost, Part, Steps, Values, changes, rows
from harness.benchmarks.arena.forum import facts, steps
from harness.benchmarks.arena.forum.bases import COMMENT, NOTIFICATION, TOPIC
from harness.benchmarks.arena.shop_moves import shown, world
from harness.benchmarks.arena.templates.tracker_moves import find, start_page
from harness.sites.worlds.forum import Topic
from harness.sites.worlds.shop import Order, Product
from harness.sites.worlds.tracker import Deployment, Ticket, build
from harness.types import JsonDict

ME = "mhale"
"""Who tasks on the tracker and the wiki are signed in as."""
CELLS = ("cell", "gridcell", "rowheader", "columnheader")
DEAREST = 100_000
"""Prices below it are written without a thousands separator."""


# ------------------------------------------------------------------------------------------------ the worlds


def product_called(title: str) -> Product:
    return next(product for product in world().products if product.title == title)


def price_of(title: str) -> str:
    return shown(product_called(title).price)


def order_numbered(number: str) -> Order:
    return next(order for order in world().orders if order.number == number)


def orders(rng: Random, count: int) -> list[Order]:
    """Orders that people ask about: neither long done nor ours."""
    recent = [o for o in world().orders if o.status != "Complete" and o.total < DEAREST]
    return rng.sample(recent, count)


def town_called(name: str) -> Deployment:
    return next(d for d in build().facts.deployments if d.town == name)


def ticket_called(summary: str) -> Ticket:
    return next(t for t in build().tickets if t.summary == summary)


def maintainer(component: str) -> str:
    """Full name."""
    return build().full_name(next(c.owner for c in build().components if c.name == component))


def open_topics(rng: Random, count: int) -> list[JsonDict]:
    """Values of topics that anybody may reply to."""
    topics = facts.drawn(rng, lambda topic: bool(topic.thing) and not topic.closed)
    return [facts.topic_values(topic) for topic in islice(topics, count)]


def town_fact(topic: Topic) -> str:
    """The town that a member names on the first page of a topic; empty if none."""
    found = [c.fact[1] for c in facts.comments_of(topic)[:20] if c.fact is not None and c.fact[0] == "town"]
    return found[0] if len(found) == 1 else ""


# ------------------------------------------------------------------------------------------------ moves


def order_in_dashboard(o: Hands, number: str) -> Steps:
    """From the dashboard's first page: an order number that is found opens its order."""
    yield from o.click("button", re.compile("Fulfilment"))
    yield from o.click("link", "Orders")
    if o.maybe():
        yield from o.search("textbox", re.compile("^Order number"), number)
    else:
        yield from o.fill("textbox", re.compile("^Order number"), number)
        yield from o.click("button", "Search")
    yield from o.read(f"#{number}")


def wiki_page(o: Hands, listing: str, title: str) -> Steps:
    """A page that a list on the wiki links to."""
    if o.maybe(0.75):
        yield from start_page(o)
        yield from o.click("link", listing)
    else:
        yield from find(o, f"wiki:{listing}")
    if o.maybe(0.3):
        yield from o.scroll()
    yield from o.click("link", title)


def write_page(o: Hands, page: str, text: str) -> Steps:
    """A page that is not there yet."""
    yield from find(o, f"wiki:{page}")
    yield from o.click("button", "Create this page")
    # The search box at the top of every page comes first.
    yield from o.fill("textbox", None, text, nth=1)
    yield from o.click("button", "Submit changes")


def file_ticket(o: Hands, summary: str, description: str, fields: dict[str, str]) -> Steps:
    """`fields`: of the drop-down lists, by their labels."""
    yield from o.click("link", "New Ticket")
    yield from o.fill("textbox", "Summary:", summary)
    yield from o.fill("textbox", re.compile("^Description"), description)
    chosen = list(fields.items())
    o.rng.shuffle(chosen)
    for label, value in chosen:
        yield from o.select(label, value)
    yield from o.click("button", "Create ticket")


def under(o: Hands, header: str) -> str:
    """The cell below the first one that says `header`, in a table of facts whose head is a row; empty if there is none."""
    for titles, cells in pairwise(_rows(o)):
        if header in titles and len(cells) == len(titles):
            return cells[titles.index(header)]
    return ""


def row_of(o: Hands, first: str) -> list[str]:
    """The cells of the row that begins with this text."""
    row = next((cells for cells in _rows(o) if cells[:1] == [first]), None)
    if row is None:
        raise OracleLost(f"no row of {first} on {o.url}")
    return row


def reply(o: Hands, v: Values, text: str) -> Steps:
    """In the topic of `v` on the forum."""
    yield from o.open("forum")
    yield from steps.open_topic(o, v)
    yield from steps.write_reply(o, text)


# ------------------------------------------------------------------------------------------------ expectations


def replied(title: str, text: str) -> tuple[Part, Part]:
    """The only new comment of ours is this one, in this topic."""
    sql = f"""SELECT t.title, trim(c.comment) FROM {COMMENT} c JOIN {TOPIC} t ON t.id = c.topic_id
              WHERE c.user_id = ? AND c.id > ?"""
    known = max(comment.id for comment in facts.world().comments)
    return (
        rows("forum", sql, [facts.MEMBER_ID, known], [[title, text]]),
        changes("forum", f"{COMMENT} +1", f"{TOPIC} ~1", NOTIFICATION),
    )


def filed(summary: str, description: str, **fields: str) -> tuple[Part, Part]:
    """One new ticket, with these fields."""
    columns = ", ".join(("trim(summary)", "trim(description)", "reporter", *fields))
    known = max(ticket.id for ticket in build().tickets)
    return (
        rows("tracker", f"SELECT {columns} FROM ticket WHERE id > ?", [known], [[summary, description, ME, *fields.values()]]),
        changes("tracker", "ticket +1"),
    )


def written(page: str, text: str) -> tuple[Part, Part]:
    """One new page, in its first version."""
    return (
        rows("wiki", "SELECT trim(text, char(10, 13, 32)), version FROM wiki WHERE name = ?", [page], [[text, 1]]),
        changes("wiki", "wiki +1"),
    )


def _rows(o: Hands) -> list[list[str]]:
    """What the cells of every row of the page say."""
    return [[o.page.text(e) for e in o.page.below(row) if e.role in CELLS] for row in o.page.role("row")]
