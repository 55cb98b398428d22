"""How somebody who knows the forum moves about in it. Every function is a generator of actions for an oracle.

Lists of topics and comments are flat in the accessibility tree: what belongs to a topic or a comment follows it, up to the next.
Icons are characters of a private area, as the forum's icon font has them.
"""

from __future__ import annotations

import re

from harness.benchmarks.arena.hands import Hands, OracleLost, Steps
from harness.benchmarks.arena.template import Values
from harness.policies.page import Element

SEARCH_ICON = "\uf002"
NEXT_ICON = "\uf054"
COMMENT_ICON = "\uf075"
OPENER_MARK = "\uf130"
"""Beside the name of whoever began the topic."""
MAX_PAGES = 9
_MENU = re.compile(" \uf078$")
_AUTHOR = re.compile("^[a-z]+_[a-z]+( [\uf130\uf132])*$")
_PAGE_COUNT = re.compile(r"^Page \d+ of \d+$")


def search(o: Hands, words: str) -> Steps:
    """Search from any page, with Enter or with the button."""
    yield from o.click("link", SEARCH_ICON)
    plain = " ".join(re.findall(r"\w+", words))
    if o.maybe():
        yield from o.search("searchbox", None, plain)
    else:
        yield from o.fill("searchbox", None, plain)
        yield from o.click("button", "Search")


def go_to_board(o: Hands, subject: str, board: str) -> Steps:
    """From the front page down the drop-down lists."""
    yield from o.click("link", re.compile("^All Categories \uf078$"))
    yield from o.click("link", subject)
    if board != subject:
        yield from o.click("link", re.compile(f"^{re.escape(subject)} \uf078$"))
        yield from o.click("link", board)


def find_topic(o: Hands, v: Values) -> Steps:
    """Bring a list that shows the topic on the screen: search for what it is about, or browse to its board."""
    if o.maybe(0.65):
        yield from search(o, v["about"])
    else:
        yield from go_to_board(o, v["subject"], v["board"])
        if o.maybe(0.3):
            yield from o.scroll()
    for _ in range(MAX_PAGES):
        if o.has("link", v["title"]) or not o.has("link", NEXT_ICON):
            return
        yield from o.click("link", NEXT_ICON)


def open_topic(o: Hands, v: Values) -> Steps:
    yield from find_topic(o, v)
    yield from o.click("link", v["title"])


def open_author(o: Hands, v: Values) -> Steps:
    """The profile of whoever began the topic."""
    yield from open_topic(o, v)
    yield from o.click("link", opener(o).name)


def last_page(o: Hands) -> Steps:
    """Of a topic with more comments than fit on one page."""
    if o.has("link", f"Last {NEXT_ICON}"):
        yield from o.click("link", f"Last {NEXT_ICON}")
    elif o.has("link", NEXT_ICON):
        yield from o.click("link", NEXT_ICON)


def open_menu(o: Hands, entry: str) -> Steps:
    """An entry of the menu below one's own name."""
    yield from o.click("link", _MENU, nth=0)
    yield from o.click("link", entry)


def open_preferences(o: Hands) -> Steps:
    yield from open_menu(o, "Profile")
    yield from o.click("link", re.compile("Preferences$"))


def moderate(o: Hands, entry: str) -> Steps:
    """An entry of a topic's moderation menu."""
    yield from o.click("link", re.compile("^Moderate"))
    yield from o.click("link", re.compile(f" {entry}$"))


def log_in(o: Hands, v: Values) -> Steps:
    """As the account that the task names."""
    yield from o.click("link", "Log in")
    yield from o.fill("textbox", re.compile("^Username"), v["account"])
    if o.maybe():
        yield from o.search("textbox", re.compile("^Password"), v["password"])
    else:
        yield from o.fill("textbox", re.compile("^Password"), v["password"])
        yield from o.click("button", "Login")


def write_reply(o: Hands, text: str) -> Steps:
    yield from o.fill("textbox", re.compile("^Write comment"), text)
    yield from o.click("button", "Publish")


def act_on_comment(o: Hands, author: str, link: str) -> Steps:
    """Click `report`, `like`, `edit` … of the first comment by `author` on this page."""
    comment = next((e for e in authors(o) if _name(e) == author), None)
    if comment is None:
        raise OracleLost(f"no comment by {author} on {o.url}")
    pattern = re.compile(rf"(^| ){link}( \(\d+\))?$")
    above = sum(element.index < comment.index for element in o.find("link", pattern))
    yield from o.click("link", pattern, nth=above)


# ---------------------------------------------------------------------------------------------- reading


def authors(o: Hands) -> list[Element]:
    """Links to the authors of the comments on this page, in their order."""
    end = next((e.index for e in o.page.texts() if _PAGE_COUNT.match(e.name)), len(o.page.elements))
    return [element for element in o.find("link", _AUTHOR) if element.index < end]


def author_names(o: Hands) -> list[str]:
    return [_name(element) for element in authors(o)]


def opener(o: Hands) -> Element:
    """The author link of the first comment; on page one that is whoever began the topic."""
    found = authors(o)
    if not found:
        raise OracleLost(f"no comments on {o.url}")
    return found[0]


def opener_name(o: Hands) -> str:
    return _name(opener(o))


def comment_counts(o: Hands) -> dict[str, int]:
    """Title → number of comments, as the list on this page says."""
    elements = o.page.elements
    counts = {}
    for icon in (e for e in elements if e.role == "StaticText" and e.name == COMMENT_ICON):
        number = next(e.name for e in elements[icon.index + 1 :] if e.role == "StaticText")
        # Before the icon: the title and, where the list links it, the category.
        links = [e for e in elements[: icon.index] if e.role == "link"]
        title = links[-2] if _category_of(o, icon) is links[-1] else links[-1]
        counts[title.name] = int(number)
    return counts


def listed_categories(o: Hands) -> list[str]:
    """The category of every topic in the list on this page."""
    icons = [e for e in o.page.elements if e.role == "StaticText" and e.name == COMMENT_ICON]
    return [category.name for icon in icons if (category := _category_of(o, icon))]


def _category_of(o: Hands, icon: Element) -> Element | None:
    """The category's link, directly before the icon; search results say it in plain text."""
    before = o.page.elements[icon.index - 1]
    return before if before.role == "link" else None


def _name(author: Element) -> str:
    return author.name.split()[0]
