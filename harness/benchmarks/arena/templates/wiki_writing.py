"""The wiki, tasks that write: new pages, corrections, rows, sentences; pages and versions deleted and renamed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, changes, expect, rows
from harness.benchmarks.arena.templates.tracker_moves import open_page, rewrite, submit, text_of_page
from harness.benchmarks.arena.templates.wiki import open_town, town_called
from harness.sites.worlds.tracker import build
from harness.types import JsonDict

SITE = "wiki"
ME = "mhale"
COMMENT = "Comment about this change (optional):"
NEWEST = "FROM wiki WHERE name = ? ORDER BY version DESC LIMIT 1"
DAYS = ("2026-03-19", "2026-04-23", "2026-05-21", "2026-06-18")
SENTENCES = (
    "Questions about this page go to the support channel.",
    "This was last checked before release 2.5.",
    "The branch of Mosswick does this differently.",
    "Examples are kept on the staging server.",
    "Suggestions are welcome at the next meeting.",
    "A shorter version is pinned to the wall.",
)


def versions(page: str) -> int:
    return len(build().page(page).versions)


def articles() -> list[str]:
    """Pages of running text that are not lists."""
    return [p.name for p in build().pages if "/" not in p.name and not p.name.endswith(("List", "Start", "Overview"))]


class CreatePage(Template):
    id = "wiki-create-page"
    sites = (SITE,)
    kind = "content"
    phrasings = (
        'Create the wiki page {page} with this sentence on it: "{text}"',
        'Start a new wiki page called {page}. It should say: "{text}"',
        'We need a page named {page} in the wiki; write "{text}" on it',
        'Add a page {page} to the wiki that reads "{text}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        texts = {
            "HolidayCover": "Whoever is away names a deputy two weeks before.",
            "ScannerTrials": "Three scanners were tried in Greyholt for a month.",
            "BranchVisits": "Every branch is visited once a year, in autumn if possible.",
            "ReadingRoomNotes": "The reading room closes half an hour before the library.",
            "CouncilFigures": "The council asks for loans, members and opening hours.",
            "MobileIdeas": "Members would like to renew loans from the lock screen.",
        }
        for page, text in texts.items():
            yield {"page": page, "text": text}

    def expected(self, v: Values) -> JsonDict:
        sql = f"SELECT version, author, instr(text, ?) > 0 {NEWEST}"
        return expect(rows(SITE, sql, [v["text"], v["page"]], [[1, ME, 1]]), changes(SITE, "wiki +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "page": f"{v['page']}Old"}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_page(o, v["page"])
        yield from o.click("button", "Create this page")
        heading = f"= {v['page']} =\n\n" if o.maybe() else ""
        yield from rewrite(o, f"{heading}{v['text']}\n")
        yield from submit(o)
        yield from o.stop("The page is there.")


class SignUp(Template):
    id = "wiki-sign-up"
    sites = (SITE,)
    kind = "content"
    phrasings = (
        'Sign {town} up for the training day on {day}: add a row with "branch of {town}" to the table on TrainingSignUp',
        'On the page TrainingSignUp, add a row for {day} and "branch of {town}"',
        'Somebody from {town} comes to the training: enter {day} and "branch of {town}" as a new row on TrainingSignUp',
        'Add "branch of {town}" with the day {day} to the table of the wiki page TrainingSignUp',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        towns = [d.town for d in build().facts.deployments if d.town not in ("Greyholt", "Elderbrook")]
        for town in rng.sample(towns, self.count):
            yield {"town": town, "day": rng.choice(DAYS)}

    def expected(self, v: Values) -> JsonDict:
        # Without spaces: how a row is spaced is a matter of taste.
        squeezed = "replace(replace(text, ' ', ''), '`', '')"
        row = f"||{v['day']}||branch of {v['town']}||".replace(" ", "")
        sql = f"SELECT version, instr({squeezed}, ?) > 0, instr({squeezed}, '||branchofElderbrook||') > 0 {NEWEST}"
        page = "TrainingSignUp"
        return expect(rows(SITE, sql, [row, page], [[versions(page) + 1, 1, 1]]), changes(SITE, "wiki +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "day": next(day for day in DAYS if day != v["day"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_page(o, "TrainingSignUp")
        yield from o.click("button", "Edit this page")
        lines = text_of_page(o).split("\n")
        last = max(number for number, line in enumerate(lines) if line.startswith("||"))
        lines.insert(last + 1, f"|| {v['day']} || branch of {v['town']} ||")
        yield from rewrite(o, "\n".join(lines) + "\n")
        yield from submit(o)
        yield from o.stop("The branch is signed up.")


class CorrectServer(Template):
    id = "wiki-correct-server"
    sites = (SITE,)
    kind = "content"
    phrasings = (
        "The library of {town} has moved to the server {server}: correct its wiki page (leave the list of deployments alone)",
        "Change the server on the wiki page of {town} to {server}; only on that page",
        "On the page about the branch in {town}, replace the name of the server by {server}",
        "{town} now runs on {server}. Put that on the page of the town, nowhere else",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        used = {d.server for d in build().facts.deployments}
        free = [f"shelf-{n}" for n in range(100, 140) if f"shelf-{n}" not in used]
        towns = rng.sample(build().facts.deployments, self.count)
        for town, server in zip(towns, rng.sample(free, self.count), strict=True):
            yield {"town": town.town, "server": server}

    def expected(self, v: Values) -> JsonDict:
        town = town_called(v["town"])
        sql = f"SELECT version, instr(text, ?) > 0, instr(text, ?) > 0, instr(text, ?) > 0 {NEWEST}"
        parameters = [v["server"], f"{town.server} ", str(town.copies), town.page]
        return expect(rows(SITE, sql, parameters, [[versions(town.page) + 1, 1, 0, 1]]), changes(SITE, "wiki +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "server": "shelf-99"}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_town(o, v["town"])
        yield from o.click("button", "Edit this page")
        yield from rewrite(o, re.sub(r"shelf-\d+", v["server"], text_of_page(o)) + "\n")
        if o.maybe():
            yield from o.fill("textbox", COMMENT, f"moved to {v['server']}")
        yield from submit(o)
        yield from o.stop("The page is corrected.")


class AddSentence(Template):
    id = "wiki-add-sentence"
    sites = (SITE,)
    kind = "content"
    phrasings = (
        'Add the sentence "{text}" at the end of the wiki page {page}; the comment of the change is "{comment}"',
        'Append "{text}" to the page {page} and give "{comment}" as the comment about the change',
        'The page {page} should end with "{text}". Edit it, with the change comment "{comment}"',
        'Edit {page}: new last sentence "{text}", comment about the change "{comment}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for page, text in zip(rng.sample(articles(), self.count), SENTENCES, strict=True):
            yield {"page": page, "text": text, "comment": rng.choice(("one sentence more", "as agreed", "for newcomers"))}

    def expected(self, v: Values) -> JsonDict:
        before = build().page(v["page"]).text.splitlines()[0]
        sql = f"SELECT version, comment, instr(text, ?) > 0, instr(text, ?) > 0 {NEWEST}"
        wanted = [versions(v["page"]) + 1, v["comment"], 1, 1]
        return expect(rows(SITE, sql, [v["text"], before, v["page"]], [wanted]), changes(SITE, "wiki +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "comment": f"{v['comment']}, perhaps"}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_page(o, v["page"])
        yield from o.click("button", "Edit this page")
        yield from rewrite(o, f"{text_of_page(o)}\n\n{v['text']}\n")
        yield from o.fill("textbox", COMMENT, v["comment"])
        yield from submit(o)
        yield from o.stop("The sentence is added.")


class DeletePage(Template):
    id = "wiki-delete-page"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        "Delete the wiki page {page}",
        "The wiki page {page} is no longer needed: remove it completely",
        "Remove {page} from the wiki, with all its versions",
        "Please get rid of the page {page}",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for page in rng.sample([r.page for r in build().facts.runbooks], self.count):
            yield {"page": page}

    def expected(self, v: Values) -> JsonDict:
        sql = "SELECT count(*) FROM wiki WHERE name = ?"
        return expect(rows(SITE, sql, [v["page"]], [[0]]), changes(SITE, f"wiki -{versions(v['page'])}"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "page": next(r.page for r in build().facts.runbooks if r.page != v["page"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_page(o, v["page"])
        yield from o.click("button", "Delete page")
        yield from o.click("button", "Delete page")
        yield from o.stop("The page is gone.")


class DropVersion(Template):
    id = "wiki-drop-version"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        "The last change to the wiki page {page} was a mistake: delete that version, and only that one",
        "Delete the newest version of {page}, so that the one before is shown again",
        "Remove the latest version of the page {page}; the older ones stay",
        "Take back the most recent edit of {page} by deleting its last version",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for page in rng.sample([name for name in articles() if versions(name) > 1], self.count):
            yield {"page": page}

    def expected(self, v: Values) -> JsonDict:
        sql = "SELECT max(version), count(*) FROM wiki WHERE name = ?"
        left = versions(v["page"]) - 1
        return expect(rows(SITE, sql, [v["page"]], [[left, left]]), changes(SITE, "wiki -1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "page": next(name for name in articles() if versions(name) > 1 and name != v["page"])}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_page(o, v["page"])
        yield from o.click("button", "Delete this version")
        yield from o.click("button", re.compile("^Delete"))
        yield from o.stop("The version is gone.")


class RenamePage(Template):
    id = "wiki-rename-page"
    sites = (SITE,)
    kind = "configuration"
    phrasings = (
        "Rename the wiki page {page} to {name}, without a redirection page",
        "The page {page} should be called {name} from now on; do not leave a redirection behind",
        "Give the wiki page {page} the new name {name} (no redirection)",
        "Change the name of {page} to {name}, and leave nothing behind under the old name",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        names = ("Shortcuts", "OfficeHardware", "Archive", "HowWeReview", "SupportPlan", "PlayGround")
        for page, name in zip(rng.sample(articles(), self.count), names, strict=True):
            yield {"page": page, "name": f"{name}Page"}

    def expected(self, v: Values) -> JsonDict:
        number = versions(v["page"])
        sql = "SELECT sum(name = ?), sum(name = ?) FROM wiki"
        parameters = [v["page"], v["name"]]
        return expect(rows(SITE, sql, parameters, [[0, number]]), changes(SITE, f"wiki ~{number}"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "name": f"{v['name']}s"}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_page(o, v["page"])
        yield from o.click("button", "Rename page")
        yield from o.fill("textbox", re.compile("New name"), v["name"])
        yield from o.click("button", "Rename page")
        yield from o.stop("The page has its new name.")


TEMPLATES = (
    CreatePage(),
    SignUp(),
    CorrectServer(),
    AddSentence(),
    DeletePage(),
    DropVersion(),
    RenamePage(),
)
