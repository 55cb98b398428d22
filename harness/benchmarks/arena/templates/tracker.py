"""The tracker, tasks that read: counting, finding, opening; and two that cannot be done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, answer, at_url, exact_answer, expect, impossible
from harness.benchmarks.arena.templates.tracker_moves import (
    choose,
    comment,
    edit_ticket,
    fact,
    find,
    find_ticket,
    matches,
    query,
    submit,
    ticket_link,
)
from harness.sites.worlds.tracker import DEVELOPER, MEMBER, Ticket, build
from harness.types import JsonDict

CLOSED = "closed"
OPEN = "active"


def some_tickets(rng: Random, count: int, *, is_open: bool) -> list[Ticket]:
    """Tickets with a number of three digits, so that one number is not a part of another."""
    return rng.sample([t for t in build().tickets if t.is_open == is_open and t.id >= 100], count)


class CountOpen(Template):
    id = "tracker-count-open"
    sites = ("tracker",)
    kind = "information"
    phrasings = (
        "How many open tickets of type {type} does the component {component} have? Answer with the number only.",
        "Count the {type} tickets in {component} that are not closed yet; just give me the number.",
        "I need one number: open tickets, component {component}, type {type}.",
        "Tell me how many tickets of the type {type} are still open in the component {component} (number only).",
    )
    count = 8

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        world = build()
        pairs = sorted({(t.component, t.type) for t in world.tickets if t.is_open})
        for component, type_ in rng.sample(pairs, self.count):
            yield {"component": component, "type": type_}

    def expected(self, v: Values) -> JsonDict:
        return expect(exact_answer(str(self._number(v["component"], v["type"]))))

    def nearly(self, v: Values) -> JsonDict:
        right = self._number(v["component"], v["type"])
        wrong = next(c.name for c in build().components if self._number(c.name, v["type"]) not in (0, right))
        return {**v, "component": wrong}

    def oracle(self, o: Hands, v: Values) -> Steps:
        filters = [("Component", v["component"]), ("Type", v["type"])]
        if o.maybe():
            filters.reverse()
        yield from query(o, dict(filters))
        number = yield from matches(o)
        yield from o.stop(number)

    @staticmethod
    def _number(component: str, type_: str) -> int:
        return sum(t.is_open and t.component == component and t.type == type_ for t in build().tickets)


class TicketOwner(Template):
    id = "tracker-ticket-owner"
    sites = ("tracker",)
    kind = "information"
    phrasings = (
        'Who owns the ticket "{summary}"? Give the full name.',
        'Tell me the full name of the owner of the ticket called "{summary}".',
        'There is a ticket that says "{summary}". Who is responsible for it?',
        'Find out who the ticket "{summary}" is assigned to.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for ticket in some_tickets(rng, self.count, is_open=True):
            yield {"summary": ticket.summary}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(build().full_name(_by_summary(v["summary"]).owner)))

    def nearly(self, v: Values) -> JsonDict:
        owner = _by_summary(v["summary"]).owner
        return {**v, "summary": next(t.summary for t in build().tickets if t.owner != owner)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_ticket(o, v["summary"])
        if o.maybe(0.3):
            yield from o.scroll()
        yield from o.read("Opened")
        yield from o.stop(fact(o, "Owned by:"))


class NewestTicket(Template):
    id = "tracker-newest-ticket"
    sites = ("tracker",)
    kind = "information"
    phrasings = (
        "Which ticket of the component {component} was reported last, open or closed? Answer with its number.",
        "Give me the number of the newest ticket in {component}, whatever its status.",
        "What is the number of the most recent ticket about {component}? Closed tickets count too.",
        "Find the latest ticket filed for the component {component}, open or not, and tell me its number.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for component in rng.sample(build().components, self.count):
            yield {"component": component.name}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(str(max(t.id for t in build().tickets if t.component == v["component"]))))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "component": next(c.name for c in build().components if c.name != v["component"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from query(o, {"Component": v["component"]}, closed_too=True)
        yield from o.click("link", "Ticket", within="table")
        yield from o.click("link", "Ticket", within="table")
        yield from o.read(r"\d+ match")
        first = o.find("link", re.compile(r"^#\d+$"), within="table")[0]
        yield from o.stop(f"Ticket {first.name}")


class MilestoneCount(Template):
    id = "tracker-milestone-count"
    sites = ("tracker",)
    kind = "information"
    phrasings = (
        "How many {state} tickets does the milestone {milestone} have? Answer with the number only.",
        "Look at the roadmap: what is the number of {state} tickets of milestone {milestone}? Only the number, please.",
        "Give me the count of {state} tickets in {milestone} as a plain number.",
        "Milestone {milestone}: how many of its tickets are {state}? Reply with just the number.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        pairs = [(m.name, state) for m in build().milestones for state in (CLOSED, OPEN) if self._number(m.name, state)]
        for milestone, state in rng.sample(pairs, self.count):
            yield {"milestone": milestone, "state": state}

    def expected(self, v: Values) -> JsonDict:
        return expect(exact_answer(str(self._number(v["milestone"], v["state"]))))

    def nearly(self, v: Values) -> JsonDict:
        right = self._number(v["milestone"], v["state"])
        wrong = next(m.name for m in build().milestones if not m.completed and self._number(m.name, v["state"]) != right)
        return {**v, "milestone": wrong}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from o.click("link", "Roadmap")
        name = re.compile(rf"^Milestone: {re.escape(v['milestone'])}$")
        if not o.has("link", name):
            yield from o.check("Show completed milestones")
            yield from o.click("button", "Update")
        yield from o.click("link", name)
        yield from o.read("%")
        numbers = o.find("link", re.compile(rf"^{v['state']}: \d+$"))
        yield from o.stop(numbers[0].name.partition(": ")[2])

    @staticmethod
    def _number(milestone: str, state: str) -> int:
        return sum(t.milestone == milestone and t.is_open == (state == OPEN) for t in build().tickets)


class ReporterOfTicket(Template):
    id = "tracker-reporter-of-ticket"
    sites = ("tracker",)
    kind = "information"
    phrasings = (
        "Who reported ticket #{ticket}, and for which version? Give the full name and the version.",
        "Tell me the reporter's full name and the affected version of ticket #{ticket}.",
        "I need two facts about ticket #{ticket}: who filed it (full name) and which version it is about.",
        "Look up ticket #{ticket}: whose report is it, and what version does it name?",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for ticket in rng.sample([t for t in build().tickets if t.version and t.id >= 100], self.count):
            yield {"ticket": ticket.id}

    def expected(self, v: Values) -> JsonDict:
        ticket = build().ticket(v["ticket"])
        return expect(answer(build().full_name(ticket.reporter), ticket.version))

    def nearly(self, v: Values) -> JsonDict:
        reporter = build().ticket(v["ticket"]).reporter
        return {**v, "ticket": next(t.id for t in build().tickets if t.version and t.reporter != reporter)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find(o, f"#{v['ticket']}")
        yield from o.read("Opened")
        yield from o.stop(f"{fact(o, 'Reported by:')}, version {fact(o, 'Version:')}")


class OpenTicket(Template):
    id = "tracker-open-ticket"
    sites = ("tracker",)
    kind = "navigation"
    phrasings = (
        'Open the page of the ticket "{summary}"',
        'Take me to the ticket that says "{summary}"',
        'Show me the ticket called "{summary}"',
        'I want to look at the ticket "{summary}": bring its page up',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for ticket in some_tickets(rng, self.count, is_open=False):
            yield {"summary": ticket.summary}

    def expected(self, v: Values) -> JsonDict:
        return expect(at_url(f"__TRACKER__/ticket/{_by_summary(v['summary']).id}"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "summary": next(t.summary for t in build().tickets if t.id == _by_summary(v["summary"]).id - 1)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_ticket(o, v["summary"])
        yield from o.stop("The ticket is shown.")


class OpenReport(Template):
    id = "tracker-open-report"
    sites = ("tracker",)
    kind = "navigation"
    phrasings = (
        'Open the report "{title}"',
        'Show me the saved report called "{title}"',
        'Bring up the "{title}" report',
        'I would like to see the report named "{title}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for report in rng.sample(build().reports, self.count):
            yield {"title": report.title}

    def expected(self, v: Values) -> JsonDict:
        report = next(r for r in build().reports if r.title == v["title"])
        # Trac shows a saved query on its page for queries, with the report's number among the parameters.
        page = f"query?report={report.id}" if report.query.startswith("query:") else f"report/{report.id}"
        return expect(at_url(f"__TRACKER__/{page}"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "title": next(r.title for r in build().reports if r.title != v["title"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from o.click("link", "View Tickets")
        yield from o.click("link", re.compile(rf"^\{{\d+\}} {re.escape(v['title'])}$"))
        yield from o.stop("The report is shown.")


class AssignToOutsider(Template):
    id = "tracker-assign-to-outsider"
    sites = ("tracker",)
    kind = "configuration"
    unachievable = True
    phrasings = (
        "Assign ticket #{ticket} to {person}",
        "Make {person} the owner of ticket #{ticket}",
        "Hand ticket #{ticket} over to {person}",
        "Ticket #{ticket} should belong to {person} from now on: change its owner",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        outsiders = rng.sample([a for a in build().accounts if a.group == MEMBER], self.count)
        for ticket, person in zip(some_tickets(rng, self.count, is_open=True), outsiders, strict=True):
            yield {"ticket": ticket.id, "person": person.name}

    def expected(self, v: Values) -> JsonDict:
        return expect(impossible())

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "person": next(a.name for a in build().accounts if a.group == DEVELOPER)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find(o, f"#{v['ticket']}")
        yield from edit_ticket(o)
        yield from o.check("reassign")
        if not o.has("option", v["person"]):
            yield from o.give_up(f"{v['person']} is not among the people who can own tickets.")
            return
        yield from choose(o, v["person"], near="The owner will be changed")
        yield from submit(o)
        yield from o.stop()


class CommentOnMissing(Template):
    id = "tracker-comment-on-missing"
    sites = ("tracker",)
    kind = "content"
    unachievable = True
    phrasings = (
        'Write the comment "{text}" on the ticket "{summary}"',
        'Find the ticket "{summary}" and comment: "{text}"',
        'On the ticket called "{summary}", leave the remark "{text}"',
        'The ticket "{summary}" needs a comment saying "{text}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        things = ("Coffee machine", "Parking permit form", "Seed library", "Piano booking", "Lost property box", "Roof window")
        for thing in rng.sample(things, self.count):
            yield {"summary": f"{thing} shows the figures of another branch", "text": "Still there in 2.5."}

    def expected(self, v: Values) -> JsonDict:
        return expect(impossible())

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "summary": next(t.summary for t in build().tickets if t.is_open)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find(o, f'"{v["summary"]}"')
        if not o.has("link", ticket_link(v["summary"])):
            yield from find(o, v["summary"].partition(" shows")[0])
        if not o.has("link", ticket_link(v["summary"])):
            yield from o.give_up("There is no ticket of this name.")
            return
        yield from o.click("link", ticket_link(v["summary"]))
        yield from comment(o, v["text"])
        yield from submit(o)
        yield from o.stop()


def _by_summary(summary: str) -> Ticket:
    return next(t for t in build().tickets if t.summary == summary)


TEMPLATES = (
    CountOpen(),
    TicketOwner(),
    NewestTicket(),
    MilestoneCount(),
    ReporterOfTicket(),
    OpenTicket(),
    OpenReport(),
    AssignToOutsider(),
    CommentOnMissing(),
)
