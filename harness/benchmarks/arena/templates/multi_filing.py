"""Tasks on several sites that end in the tracker, the wiki or the basket: what another site says is filed there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, changes, expect, rows
from harness.benchmarks.arena.forum import facts, steps
from harness.benchmarks.arena.shop_moves import (
    browse,
    find_product,
    first_product,
    in_stock,
    price_shown,
    put_in_basket,
    shown,
    sort_by,
    world,
)
from harness.benchmarks.arena.templates.multi_moves import (
    DEAREST,
    ME,
    file_ticket,
    filed,
    open_topics,
    order_in_dashboard,
    order_numbered,
    orders,
    price_of,
    town_called,
    under,
    wiki_page,
    write_page,
    written,
)
from harness.benchmarks.arena.templates.shop_buying import BASKET
from harness.benchmarks.arena.templates.tracker_moves import (
    choose,
    comment,
    edit_ticket,
    fact,
    matches,
    open_ticket,
    query,
    submit,
)
from harness.sites.worlds.tracker import DEVELOPER, Ticket, build
from harness.types import JsonDict

TASKS = 4


class CheapestToTicket(Template):
    id = "multi-cheapest-to-ticket"
    sites = ("shop", "tracker")
    kind = "content"
    count = TASKS
    phrasings = (
        "Find the cheapest product in the shop's category {category} ({department}) and file a task in the tracker: its summary "
        'is "Buy: " and the name of the product, its description the price, written like £12.50. Component: {component}.',
        "We need something from {department} > {category} for little money. Create a ticket of type task in the component "
        '{component} with the summary "Buy: PRODUCT", where PRODUCT is the cheapest product there, and only its price '
        "(like £12.50) as the description.",
        "The least expensive thing in {category} ({department}) should be bought. Put it into the tracker as a task for "
        '{component}; summary "Buy: " plus the product\'s name, description nothing but the price, as in £12.50.',
        'File a ticket "Buy: PRODUCT" (type task, component {component}) for the cheapest product that the shop has under '
        "{department}, {category}. As the description give its price only, in the form £12.50.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        sections = [category.path for category in world().categories if len(category.path) == 2]
        for path, wrong in pairwise(rng.sample(sections, 6)):
            component = rng.choice(build().components).name
            yield {"department": path[0], "category": path[1], "component": component, "wrong": list(wrong)}

    def expected(self, v: Values) -> JsonDict:
        cheapest = min(world().on_shelf((v["department"], v["category"])), key=lambda product: product.price)
        fields = {"type": "task", "component": v["component"]}
        return expect(*filed(f"Buy: {cheapest.title}", shown(cheapest.price), **fields))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "department": v["wrong"][0], "category": v["wrong"][1]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from browse(o, (v["department"], v["category"]))
        yield from sort_by(o, "Price low to high")
        title = first_product(o)
        yield from o.click("link", title, within="heading")
        price = price_shown(o)
        yield from o.open("tracker")
        yield from file_ticket(o, f"Buy: {title}", price, {"Type:": "task", "Component:": v["component"]})
        yield from o.stop("The ticket is filed.")


class TopicToTicket(Template):
    id = "multi-topic-to-ticket"
    sites = ("forum", "tracker")
    kind = "content"
    count = TASKS
    phrasings = (
        'The forum topic "{title}" should become a reading list. File a task in the component {component} of the tracker, with '
        "the topic's title as its summary and, as its description, only the user name of the member who started the topic.",
        'Create a ticket (type task, component {component}) whose summary is "{title}" and whose description is just the user '
        "name of whoever opened the topic of that name on the forum.",
        'Who began the discussion "{title}" on the forum? Put the user name, alone, into the description of a new task for '
        "{component}; the summary of the ticket is the title of the discussion.",
        'Take the forum topic "{title}" into the tracker as a new task for the component {component}: summary = its title, '
        "description = user name of its author, nothing more.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for values in open_topics(rng, self.count):
            topic = facts.topic_called(str(values["title"]))
            other = facts.another(topic, _not_by(topic.user))
            component = rng.choice(build().components).name
            yield {**values, "component": component, "wrong": other.title}

    def expected(self, v: Values) -> JsonDict:
        author = facts.username(facts.topic_called(v["title"]).user)
        return expect(*filed(v["title"], author, type="task", component=v["component"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, **facts.topic_values(facts.topic_called(v["wrong"]))}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from steps.open_topic(o, v)
        author = steps.opener_name(o)
        yield from o.open("tracker")
        yield from file_ticket(o, v["title"], author, {"Type:": "task", "Component:": v["component"]})
        yield from o.stop("The ticket is filed.")


class CountToWiki(Template):
    id = "multi-count-to-wiki"
    sites = ("tracker", "wiki")
    kind = "content"
    count = TASKS
    phrasings = (
        "Count the open tickets of the component {component}, then create the wiki page {page} with the text "
        '"{component}: N open", where N is that number.',
        'The wiki needs a page called {page} that says "{component}: N open". N is the number of tickets in the component '
        "{component} that are not closed.",
        "How many tickets of {component} are still open? Note it in the wiki, on the new page {page}: "
        '"{component}: N open", with the number in place of N.',
        'Write a new wiki page {page}. Its only line: "{component}: N open", N being how many open tickets the tracker has for '
        "{component}.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for component in rng.sample(build().components, self.count):
            wrong = next(c.name for c in build().components if _open_in(c.name) != _open_in(component.name))
            page = f"Status/{component.name.capitalize()}"
            yield {"component": component.name, "page": page, "asked": component.name, "wrong": wrong}

    def expected(self, v: Values) -> JsonDict:
        return expect(*written(v["page"], f"{v['component']}: {_open_in(v['component'])} open"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "asked": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from query(o, {"Component": v["asked"]})
        number = yield from matches(o)
        yield from o.open("wiki")
        yield from write_page(o, v["page"], f"{v['component']}: {number} open")
        yield from o.stop("The page is written.")


class OrderToWiki(Template):
    id = "multi-order-to-wiki"
    sites = ("shop_admin", "wiki")
    kind = "content"
    count = TASKS
    phrasings = (
        "Create the wiki page Orders/{number}. It says who placed the order of this number in the shop, as the dashboard has it: "
        "the customer's full name and nothing else.",
        "Who is the customer of order {number}? Look in the shop's dashboard and put the full name, alone, on a new wiki page "
        "called Orders/{number}.",
        "Write the name of the customer behind order {number} (see the dashboard) on the new wiki page Orders/{number}; the page "
        "has no other text.",
        "For order {number} we need a wiki page, Orders/{number}, with one line: the full name of the customer whom the shop's "
        "dashboard shows for it.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        listed = [order for order in orders(rng, 30) if order.email != world().customer.email]
        for order in listed[: self.count]:
            wrong = next(other for other in listed if other.email != order.email)
            yield {"number": order.number, "asked": order.number, "wrong": wrong.number}

    def expected(self, v: Values) -> JsonDict:
        order = order_numbered(v["number"])
        name = next(customer.full for customer in world().customers if customer.email == order.email)
        return expect(*written(f"Orders/{v['number']}", name))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "asked": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from order_in_dashboard(o, v["asked"])
        name = under(o, "Name")
        yield from o.open("wiki")
        yield from write_page(o, f"Orders/{v['number']}", name)
        yield from o.stop("The page is written.")


class AssignToContact(Template):
    id = "multi-assign-to-contact"
    sites = ("wiki", "tracker")
    kind = "configuration"
    count = TASKS
    phrasings = (
        "Assign ticket #{ticket} to the person who speaks for the library of {town} according to the wiki.",
        "The wiki names a contact for the branch in {town}. Make this person the owner of ticket #{ticket}.",
        "Ticket #{ticket} concerns {town}: give it to the town's contact, whom you find on its wiki page.",
        "Hand ticket #{ticket} over to whoever is the contact of {town} in the wiki.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        team = {a.username for a in build().accounts if a.group == DEVELOPER}
        tickets = rng.sample([t for t in build().tickets if t.is_open and t.status != "assigned"], 20)
        towns = rng.sample([d for d in build().facts.deployments if d.contact in team], 8)
        for ticket, town in zip(tickets, towns, strict=False):
            others = [d.town for d in towns if d.contact not in (town.contact, ticket.owner)]
            if ticket.owner != town.contact:
                yield {"ticket": ticket.id, "summary": ticket.summary, "town": town.town, "wrong": rng.choice(others)}

    def expected(self, v: Values) -> JsonDict:
        sql = "SELECT owner, status FROM ticket WHERE id = ?"
        return expect(
            rows("tracker", sql, [v["ticket"]], [[town_called(v["town"]).contact, "assigned"]]),
            changes("tracker", "ticket ~1", "ticket_change +3"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "town": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from wiki_page(o, "DeploymentList", v["town"])
        contact = yield from o.read(r"(\w+ \w+) \(\n")
        yield from o.open("tracker")
        yield from open_ticket(o, v["ticket"], v["summary"])
        yield from edit_ticket(o)
        yield from o.check("reassign")
        yield from choose(o, contact, near="The owner will be changed")
        yield from submit(o)
        yield from o.stop("It is assigned.")


class ReleaseDayToTicket(Template):
    id = "multi-release-day-to-ticket"
    sites = ("wiki", "tracker")
    kind = "content"
    count = TASKS
    phrasings = (
        "On which day was the release {release} published, according to the wiki? Answer in a comment on ticket #{ticket}: "
        "just the date, as the wiki writes it.",
        "Comment on ticket #{ticket} with the date of release {release}. Take it from the wiki and write only the date, in the "
        "same form.",
        'Ticket #{ticket} ("{summary}") lacks a date: look up the day of release {release} in the wiki and leave it there as a '
        "comment, the date alone and in the wiki's form.",
        'Somebody asks in ticket #{ticket}, "{summary}", when {release} came out. The wiki\'s page of that release says so; '
        "comment with the date exactly as it is there and no further words.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        releases = rng.sample(build().facts.releases, self.count)
        for ticket, release in zip(_open_tickets(rng, self.count), releases, strict=True):
            wrong = rng.choice([r.version for r in build().facts.releases if r.day != release.day])
            yield {"ticket": ticket.id, "summary": ticket.summary, "release": release.version, "wrong": wrong}

    def expected(self, v: Values) -> JsonDict:
        sql = """SELECT trim(newvalue) FROM ticket_change WHERE ticket = ? AND field = 'comment' AND author = ?
                 ORDER BY time DESC LIMIT 1"""
        day = next(r.day for r in build().facts.releases if r.version == v["release"])
        return expect(rows("tracker", sql, [v["ticket"], ME], [[day]]), changes("tracker", "ticket ~1", "ticket_change +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "release": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from wiki_page(o, "ReleaseList", v["release"])
        yield from o.read(r"\b[0-9a-f]{16}\b")
        day = fact(o, "day")
        yield from o.open("tracker")
        yield from open_ticket(o, v["ticket"], v["summary"])
        yield from comment(o, day)
        yield from submit(o)
        yield from o.stop("The date is there.")


class BasketForMeeting(Template):
    id = "multi-basket-for-meeting"
    sites = ("wiki", "shop")
    kind = "content"
    count = TASKS
    phrasings = (
        "Everybody who was present at the meeting of {day} (see the wiki) is to get one {product}. Put that many into my basket "
        "in the shop, but do not order yet.",
        "Count the people present at the meeting of {day} in the wiki and add as many of the {product} to my basket.",
        "I want to thank those who came to the meeting of {day}: one {product} for each person present, chair included. Fill my "
        "basket accordingly, without checking out.",
        "My basket should hold one {product} for each person whom the minutes of {day} in the wiki list as present.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        meetings = rng.sample(build().facts.meetings, len(build().facts.meetings))
        for meeting, product in zip(meetings, in_stock(rng, len(meetings), at_least=12), strict=True):
            wrong = next(m.day for m in meetings if len(m.present) != len(meeting.present))
            yield {
                "day": meeting.day,
                "product": product.title,
                "path": list(product.category),
                "upc": product.upc,
                "wrong": wrong,
            }

    def expected(self, v: Values) -> JsonDict:
        present = next(m.present for m in build().facts.meetings if m.day == v["day"])
        return expect(rows("shop", BASKET, [], [[v["upc"], len(present)]]), changes("shop", "basket_line +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "day": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from wiki_page(o, "MeetingList", v["day"])
        present = yield from o.read(r"Present:\n?([^\n]+)")
        yield from o.open("shop")
        yield from put_in_basket(o, v["product"], v["path"], present.count(",") + 1)
        yield from o.stop("The basket is filled.")


class GiftToTicket(Template):
    id = "multi-gift-to-ticket"
    sites = ("shop", "forum", "tracker")
    kind = "content"
    count = TASKS
    phrasings = (
        'Whoever started the forum topic "{title}" shall have the {product} from the shop. File a task in the tracker with the '
        'summary "Gift for USER" (their user name) and the price of the product as the description, in the form £12.50.',
        'Create a ticket of type task: "Gift for USER", where USER is the user name of the member behind the forum topic '
        '"{title}". Its description is just the price (like £12.50) of the {product} in the shop.',
        'We reward the member who opened "{title}" on the forum with the {product}. Put a task "Gift for " plus the user name '
        "into the tracker and give only the shop's price, as in £12.50, in the description.",
        'Plan a present in the tracker. Type: task. Summary: "Gift for USER", with the user name of the author of the forum '
        'topic "{title}". Description: what the {product} costs in the shop, written like £12.50.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        cheap = [p for p in world().products if p.price < DEAREST and p.stock]
        for values in open_topics(rng, 12):
            product, wrong = rng.sample(cheap, 2)
            if product.price != wrong.price:
                yield {**values, "product": product.title, "path": list(product.category), "wrong": wrong.title}

    def expected(self, v: Values) -> JsonDict:
        author = facts.username(facts.topic_called(v["title"]).user)
        return expect(*filed(f"Gift for {author}", price_of(v["product"]), type="task"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong"], "path": []}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_product(o, v["product"], v["path"])
        yield from o.read("£")
        price = price_shown(o)
        yield from o.open("forum")
        yield from steps.open_topic(o, v)
        author = steps.opener_name(o)
        yield from o.open("tracker")
        yield from file_ticket(o, f"Gift for {author}", price, {"Type:": "task"})
        yield from o.stop("The ticket is filed.")


def _not_by(user: int) -> facts.TopicTest:
    return lambda topic: bool(topic.thing) and topic.user != user


def _open_in(component: str) -> int:
    return sum(t.is_open and t.component == component for t in build().tickets)


def _open_tickets(rng: Random, count: int) -> list[Ticket]:
    return rng.sample([t for t in build().tickets if t.is_open], count)


TEMPLATES = (
    CheapestToTicket(),
    TopicToTicket(),
    CountToWiki(),
    OrderToWiki(),
    AssignToContact(),
    ReleaseDayToTicket(),
    BasketForMeeting(),
    GiftToTicket(),
)
