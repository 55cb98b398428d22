"""The tracker, tasks that plan: milestones, components and versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, changes, expect, rows
from harness.benchmarks.arena.templates.tracker_changes import another, team, username
from harness.benchmarks.arena.templates.tracker_moves import administer, submit
from harness.sites.worlds.tracker import build
from harness.types import JsonDict

SITE = "tracker"
PERIOD = "2026-{month:02}-{day:02}"


class AddMilestone(Template):
    id = "tracker-add-milestone"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        'Add the milestone "{name}", due on {day}',
        'We need a new milestone called "{name}" with the due date {day}',
        'Create a milestone "{name}" that is due {day}',
        'Put "{name}" on the roadmap as a new milestone for {day}',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        birds = ("Whimbrel", "Lapwing", "Kittiwake", "Puffin", "Skua", "Gannet")
        for number, bird in enumerate(rng.sample(birds, self.count), 1):
            yield {"name": f"3.{number} {bird}", "day": PERIOD.format(month=rng.randint(4, 12), day=rng.randint(1, 28))}

    def expected(self, v: Values) -> JsonDict:
        sql = "SELECT date(due / 1000000, 'unixepoch'), completed FROM milestone WHERE name = ?"
        return expect(rows(SITE, sql, [v["name"]], [[v["day"], 0]]), changes(SITE, "milestone +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "day": v["day"].replace("2026", "2027")}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from administer(o, "Milestones")
        yield from o.fill("textbox", "Name:", v["name"])
        yield from o.fill("textbox", "Due:", v["day"])
        yield from o.click("button", "Add")
        yield from o.stop("The milestone is there.")


class MoveMilestone(Template):
    id = "tracker-move-milestone"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        "Change the due date of the milestone {milestone} to {day}",
        "The milestone {milestone} is now due on {day}: please correct it",
        "Move {milestone} to {day} on the roadmap",
        "Set the date of milestone {milestone} to {day}",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        dated = [m.name for m in build().milestones if m.due and not m.completed]
        for milestone in (*dated, *dated):
            yield {
                "milestone": milestone,
                "day": PERIOD.format(month=rng.randint(4, 12), day=rng.randint(1, 28)),
            }

    def expected(self, v: Values) -> JsonDict:
        sql = "SELECT date(due / 1000000, 'unixepoch') FROM milestone WHERE name = ?"
        return expect(rows(SITE, sql, [v["milestone"]], [[v["day"]]]), changes(SITE, "milestone ~1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "day": v["day"].replace("2026", "2027")}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from o.click("link", "Roadmap")
        yield from o.click("link", re.compile(rf"^Milestone: {re.escape(v['milestone'])}$"))
        yield from o.click("button", "Edit milestone")
        yield from o.fill("textbox", re.compile(r"^2026-"), v["day"], near="Due:")
        yield from submit(o)
        yield from o.stop("The date is changed.")


class AddComponent(Template):
    id = "tracker-add-component"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        "Add a component {name} to the tracker; {person} ({username}) owns it",
        "Create the component {name} with {person} ({username}) as its owner",
        "We have a new component, {name}. Enter it and make {person} ({username}) its owner",
        "{person} ({username}) will look after the new component {name}: add it to the list of components",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for name in rng.sample(("kiosk", "labels", "events", "payments", "chat", "archive"), self.count):
            person = rng.choice(team())
            yield {"name": name, "person": person, "username": username(person)}

    def expected(self, v: Values) -> JsonDict:
        sql = "SELECT owner FROM component WHERE name = ?"
        return expect(rows(SITE, sql, [v["name"]], [[v["username"]]]), changes(SITE, "component +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "username": username(another(team(), v["person"]))}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from administer(o, "Components")
        yield from o.fill("textbox", "Name:", v["name"])
        yield from o.select("Owner:", v["username"])
        yield from o.click("button", "Add")
        yield from o.stop("The component is there.")


class AddVersion(Template):
    id = "tracker-add-version"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        "Add the version {name}, released on {day}",
        "The tracker lacks the version {name}; its release day is {day}. Enter it",
        "Put {name} on the list of versions, with the release date {day}",
        "Version {name} came out on {day}: add it in the administration",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for number in rng.sample(range(1, 10), self.count):
            yield {"name": f"2.5.{number}", "day": PERIOD.format(month=rng.randint(1, 2), day=rng.randint(1, 28))}

    def expected(self, v: Values) -> JsonDict:
        sql = "SELECT date(time / 1000000, 'unixepoch') FROM version WHERE name = ?"
        return expect(rows(SITE, sql, [v["name"]], [[v["day"]]]), changes(SITE, "version +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "name": f"{v['name']}.1"}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from administer(o, "Versions")
        yield from o.fill("textbox", "Name:", v["name"])
        yield from o.fill("textbox", "Released:", v["day"])
        yield from o.click("button", "Add")
        yield from o.stop("The version is there.")


TEMPLATES = (
    AddMilestone(),
    MoveMilestone(),
    AddComponent(),
    AddVersion(),
)
