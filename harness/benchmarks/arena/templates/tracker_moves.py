"""Moves that oracles share on the tracker and its wiki: how somebody who knows Trac gets about."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping

from harness.benchmarks.arena.hands import Hands, Steps
from harness.types import Action

COMMENT_FIELD = "You may use WikiFormatting here."


def find(o: Hands, text: str) -> Steps:
    """Type into the search box at the top of every page; `#12` and `wiki:Page` jump straight there."""
    yield from o.search("textbox", None, text)


def open_ticket(o: Hands, number: int, summary: str) -> Steps:
    """By its number, or by what it says."""
    if o.maybe():
        yield from find(o, f"#{number}")
    else:
        yield from find_ticket(o, summary)


def find_ticket(o: Hands, summary: str) -> Steps:
    """By what it says."""
    yield from find(o, f'"{summary}"')
    yield from o.click("link", ticket_link(summary))


def ticket_link(summary: str) -> re.Pattern[str]:
    """A ticket's name in a list of search results."""
    return re.compile(rf"^#\d+:.*{re.escape(summary)}")


def edit_ticket(o: Hands) -> Steps:
    """Unfold the form below a ticket."""
    if o.maybe(0.3):
        yield from o.scroll(900)
    yield from o.click("link", "Modify Ticket")


def comment(o: Hands, text: str) -> Steps:
    yield from o.fill("textbox", COMMENT_FIELD, text)


def submit(o: Hands) -> Steps:
    yield from o.click("button", "Submit changes")


def query(o: Hands, filters: Mapping[str, str], *, closed_too: bool = False) -> Steps:
    """A custom query of everybody's tickets. `filters`: field → value, as the drop-down lists name them."""
    yield from o.click("link", "View Tickets")
    yield from o.click("link", "New Custom Query", nth=0)
    yield from o.click("button", "–", near="Owner")
    if closed_too:
        yield from o.click("button", "–", near="Status")
    for field, value in filters.items():
        yield from o.select("And", field)
        yield from choose(o, value, near=field)
    yield from o.click("button", "Update")


def choose(o: Hands, option: str, *, near: str) -> Steps:
    """In a drop-down list without a label: it is known by what it offers."""
    yield from o.select(re.compile(re.escape(option)), option, near=near)


def matches(o: Hands) -> Generator[Action, None, str]:
    """How many tickets a custom query found."""
    return (yield from o.read(r"\((\d+) match"))


def administer(o: Hands, panel: str) -> Steps:
    yield from o.click("link", "Admin")
    yield from o.click("link", panel)


def start_page(o: Hands) -> Steps:
    """The wiki's first page, unless it is shown already."""
    if not o.has("link", "ComponentOverview"):
        yield from o.click("link", "Wiki")


def row_of(o: Hands, text: str) -> list[str]:
    """Cells of the first table row in which one says `text`; empty if there is none."""
    for row in o.page.role("row"):
        cells = [o.page.text(cell) for cell in o.page.below(row) if cell.role in ("cell", "rowheader")]
        if text in cells:
            return cells
    return []


def fact(o: Hands, name: str) -> str:
    """The cell beside the one that says `name`, in a table of facts or in a ticket's head; empty if there is none."""
    cells = row_of(o, name)
    return cells[cells.index(name) + 1] if name in cells[:-1] else ""


def open_page(o: Hands, page: str) -> Steps:
    """A wiki page by its name."""
    yield from find(o, f"wiki:{page}")


def text_of_page(o: Hands) -> str:
    """What the wiki's edit form holds."""
    return o.find("textbox", within="LayoutTable")[0].value.rstrip("\n")


def rewrite(o: Hands, text: str) -> Steps:
    """Replace what the wiki's edit form holds."""
    yield from o.fill("textbox", None, text, within="LayoutTable")
