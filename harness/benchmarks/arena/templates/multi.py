"""Tasks on several sites that read: a fact on one site says where to look on the other. And one that cannot be done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, answer, at_url, expect, impossible
from harness.benchmarks.arena.forum import facts, steps
from harness.benchmarks.arena.shop_moves import price_shown, world
from harness.benchmarks.arena.templates.multi_moves import (
    maintainer,
    open_topics,
    order_in_dashboard,
    order_numbered,
    orders,
    reply,
    row_of,
    ticket_called,
    town_called,
    town_fact,
    wiki_page,
)
from harness.benchmarks.arena.templates.tracker_moves import fact, find_ticket
from harness.sites.worlds import names
from harness.sites.worlds.forum import Topic
from harness.sites.worlds.forum_text import FACTS
from harness.sites.worlds.tracker import Ticket, build
from harness.types import JsonDict

TASKS = 4


class MaintainerOfTicket(Template):
    id = "multi-maintainer-of-ticket"
    sites = ("tracker", "wiki")
    kind = "information"
    count = TASKS
    phrasings = (
        'The ticket "{summary}" belongs to a component. Who is the maintainer of this component, according to the wiki?',
        'Look up the component of the ticket "{summary}" and find its maintainer on the wiki. Answer with the full name.',
        'Whom does the wiki name as maintainer of the component that the ticket "{summary}" is about?',
        'I need the full name of the wiki\'s maintainer for the component under which "{summary}" was filed in the tracker.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        # Where the ticket has another owner, whoever reads that one only answers wrongly.
        tickets = [t for t in build().tickets if build().full_name(t.owner) != maintainer(t.component)]
        for ticket in rng.sample(tickets, self.count):
            yield {"summary": ticket.summary}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(maintainer(ticket_called(v["summary"]).component)))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "summary": _of_other_component(ticket_called(v["summary"])).summary}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_ticket(o, v["summary"])
        yield from o.read("Opened")
        component = fact(o, "Component:")
        yield from o.open("wiki")
        if o.maybe():
            yield from o.click("link", "ComponentOverview")
            yield from o.read("one maintainer")
            yield from o.stop(row_of(o, component)[-1])
        else:
            yield from wiki_page(o, "ComponentOverview", component)
            name = yield from o.read(r"(\w+ \w+) \(\n[\s\S]*looks after this component")
            yield from o.stop(name)


class PageOfTicketComponent(Template):
    id = "multi-page-of-ticket-component"
    sites = ("tracker", "wiki")
    kind = "navigation"
    count = TASKS
    phrasings = (
        'Find out which component the ticket "{summary}" is about, and open the wiki page of this component.',
        'Show me the wiki page about the component that the ticket "{summary}" was filed for.',
        'Before I answer the ticket "{summary}" I want to read about its component: bring up that component\'s wiki page.',
        'Take me to the page in the wiki that describes the component of the ticket "{summary}".',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for ticket in rng.sample([t for t in build().tickets if t.is_open], self.count):
            yield {"summary": ticket.summary}

    def expected(self, v: Values) -> JsonDict:
        return expect(at_url(f"__WIKI__/Components/{ticket_called(v['summary']).component.capitalize()}"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "summary": _of_other_component(ticket_called(v["summary"])).summary}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_ticket(o, v["summary"])
        yield from o.read("Opened")
        component = fact(o, "Component:")
        yield from o.open("wiki")
        yield from wiki_page(o, "ComponentOverview", component)
        yield from o.read("looks after this component")
        yield from o.stop("The component's page is shown.")


class ServerOfOrder(Template):
    id = "multi-server-of-order"
    sites = ("shop_admin", "wiki")
    kind = "information"
    count = TASKS
    phrasings = (
        "To which town is order {number} shipped? Tell me the server that the library of this town uses, according to the wiki.",
        "Order {number} goes to a town that has a library in our wiki. What is the name of that library's server?",
        "Look up the shipping address of order {number} in the dashboard; then find the town's library server in the wiki.",
        "I want the server of the library in the town where order {number} is to be delivered.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        towns = {d.town for d in build().facts.deployments}
        listed = [order for order in orders(rng, 40) if order.address.town in towns]
        for order in listed[: self.count]:
            wrong = next(o for o in listed if o.address.town != order.address.town)
            yield {"number": order.number, "wrong": wrong.number}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(town_called(order_numbered(v["number"]).address.town).server))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "number": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from order_in_dashboard(o, v["number"])
        yield from o.click(("link", "tab"), "Shipping")
        if not fact(o, "Address"):
            yield from o.wait()
        town = _town_in(fact(o, "Address"))
        yield from o.open("wiki")
        yield from wiki_page(o, "DeploymentList", town)
        yield from o.read("runs Stackwren")
        yield from o.stop(fact(o, "server"))


class LibraryOfComment(Template):
    id = "multi-library-of-comment"
    sites = ("forum", "wiki")
    kind = "information"
    count = TASKS
    phrasings = (
        'Somebody in the forum topic "{title}" found what they needed in a small shop in some town. '
        "On which day is the library of this town closed, according to the wiki?",
        'A member recommends a shop in a certain town in the discussion "{title}". Which weekday is that town\'s library closed?',
        'In "{title}" on the forum a town with a small shop is named. I will go there and visit its library, too: '
        "on which weekday is it closed? The wiki knows.",
        'Find the town whose small shop is praised in the topic "{title}"; the wiki says on which day its library is closed. '
        "Which day is it?",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for topic in facts.drawn(rng, _names_a_library):
            yield facts.topic_values(topic)

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(_closed_on(facts.topic_called(v["title"]))))

    def nearly(self, v: Values) -> JsonDict:
        topic = facts.topic_called(v["title"])
        other = facts.another(topic, lambda t: _names_a_library(t) and _closed_on(t) != _closed_on(topic))
        return facts.topic_values(other)

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        before, after = FACTS["town"].split("{value}")
        town = yield from o.read(rf"{re.escape(before)}([^.]+){re.escape(after)}")
        yield from o.open("wiki")
        yield from wiki_page(o, "DeploymentList", town)
        yield from o.read("runs Stackwren")
        yield from o.stop(fact(o, "closed on"))


class PriceOfMissing(Template):
    id = "multi-price-of-missing"
    sites = ("shop", "forum")
    kind = "content"
    count = TASKS
    unachievable = True
    phrasings = (
        'Look up what the {product} costs in the shop and post the price, and nothing else, in the forum topic "{title}".',
        'They ask in the forum topic "{title}" for the price of the {product} in our shop. Reply with the price only.',
        'Answer in "{title}" on the forum with just the price at which the shop sells the {product}.',
        'What does the {product} cost in the shop? Write the price, without more words, into the discussion "{title}".',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        things = ("Typewriter", "Birdcage", "Accordion", "Telescope", "Aquarium", "Hammock Stand")
        for thing, values in zip(rng.sample(things, self.count), open_topics(rng, self.count), strict=True):
            there = rng.choice([p for p in world().products if p.stock])
            title = f"{rng.choice(names.BRANDS)} {rng.choice(names.ADJECTIVES)} {thing}"
            yield {**values, "product": title, "wrong": there.title}

    def expected(self, v: Values) -> JsonDict:
        return expect(impossible())

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from o.search("textbox", "Search", v["product"])
        if not o.has("link", v["product"], within="heading"):
            yield from o.search("textbox", "Search", v["product"].split()[-1])
        if not o.has("link", v["product"], within="heading"):
            yield from o.give_up(f"The shop has no {v['product']}.")
            return
        yield from o.click("link", v["product"], within="heading")
        yield from reply(o, v, price_shown(o))
        yield from o.stop()


def _of_other_component(ticket: Ticket) -> Ticket:
    """One whose component has another maintainer."""
    return next(t for t in build().tickets if maintainer(t.component) != maintainer(ticket.component))


def _names_a_library(topic: Topic) -> bool:
    return bool(topic.thing) and town_fact(topic) in {d.town for d in build().facts.deployments}


def _town_in(address: str) -> str:
    """The town before the region: some people and towns share a name. The address itself if it has none."""
    towns, regions = ("|".join(map(re.escape, words)) for words in (names.TOWNS, names.REGIONS))
    found = re.search(rf"({towns})[\s,]+(?:{regions})\b", address)
    return found[1] if found else address


def _closed_on(topic: Topic) -> str:
    return town_called(town_fact(topic)).closed_on


TEMPLATES = (
    MaintainerOfTicket(),
    PageOfTicketComponent(),
    ServerOfOrder(),
    LibraryOfComment(),
    PriceOfMissing(),
)
