"""Rules that click what the goal names, look where it may hide, and submit at the end."""

from __future__ import annotations

import re

from harness.actions import make_action
from harness.policies.heuristic.situation import Situation, click, press_key, wait
from harness.policies.page import Element, Page, normal
from harness.types import Action

_SUBMITS = ("submit", "login", "log in", "sign in", "ok", "search", "done", "save", "send", "go", "next")
_SYNONYMS = {"x": "close", "×": "close"}
_ROLE_WORDS = {
    "button": ("button",), "checkbox": ("checkbox",), "radio": ("radio",), "text": ("textbox",), "textarea": ("textbox",),
    "link": ("link",), "input": ("textbox",),
}  # fmt: skip
_HOLDERS = ("listitem", "cell", "row", "paragraph", "heading", "generic", "LabelText", "gridcell")
"""What may hold a text that has no element of its own; clicked only if it holds nothing else."""
_REFUSALS = ("cancel", "close", "no", "no thanks", "dismiss", "x")
_NEXT = (">", "next", "›", "»", "next page")


def click_named(s: Situation) -> Action | None:
    """Click, in the order in which the goal names them, the elements it names: quoted names first, else any name."""
    names = [quote.text for quote in s.goal.quotes if quote not in s.goal.written or not s.page.fields()]
    if names:
        for name in names:
            found = _by_name(s, name)
            if found and not any(s.clicked(e) for e in found):
                return click(found[0])
        return None
    if s.goal.written:
        return None
    mentioned = [(place, -len(e.name), e) for e in s.page.clickable() if (place := s.goal.mentions(e.name)) is not None]
    for _, _, element in sorted(mentioned, key=lambda item: item[:2]):
        chosen = element.is_on("checked") or element.is_on("selected")
        if not (chosen or s.clicked(element) or normal(element.name) in _SUBMITS):
            return click(element)
    return None


def click_role(s: Situation) -> Action | None:
    """`Click on a "checkbox" widget`: an element by its kind."""
    if not s.goal.says("widget"):
        return None
    for quote in s.goal.quotes:
        found = s.page.role(*_ROLE_WORDS.get(normal(quote.text), ()))
        if found:
            return click(found[0])
    return None


def focus_field(s: Situation) -> Action | None:
    """`Focus into the 3rd input textbox`."""
    fields = s.page.fields()
    if not s.goal.says("focus") or not fields:
        return None
    ordinal = s.goal.ordinal or 1
    return make_action("focus", {"bid": fields[min(ordinal, len(fields)) - 1].bid})


def open_hidden(s: Situation) -> Action | None:
    """What the goal names is not on the page: open the next closed section, tab or menu."""
    if not s.goal.says("expand", "switch", "section", "tabs", "menu", "find"):
        return None
    if any(not s.clicked(found[0]) for quote in s.goal.quotes if (found := _by_name(s, quote.text))):
        return None
    menus = [e for e in s.page.role("menuitem") if "hasPopup" in e.states]
    if s.done and s.done[-1].name == "hover":
        return wait()  # submenus open after a moment
    unvisited = next((e for e in menus if not s.times("hover", e)), None)
    if unvisited is not None:
        return make_action("hover", {"bid": unvisited.bid})
    closed = [e for e in s.page.role("tab") if e.enabled and normal(e.name) not in _SUBMITS]
    if s.goal.says("tree"):
        closed += [e for e in s.page.role("listitem") if not any(b.role == "listitem" for b in s.page.below(e))]
    return next((click(e) for e in closed if not s.clicked(e) and not e.is_on("expanded")), None)


def menu_path(s: Situation) -> Action | None:
    """`Select File>Save`: hover along the path, click its end."""
    match = re.search(r"\b(?:select|click|choose)\s+(\S[^>]*(?:>[^>]+)+)", s.goal.text, re.IGNORECASE)
    if match is None:
        return None
    parts = [part.strip(' ".') for part in match[1].split(">")]
    for part in reversed(parts):
        items = [e for e in s.page.role("menuitem") if e.name == part]
        if items and part == parts[-1]:
            return click(items[0])
        if items and not s.times("hover", items[0]):
            return make_action("hover", {"bid": items[0].bid})
        if items:
            return wait()  # its submenu opens after a moment
    return None


def next_page_until_found(s: Situation) -> Action | None:
    """`Find Ann in the contact book and click on their phone number`: turn pages until the name shows."""
    match = re.search(r"\bfind ([A-Z]\w+).*\bclick on their ([\w ]+)", s.goal.text, re.IGNORECASE)
    if match is None:
        return None
    who, what = match[1], normal(match[2]).split()
    shown = [e for e in s.page.elements if e.name == who]
    if not shown:
        return next((click(e) for e in s.page.clickable() if normal(e.name) in _NEXT), None)
    for label in s.page.elements[shown[0].index :]:
        if label.role == "StaticText" and normal(label.name) in (" ".join(what), what[0]):
            return next((click(e) for e in s.page.clickable() if e.index > label.index), None)
    return None


def search_result(s: Situation) -> Action | None:
    """`Search for x, then click the 3rd search result`: counted over pages of results."""
    results = [e for e in s.page.role("link") if e.parent < 0 or s.page.elements[e.parent].role not in ("listitem", "list")]
    if not s.goal.says("result") or not s.goal.ordinal or not results:
        return None
    turned = sum(1 for action, page in zip(s.done, s.pages, strict=True) if _turns_page(action, page))
    place = s.goal.ordinal - 1 - turned * len(results)
    if place < len(results):
        return click(results[place])
    return next((click(e) for e in s.page.clickable() if normal(e.name) in _NEXT), None)


def dismiss_popup(s: Situation) -> Action | None:
    """Fields that could be used before are now disabled: something lies above the page; refuse it."""
    if s.page.fields() or not any(page.fields() for page in s.pages):
        return None
    return next((click(b) for b in s.page.clickable() if normal(b.name) in _REFUSALS), None)


def _turns_page(action: Action, page: Page) -> bool:
    return any(click(e) == action and normal(e.name) in _NEXT for e in page.clickable())


def submit(s: Situation) -> Action | None:
    """Nothing is left to do: press what the goal says to press, else what looks like the end of a form, else
    Enter."""
    buttons = [e for e in s.page.clickable() if e.role in ("button", "link", "tab", "generic")]
    named = [b for name in s.goal.pressed for b in buttons if normal(b.name) == normal(name)]
    if not named:
        match = re.search(r"\b(?:press|click|hit)(?: on)?(?: the)? (\w+)", s.goal.text, re.IGNORECASE)
        named = [b for b in buttons if match and normal(b.name) == normal(match[1])]
    if not named:
        named = [b for word in _SUBMITS for b in buttons if normal(b.name) == word and b.role == "button"]
    if not named and len(buttons) == 1:
        named = buttons
    if named:
        return click(named[0])
    return press_key("Enter") if s.page.fields() and s.done and s.done[-1].name == "fill" else None


def _by_name(s: Situation, name: str) -> list[Element]:
    """Elements to click that bear this name: exactly, then up to case, then a synonym."""
    candidates = s.page.clickable()
    exact = [e for e in candidates if e.name.strip() == name.strip()]
    loose = [e for e in candidates if normal(e.name) == normal(name)]
    other = [e for e in candidates if normal(e.name) == _SYNONYMS.get(normal(name), "\0")]
    return exact or loose or other or [e for e in s.page.role(*_HOLDERS) if s.page.text(e).strip() == name.strip()]
