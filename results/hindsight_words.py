"""The words of hindsight goals: what a page is about, what a button does, what a link opened. Pure functions of trees and names.

No site is known here: buttons are read by their verbs ("Add to …"), pages by their headings and by the end of their address
(`/ticket/12` is "the ticket #12").
"""

from __future__ import annotations

import re
from typing import Final, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from harness.axtree import Tree, normalise, parse
from harness.types import Observation, TargetDescriptor

MAX_WORDS_CHARS: Final = 80

_ADD = re.compile(r"add to (?:(?:my|the|your) )?(?P<what>.+)", re.IGNORECASE)
_SEARCH = re.compile(r"\b(search|find|look up)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"/(?P<noun>[a-z]{3,20})/(?P<number>\d{1,9})(?:/[\w-]*)?/?$", re.IGNORECASE)
_COMPLAINT = re.compile(
    r"\b(error|invalid|is required|please (fill|enter|select|correct)|not (valid|allowed|permitted)|must (be|not)"
    r"|cannot be|can't be|warning:|failed|forbidden|not found)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(r"^(view|open|show|see|go to|visit|continue|next|previous|edit|new|browse)\b", re.IGNORECASE)
_BEFORE_SITE = re.compile(r"\s+[|–—·-]\s+")
_PLACES = frozenset({"article", "listitem", "row", "group", "region", "dialog"})


def short(text: str) -> str:
    """One line of at most `MAX_WORDS_CHARS` characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_WORDS_CHARS else line[: MAX_WORDS_CHARS - 1] + "…"


def quoted(text: str) -> str:
    return f"'{short(text)}'"


def heading_of(observation: Observation) -> str:
    """What a page says it is: its first heading of the highest level, else the first part of its title."""
    headings: list[tuple[str, str]] = []
    for node in parse(observation.axtree).nodes:
        if node.role == "heading" and node.name:
            headings.append((str(node.get("level") or "9"), node.name))
    title = _BEFORE_SITE.split(observation.title)[0].strip()
    in_title = next((name for _, name in headings if title and name.casefold() in title.casefold()), "")
    if in_title or title:
        return short(in_title or title)
    return short(min(headings)[1]) if headings else ""


def opened_goal(target: TargetDescriptor, after: Observation) -> str | None:
    """`Open the ticket #12 'Printer jams'`, `Open the page 'Delivery'`; None for a page without any name."""
    heading = heading_of(after)
    address = urlsplit(after.url)
    numbered = _NUMBERED.search(unquote(address.path))
    if numbered:
        noun = _one(numbered["noun"].lower())
        name = _without_number(heading, noun, numbered["number"])
        return f"Open the {noun} #{numbered['number']}" + (f" {quoted(name)}" if name else "")
    query = [value for _, value in parse_qsl(address.query)]
    if target.name and query and heading and _same(heading, target.name) is False:
        return f"Open {quoted(target.name)} on the page {quoted(heading)}"
    name = heading or target.name
    return f"Open the page {quoted(name)}" if name else None


def adds(name: str) -> bool:
    """Does a button or link of this name put something somewhere?"""
    return bool(_ADD.fullmatch(name.strip()))


def opens(name: str) -> bool:
    """Is a button of this name there to show another page, rather than to change something?"""
    return bool(_OPENS.match(name.strip()))


def pressed_goal(target: TargetDescriptor, before: Observation) -> tuple[Literal["add", "press"], str]:
    """(kind, goal) of a button: `Add 'Brass Lamp' to the basket`, `Press 'Follow' on 'A topic'`."""
    subject = subject_of(target, before)
    if added := _ADD.fullmatch(target.name.strip()):
        what = added["what"].strip().lower()
        return "add", f"Add {quoted(subject)} to the {what}" if subject else f"Press {quoted(target.name)}"
    return "press", f"Press {quoted(target.name)}" + (f" on {quoted(subject)}" if subject else "")


def subject_of(target: TargetDescriptor, before: Observation) -> str:
    """What a button is about: the name of the item that holds it if items are listed, else the page."""
    tree = parse(before.axtree)
    same = [i for i, node in enumerate(tree.nodes) if (node.role, node.name) == (target.role, target.name)]
    if len(same) > 1 and target.index < len(same):
        for above in tree.ancestors(same[target.index]):
            if tree.nodes[above].role in _PLACES and (name := _first_name(tree, above)):
                return name
    return heading_of(before)


def is_search(field: str, target: TargetDescriptor) -> bool:
    return bool(_SEARCH.search(field) or _SEARCH.search(target.name) or target.role == "searchbox" or target.landmark == "search")


def complaints(before: Observation, after: Observation) -> list[str]:
    """Texts that are new on the page and say that something is wrong."""
    old = {node.name for node in parse(before.axtree).nodes}
    nodes = normalise(parse(after.axtree)).nodes
    return [short(node.name) for node in nodes if node.name not in old and _COMPLAINT.search(node.name[:500])]


def _first_name(tree: Tree, top: int) -> str:
    """The first heading or link below a node: what a listed item is called."""
    below = tree.nodes[top + 1 : tree.ends[top]]
    for roles in (("heading",), ("link",)):
        if found := next((node.name for node in below if node.role in roles and node.name.strip()), ""):
            return short(found)
    return ""


def _one(noun: str) -> str:
    """`/orders/7` is an order."""
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def _without_number(heading: str, noun: str, number: str) -> str:
    """A page of ticket 12 may be titled `#12 (Printer jams)`: the number is said already."""
    text = re.sub(rf"^\W*(?:{re.escape(noun)}\W*)?#?{number}\b[\s:.,–-]*", "", heading, flags=re.IGNORECASE).strip()
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _same(a: str, b: str) -> bool:
    return a.casefold() in b.casefold() or b.casefold() in a.casefold()
