"""The tracker, tasks that write tickets and their fields."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Part, Steps, Template, Values, changes, expect, rows
from harness.benchmarks.arena.templates.tracker import some_tickets
from harness.benchmarks.arena.templates.tracker_moves import choose, comment, edit_ticket, open_ticket, submit
from harness.sites.worlds.tracker import DEVELOPER, Ticket, build
from harness.sites.worlds.tracker_tickets import PRIORITIES, TYPES
from harness.sites.worlds.tracker_words import KEYWORDS
from harness.types import JsonDict

SITE = "tracker"
ME = "mhale"
"""Who tasks on the tracker are signed in as."""
RESOLUTIONS = {"fixed": "Done in 2.6.", "wontfix": "The upkeep would cost too much.", "worksforme": "I cannot reproduce it."}
REMARKS = (
    "Seen again at the branch in Mosswick.",
    "Please keep the old behaviour as an option.",
    "I can test this on the staging server.",
    "Two more branches have asked for it.",
    "The manual says otherwise.",
    "Can wait until after the release.",
)


def ticket_is(v: Values, **wanted: str) -> Part:
    """The ticket has these values."""
    columns = ", ".join(f"coalesce({name}, '')" for name in wanted)
    return rows(SITE, f"SELECT {columns} FROM ticket WHERE id = ?", [v["ticket"]], [list(wanted.values())])


def said(v: Values, text: str) -> Part:
    """My last comment on the ticket."""
    sql = """SELECT trim(newvalue) FROM ticket_change WHERE ticket = ? AND field = 'comment' AND author = ?
             ORDER BY time DESC LIMIT 1"""
    return rows(SITE, sql, [v["ticket"], ME], [[text]])


def edited(fields: int) -> Part:
    """One ticket was edited once; each field leaves a row, and so does the comment, empty or not."""
    return changes(SITE, "ticket ~1", f"ticket_change +{fields + 1}")


def team() -> list[str]:
    """Full names of those who can own tickets."""
    return [a.name for a in build().accounts if a.group == DEVELOPER]


def username(name: str) -> str:
    return next(a.username for a in build().accounts if a.name == name)


def another(options: tuple[str, ...] | list[str], *but: str) -> str:
    return next(option for option in options if option not in but)


class CreateTicket(Template):
    id = "tracker-create-ticket"
    sites = (SITE,)
    kind = "content"
    phrasings = (
        'File a ticket: "{summary}", type {type}, component {component}, priority {priority}',
        'Report "{summary}" as a new {type} with priority {priority} in the component {component}',
        'Please create a new ticket of type {type} for {component}; its summary is "{summary}" and its priority {priority}',
        'A new {priority} {type} has to go into the tracker under {component}: "{summary}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        summaries = (
            "Barcode camera stays dark on older tablets",
            "Opening hours in the footer are those of last year",
            "Print the hold slip in two languages",
            "Search for an ISBN with hyphens finds nothing",
            "Ask before a reading list is deleted",
            "Measure how long the nightly import takes",
        )
        for summary in summaries:
            component, priority = rng.choice(build().components).name, rng.choice(PRIORITIES)
            yield {"summary": summary, "component": component, "priority": priority, "type": rng.choice(TYPES)}

    def expected(self, v: Values) -> JsonDict:
        sql = "SELECT type, component, priority, status, reporter FROM ticket WHERE trim(summary) = ?"
        return expect(
            rows(SITE, sql, [v["summary"]], [[v["type"], v["component"], v["priority"], "new", ME]]), changes(SITE, "ticket +1")
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "priority": another(PRIORITIES, v["priority"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from o.click("link", "New Ticket")
        yield from o.fill("textbox", "Summary:", v["summary"])
        fields = [("Type:", v["type"]), ("Component:", v["component"]), ("Priority:", v["priority"])]
        o.rng.shuffle(fields)
        for field, value in fields:
            yield from o.select(field, value)
        yield from o.click("button", "Create ticket")
        yield from o.stop("The ticket is filed.")


class AddComment(Template):
    id = "tracker-add-comment"
    sites = (SITE,)
    kind = "content"
    phrasings = (
        'Comment on ticket #{ticket} ("{summary}"): "{text}"',
        'Add the comment "{text}" to ticket #{ticket}, "{summary}"',
        'Ticket #{ticket}, "{summary}": leave the remark "{text}" there',
        'Write "{text}" as a comment on "{summary}" (#{ticket})',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for ticket, text in zip(some_tickets(rng, self.count, is_open=True), REMARKS, strict=True):
            yield {**_ticket(ticket), "text": text}

    def expected(self, v: Values) -> JsonDict:
        return expect(said(v, v["text"]), edited(0))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "text": another(REMARKS, v["text"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_ticket(o, v["ticket"], v["summary"])
        if o.maybe(0.4):
            yield from o.scroll(700)
        yield from comment(o, v["text"])
        yield from submit(o)
        yield from o.stop("The comment is there.")


class Reassign(Template):
    id = "tracker-reassign"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        'Reassign ticket #{ticket} ("{summary}") to {person}',
        'Hand the ticket "{summary}" (#{ticket}) over to {person}',
        "Make {person} the new owner of ticket #{ticket}, “{summary}”",
        '{person} takes over ticket #{ticket}, "{summary}": change its owner',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        chosen = [t for t in some_tickets(rng, 30, is_open=True) if t.status != "assigned"][: self.count]
        for ticket in chosen:
            others = [name for name in team() if username(name) != ticket.owner]
            yield {**_ticket(ticket), "person": rng.choice(others)}

    def expected(self, v: Values) -> JsonDict:
        return expect(ticket_is(v, owner=username(v["person"]), status="assigned"), edited(2))

    def nearly(self, v: Values) -> JsonDict:
        owner = build().full_name(build().ticket(v["ticket"]).owner)
        return {**v, "person": another(team(), v["person"], owner)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_ticket(o, v["ticket"], v["summary"])
        yield from edit_ticket(o)
        yield from o.check("reassign")
        yield from choose(o, v["person"], near="The owner will be changed")
        yield from submit(o)
        yield from o.stop()


class Replan(Template):
    id = "tracker-replan"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        "Move ticket #{ticket} to the milestone {milestone} and give it the priority {priority}",
        "Plan ticket #{ticket} for {milestone}, with priority {priority}",
        "Ticket #{ticket}: set the milestone to {milestone} and the priority to {priority}",
        "Change both the priority ({priority}) and the milestone ({milestone}) of ticket #{ticket}",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for ticket in some_tickets(rng, self.count, is_open=True):
            milestones = [m.name for m in build().milestones if not m.completed and m.name != ticket.milestone]
            priorities = [p for p in PRIORITIES if p != ticket.priority]
            yield {
                "ticket": ticket.id,
                "summary": ticket.summary,
                "milestone": rng.choice(milestones),
                "priority": rng.choice(priorities),
            }

    def expected(self, v: Values) -> JsonDict:
        return expect(ticket_is(v, milestone=v["milestone"], priority=v["priority"]), edited(2))

    def nearly(self, v: Values) -> JsonDict:
        now = build().ticket(v["ticket"]).milestone
        return {**v, "milestone": another([m.name for m in build().milestones if not m.completed], v["milestone"], now)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_ticket(o, v["ticket"], v["summary"])
        yield from edit_ticket(o)
        fields = [("Milestone:", v["milestone"]), ("Priority:", v["priority"])]
        o.rng.shuffle(fields)
        for field, value in fields:
            yield from o.select(field, value)
        yield from submit(o)
        yield from o.stop()


class Resolve(Template):
    id = "tracker-resolve"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        'Close ticket #{ticket} ("{summary}") as {resolution} with the comment "{text}"',
        'Resolve ticket #{ticket}, "{summary}", as {resolution} and say "{text}"',
        'The ticket "{summary}" (#{ticket}) is to be closed: resolution {resolution}, comment "{text}"',
        'Set ticket #{ticket} to {resolution}. It is called "{summary}". Comment: "{text}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for ticket in some_tickets(rng, self.count, is_open=True):
            resolution = rng.choice(list(RESOLUTIONS))
            yield {**_ticket(ticket), "resolution": resolution, "text": RESOLUTIONS[resolution]}

    def expected(self, v: Values) -> JsonDict:
        return expect(ticket_is(v, status="closed", resolution=v["resolution"]), said(v, v["text"]), edited(2))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "resolution": another(list(RESOLUTIONS), v["resolution"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_ticket(o, v["ticket"], v["summary"])
        yield from comment(o, v["text"])
        yield from edit_ticket(o)
        yield from o.check("resolve")
        yield from choose(o, v["resolution"], near="The resolution will be set")
        yield from submit(o)
        yield from o.stop("It is closed.")


class Reopen(Template):
    id = "tracker-reopen"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        'Reopen ticket #{ticket} ("{summary}") and explain: "{text}"',
        'Ticket #{ticket}, "{summary}", was closed too early. Open it again with the comment "{text}"',
        'Please open the closed ticket "{summary}" (#{ticket}) again and comment "{text}"',
        '"{summary}" (#{ticket}) is not done: reopen it and write "{text}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for ticket, text in zip(some_tickets(rng, self.count, is_open=False), REMARKS, strict=True):
            yield {**_ticket(ticket), "text": text}

    def expected(self, v: Values) -> JsonDict:
        return expect(ticket_is(v, status="reopened", resolution=""), said(v, v["text"]), edited(2))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "text": another(REMARKS, v["text"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_ticket(o, v["ticket"], v["summary"])
        yield from edit_ticket(o)
        yield from o.check("reopen")
        yield from comment(o, v["text"])
        yield from submit(o)
        yield from o.stop("It is open again.")


class AddKeyword(Template):
    id = "tracker-add-keyword"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        "Add the keyword {keyword} to ticket #{ticket} and keep the ones that it has",
        "Ticket #{ticket} needs one more keyword: {keyword}",
        "Tag ticket #{ticket} with {keyword} as well; do not lose its other keywords",
        "Put {keyword} into the keywords of ticket #{ticket}, beside those already there",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        chosen = [t for t in some_tickets(rng, 40, is_open=True) if t.keywords][: self.count]
        for ticket in chosen:
            keyword = rng.choice([k for k in KEYWORDS if k not in ticket.keywords.split()])
            yield {"ticket": ticket.id, "summary": ticket.summary, "keyword": keyword}

    def expected(self, v: Values) -> JsonDict:
        wanted = [*build().ticket(v["ticket"]).keywords.split(), v["keyword"]]
        words = "' ' || replace(replace(keywords, ', ', ' '), ',', ' ') || ' '"
        sql = f"SELECT {', '.join(f'{words} LIKE ?' for _ in wanted)}, length({words}) FROM ticket WHERE id = ?"
        length = sum(len(word) + 1 for word in wanted) + 1
        found = [*(1 for _ in wanted), length]
        return expect(rows(SITE, sql, [*(f"% {word} %" for word in wanted), v["ticket"]], [found]), edited(1))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "keyword": another(KEYWORDS, v["keyword"], *build().ticket(v["ticket"]).keywords.split())}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_ticket(o, v["ticket"], v["summary"])
        yield from edit_ticket(o)
        field = o.find("textbox", "Keywords:")[0]
        yield from o.fill("textbox", "Keywords:", f"{field.value} {v['keyword']}")
        yield from submit(o)
        yield from o.stop()


class AddToCc(Template):
    id = "tracker-add-cc"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        "Add {username} to the Cc of ticket #{ticket}",
        "{username} wants to be kept informed about ticket #{ticket}: add them to its Cc, beside whoever is there",
        "Put the user {username} on the copy list (Cc) of ticket #{ticket}",
        "Ticket #{ticket}: {username} should be in Cc as well",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for ticket in some_tickets(rng, self.count, is_open=True):
            names = [a.username for a in build().accounts if a.username not in ticket.cc]
            yield {**_ticket(ticket), "username": rng.choice(names)}

    def expected(self, v: Values) -> JsonDict:
        before = build().ticket(v["ticket"]).cc
        sql = "SELECT cc FROM ticket WHERE id = ?"  # Trac itself brings the list into this form
        cc = f"{before}, {v['username']}" if before else v["username"]
        return expect(rows(SITE, sql, [v["ticket"]], [[cc]]), edited(1))

    def nearly(self, v: Values) -> JsonDict:
        there = build().ticket(v["ticket"]).cc
        return {
            **v,
            "username": next(a.username for a in build().accounts if a.username not in (*there.split(", "), v["username"])),
        }

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_ticket(o, v["ticket"], v["summary"])
        yield from edit_ticket(o)
        before = o.find("textbox", "Cc:")[0].value
        yield from o.fill("textbox", "Cc:", f"{before}, {v['username']}" if before else v["username"])
        yield from submit(o)
        yield from o.stop()


def _ticket(ticket: Ticket) -> JsonDict:
    return {"ticket": ticket.id, "summary": ticket.summary}


TEMPLATES = (
    CreateTicket(),
    AddComment(),
    Reassign(),
    Replan(),
    Resolve(),
    Reopen(),
    AddKeyword(),
    AddToCc(),
)
