"""The wiki, tasks that read: facts on pages, links followed, histories; and one fact that nobody wrote down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, answer, at_url, expect, impossible
from harness.benchmarks.arena.templates.tracker_moves import fact, find, open_page, row_of, start_page
from harness.sites.worlds.names import TOWNS
from harness.sites.worlds.tracker import Deployment, build
from harness.types import JsonDict

FACTS = ("server", "copies", "members", "closed on")
"""Rows of a town's table of facts that a task may ask for."""


def value_of(town: Deployment, what: str) -> str:
    return str({"server": town.server, "copies": town.copies, "members": town.members, "closed on": town.closed_on}[what])


def town_called(name: str) -> Deployment:
    return next(d for d in build().facts.deployments if d.town == name)


def open_town(o: Hands, town: str) -> Steps:
    """Through the list of deployments, or by searching."""
    if o.maybe(0.7):
        yield from start_page(o)
        yield from o.click("link", "DeploymentList")
        yield from o.click("link", town)
    else:
        page = f"Deployments/{town.replace(' ', '')}"
        yield from find(o, town)
        yield from o.click("link", re.compile(rf"^{page}:"))


class TownFact(Template):
    id = "wiki-town-fact"
    sites = ("wiki",)
    kind = "information"
    phrasings = (
        'What does the wiki say about the library of {town}: what is "{what}" there?',
        'Look up "{what}" for the deployment in {town}.',
        'I need one fact about the branch in {town}: "{what}".',
        'On the wiki page about {town}, which value is given for "{what}"?',
    )
    count = 8

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for town in rng.sample(build().facts.deployments, self.count):
            yield {"town": town.town, "what": rng.choice(FACTS)}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(value_of(town_called(v["town"]), v["what"])))

    def nearly(self, v: Values) -> JsonDict:
        right = value_of(town_called(v["town"]), v["what"])
        return {**v, "town": next(d.town for d in build().facts.deployments if right not in value_of(d, v["what"]))}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_town(o, v["town"])
        yield from o.read("runs Stackwren")
        yield from o.stop(fact(o, v["what"]))


class SettingDefault(Template):
    id = "wiki-setting-default"
    sites = ("wiki",)
    kind = "information"
    phrasings = (
        "What is the default of the setting {setting} of the component {component}?",
        "Which value does {setting} ({component}) have if nobody changes it?",
        "Find the default value of {setting} on the wiki page of the component {component}.",
        "According to the wiki, what is {setting} set to by default? It belongs to the component {component}.",
    )
    count = 8

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for component, setting, _, _ in rng.sample(build().facts.settings, self.count):
            yield {"component": component, "setting": setting}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(self._default(v)))

    def nearly(self, v: Values) -> JsonDict:
        right = self._default(v)
        same = [(name, default) for component, name, default, _ in build().facts.settings if component == v["component"]]
        return {**v, "setting": next(name for name, default in same if right not in default)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from start_page(o)
        yield from o.click("link", "ComponentOverview")
        yield from o.click("link", v["component"])
        if o.maybe(0.5):
            yield from o.scroll(500)
        yield from o.read("looks after this component")
        yield from o.stop(fact(o, v["setting"]))

    @staticmethod
    def _default(v: Values) -> str:
        return next(default for _, setting, default, _ in build().facts.settings if setting == v["setting"])


class ReleaseManager(Template):
    id = "wiki-release-manager-of-town"
    sites = ("wiki",)
    kind = "information"
    phrasings = (
        "Who managed the release that the library of {town} runs? Give the full name.",
        "The branch in {town} runs some release of Stackwren. Who was its release manager?",
        "Find the release that {town} uses, and tell me the full name of that release's manager.",
        "Which person was release manager of the version installed in {town}?",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for town in rng.sample(build().facts.deployments, self.count):
            yield {"town": town.town}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(self._manager(v["town"])))

    def nearly(self, v: Values) -> JsonDict:
        right = self._manager(v["town"])
        return {**v, "town": next(d.town for d in build().facts.deployments if self._manager(d.town) != right)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_town(o, v["town"])
        yield from o.click("link", re.compile(r"^\d\.\d$"), within="table")
        yield from o.read("Follow")
        yield from o.stop(fact(o, "release manager"))

    @staticmethod
    def _manager(town: str) -> str:
        facts = build().facts
        return build().full_name(next(r.manager for r in facts.releases if r.version == town_called(town).release))


class MeetingAction(Template):
    id = "wiki-meeting-action"
    sites = ("wiki",)
    kind = "information"
    phrasings = (
        'At the meeting of {day} somebody was asked to "{what}". Who, and until when?',
        'Look at the minutes of {day}: who has to "{what}", and by which day?',
        'Who took over the action "{what}" at the meeting of {day}? Name the person and the date.',
        'In the minutes of the {day} meeting, find the action "{what}": whose is it and what is the deadline?',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for meeting in rng.sample(build().facts.meetings, self.count):
            yield {"day": meeting.day, "what": rng.choice(meeting.actions)[0]}

    def expected(self, v: Values) -> JsonDict:
        _, who, until = self._action(v)
        return expect(answer(build().full_name(who), until))

    def nearly(self, v: Values) -> JsonDict:
        meeting = next(m for m in build().facts.meetings if m.day == v["day"])
        return {**v, "what": next(what for what, _, until in meeting.actions if until != self._action(v)[2])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from start_page(o)
        yield from o.click("link", "MeetingList")
        yield from o.click("link", v["day"])
        yield from o.read("We agreed")
        row = row_of(o, v["what"])
        yield from o.stop(f"{row[1]}, until {row[2]}")

    @staticmethod
    def _action(v: Values) -> tuple[str, str, str]:
        meeting = next(m for m in build().facts.meetings if m.day == v["day"])
        return next(action for action in meeting.actions if action[0] == v["what"])


class LastAuthor(Template):
    id = "wiki-last-author"
    sites = ("wiki",)
    kind = "information"
    phrasings = (
        "Who made the last change to the wiki page {page}? Give the full name.",
        "Tell me the full name of the latest editor of the page {page}.",
        "Check the history of {page}: who wrote the current version?",
        "By whom was the page {page} changed most recently?",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        pages = [p.name for p in build().pages if "/" not in p.name and len(p.versions) > 1 and p.name != "WikiStart"]
        for name in rng.sample(pages, self.count):
            yield {"page": name}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(self._author(v["page"])))

    def nearly(self, v: Values) -> JsonDict:
        right = self._author(v["page"])
        return {**v, "page": next(p.name for p in build().pages if "/" not in p.name and self._author(p.name) != right)}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_page(o, v["page"])
        yield from o.click("link", "History")
        cells = [o.page.text(cell) for cell in o.page.role("cell")]
        yield from o.stop(cells[3])

    @staticmethod
    def _author(page: str) -> str:
        return build().full_name(build().page(page).versions[-1].author)


class OpenRunbook(Template):
    id = "wiki-open-runbook"
    sites = ("wiki",)
    kind = "navigation"
    phrasings = (
        'Open the runbook "{title}"',
        'Show me the wiki page "{title}" among the runbooks',
        'I have to do this now: "{title}". Bring up its runbook',
        'Take me to the instructions titled "{title}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for runbook in rng.sample(build().facts.runbooks, self.count):
            yield {"title": runbook.title}

    def expected(self, v: Values) -> JsonDict:
        page = next(r.page for r in build().facts.runbooks if r.title == v["title"])
        return expect(at_url(f"__WIKI__/{page}"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "title": next(r.title for r in build().facts.runbooks if r.title != v["title"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from start_page(o)
        yield from o.click("link", "RunbookList")
        yield from o.click("link", None, within="table", near=v["title"])
        yield from o.stop("The runbook is shown.")


class TownOfServer(Template):
    id = "wiki-town-of-server"
    sites = ("wiki",)
    kind = "information"
    phrasings = (
        "Which town's library runs on the server {server}?",
        "The server {server} is down. Which town is without a catalogue?",
        "Find out where {server} belongs: which town?",
        "In which town is the server {server} in use?",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for town in rng.sample(build().facts.deployments, self.count):
            yield {"server": town.server}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(next(d.town for d in build().facts.deployments if d.server == v["server"])))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "server": next(d.server for d in build().facts.deployments if d.server != v["server"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        if o.maybe():
            yield from start_page(o)
            yield from o.click("link", "DeploymentList")
            yield from o.read("server of its own")
            town = row_of(o, v["server"])[0]
        else:
            yield from find(o, v["server"])
            yield from o.click("link", re.compile(r"^Deployments/"))
            town = yield from o.read(r"The library of (.+?) runs")
        yield from o.stop(town)


class UnknownTown(Template):
    id = "wiki-unknown-town"
    sites = ("wiki",)
    kind = "information"
    unachievable = True
    phrasings = (
        "How many copies does the library of {town} have, according to the wiki?",
        "Look up the number of copies of the branch in {town}.",
        "What number of copies is given on the wiki for {town}?",
        "Tell me how many copies the deployment in {town} holds.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        known = {d.town for d in build().facts.deployments}
        for town in rng.sample(sorted(set(TOWNS) - known), self.count):
            yield {"town": town}

    def expected(self, v: Values) -> JsonDict:
        return expect(impossible())

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "town": build().facts.deployments[0].town}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from start_page(o)
        yield from o.click("link", "DeploymentList")
        yield from o.read("server of its own")
        if not o.has("link", v["town"]):
            yield from find(o, v["town"])
            yield from o.give_up(f"The wiki has no deployment in {v['town']}.")
            return
        yield from o.click("link", v["town"])
        yield from o.stop(fact(o, "copies"))


TEMPLATES = (
    TownFact(),
    SettingDefault(),
    ReleaseManager(),
    MeetingAction(),
    LastAuthor(),
    OpenRunbook(),
    TownOfServer(),
    UnknownTown(),
)
