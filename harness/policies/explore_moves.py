"""The moves of an explorer: pure functions from a page to things that can be tried on it.

forms(page)      fields that belong together, and the button that sends them
openings(page)   links, buttons, tabs, boxes: one click each
wrong(page)      actions that must fail: an element that is not there, text into a link, an option that does not exist
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, NamedTuple

from harness.actions import make_action
from harness.policies.explore_values import value_for
from harness.policies.page import Element, Page
from harness.types import Action

WRONG: Final = "on purpose wrong"
"""How the note of a move begins that is made in order to fail."""

_TEXT_ROLES: Final = frozenset({"textbox", "searchbox", "spinbutton"})
_BOX_ROLES: Final = frozenset({"checkbox", "switch", "radio"})
_MENU_ROLES: Final = frozenset({"combobox", "listbox"})
_OPTION_ROLES: Final = frozenset({"option", "menuitem"})
_GROUP_ROLES: Final = frozenset({"form", "dialog", "search", "alertdialog"})
_LEAVING = re.compile(r"\b(log|sign)[ -]?(out|off)\b|\bdelete (my )?(account|profile)\b|\bpowered\b", re.IGNORECASE)
_CREDITS = re.compile(r"powered by\b", re.IGNORECASE)
_GO = re.compile(
    r"\b(submit|search|find|go|save|add|send|post|apply|create|update|ok|filter|preview|sign|log|publish|reply|vote)\b",
    re.IGNORECASE,
)
_AGAINST = re.compile(r"\b(cancel|close|reset|clear|back|toggle)\b", re.IGNORECASE)
_NO_SUCH_OPTION: Final = "an option that is not there"
_FAR_BEYOND: Final = 100_000
"""Added to the page's highest number: an element that cannot be on it."""


class Move(NamedTuple):
    """An action, and why: the note is stored as the policy's reply."""

    action: Action
    note: str


@dataclass(frozen=True)
class Form:
    """Fields in document order; `button` is None where Enter must do."""

    fields: tuple[Element, ...]
    button: Element | None

    def key(self, page: Page) -> str:
        """Tells this form from others of the same page, whatever bids it has today."""
        return " | ".join([*(page.label(field) for field in self.fields), self.button.name if self.button else "Enter"])


def forms(page: Page) -> list[Form]:
    """The forms of a page. Elements outside of any `form` node are grouped by order: fields, then the next button."""
    groups: dict[int, list[Element]] = {}
    loose: list[Element] = []
    for element in _controls(page):
        home = next((e.index for e in _above(page, element) if e.role in _GROUP_ROLES), None)
        (loose if home is None else groups.setdefault(home, [])).append(element)
    found = [form for group in groups.values() if (form := _form(group))]
    start = 0
    for number, element in enumerate(loose):
        if element.role == "button" and any(e.role != "button" for e in loose[start:number]):
            if form := _form(loose[start : number + 1]):
                found.append(form)
            start = number + 1
    if (form := _form(loose[start:])) is not None:
        found.append(form)
    return found


def fill_move(page: Page, field: Element, rng: Random) -> Move | None:
    """One action on one field; None where nothing can be chosen."""
    label = page.label(field) or field.role
    if field.role in _MENU_ROLES and (names := options_of(page, field)):
        name = rng.choice(names)
        return Move(make_action("select_option", {"bid": field.bid, "options": name}), f"choose {name!r} in {label!r}")
    if field.role == "combobox" and "hasPopup" in field.states:
        if any(child.role in _OPTION_ROLES for child in page.below(field)):
            return None  # nothing but what is chosen already
        return Move(make_action("click", {"bid": field.bid}), f"open the menu {label!r}")
    if field.role in _BOX_ROLES:
        return Move(make_action("click", {"bid": field.bid}), f"tick {label!r}")
    if field.role in _TEXT_ROLES or field.role == "combobox":
        value = value_for(page, field, rng)
        return Move(make_action("fill", {"bid": field.bid, "value": value}), f"write {value!r} into {label!r}")
    return None


def send_move(form: Form) -> Move:
    if form.button is not None:
        return Move(make_action("click", {"bid": form.button.bid}), f"send the form with {form.button.name!r}")
    return Move(make_action("press", {"bid": form.fields[-1].bid, "key_comb": "Enter"}), "send the form with Enter")


def openings(page: Page) -> list[Element]:
    """What a click may open or change, without menus' options (they are chosen, not clicked) and without text fields."""
    inside = {e.index for menu in page.elements if menu.role in _MENU_ROLES for e in page.below(menu)}
    return [element for element in page.clickable() if element.index not in inside]


def leaves(page: Page, element: Element) -> bool:
    """Would it end the session, or lead to whoever made the software? An explorer that left a site sees little of it."""
    beside = [e.name for e in page.below(page.elements[element.parent]) if e.role == "StaticText"] if element.parent > 0 else []
    return bool(_LEAVING.search(element.name)) or any(_CREDITS.match(text.strip()) for text in beside[:3])


def open_menu(page: Page) -> list[Element]:
    """The options of a menu that a click has opened, as scripts draw it: a list apart from its combobox."""
    if not any(e.role == "combobox" and e.is_on("expanded") for e in page.elements):
        return []
    lists = (e for e in page.elements if e.role == "listbox")
    return [child for found in lists for child in page.below(found) if child.role == "option" and child.clickable]


def options_of(page: Page, menu: Element) -> list[str]:
    """Options that are not chosen now."""
    return [
        child.name
        for child in page.below(menu)
        if child.role in _OPTION_ROLES and child.name and child.enabled and not child.is_on("selected")
        and child.name != menu.value
    ]  # fmt: skip


def wrong(page: Page, rng: Random) -> Move:
    """An action that fails for a reason of its own; which, is drawn from what the page offers."""
    return rng.choice(list(_wrong(page, rng)))


def _wrong(page: Page, rng: Random) -> Iterator[Move]:
    numbers = [int(digits) for e in page.elements if (digits := re.sub(r"\D", "", e.bid)[:9])]
    missing = str(max(numbers, default=0) + _FAR_BEYOND)
    yield Move(make_action("click", {"bid": missing}), f"{WRONG}: click an element that is not on the page")
    if buttons := [e for e in page.role("link", "button") if e.enabled]:
        chosen = rng.choice(buttons)
        yield Move(make_action("fill", {"bid": chosen.bid, "value": "text"}), f"{WRONG}: write into the {chosen.role}")
    if menus := [e for e in page.role(*_MENU_ROLES) if options_of(page, e)]:
        chosen = rng.choice(menus)
        action = make_action("select_option", {"bid": chosen.bid, "options": _NO_SUCH_OPTION})
        yield Move(action, f"{WRONG}: choose {_NO_SUCH_OPTION}")
    if disabled := [e for e in page.role("button", "textbox", "checkbox", "combobox") if not e.enabled]:
        yield Move(make_action("click", {"bid": rng.choice(disabled).bid}), f"{WRONG}: click what is disabled")
    if numeric := page.role("spinbutton"):
        chosen = rng.choice(numeric)
        yield Move(make_action("fill", {"bid": chosen.bid, "value": "many"}), f"{WRONG}: a word where a number is needed")


def _controls(page: Page) -> list[Element]:
    """Not the parts of a widget: a menu's inner text box, the days and months of a date."""
    widgets = {e.index for e in page.elements if e.role in ("Date", "InputTime", "DateTime", "combobox")}
    wanted = _TEXT_ROLES | _BOX_ROLES | _MENU_ROLES | {"button"}
    return [e for e in page.role(*wanted) if e.enabled and e.parent not in widgets and not e.is_on("readonly")]


def _form(group: Sequence[Element]) -> Form | None:
    fields = tuple(e for e in group if e.role != "button")
    if not fields:
        return None
    after = [e for e in group if e.role == "button" and e.index > fields[0].index and not _AGAINST.search(e.name)]
    named = [e for e in after if _GO.search(e.name)]
    button = next(iter(named or after), None)
    if button is None and not any(e.role in _TEXT_ROLES for e in fields):
        return None
    return Form(fields if button is not None else _ending_in_text(fields), button)


def _ending_in_text(fields: tuple[Element, ...]) -> tuple[Element, ...]:
    """Enter is pressed in the last field, which must be one that takes text."""
    last = max(number for number, field in enumerate(fields) if field.role in _TEXT_ROLES)
    return fields[: last + 1]


def _above(page: Page, element: Element) -> Iterator[Element]:
    while element.parent >= 0:
        element = page.elements[element.parent]
        yield element
