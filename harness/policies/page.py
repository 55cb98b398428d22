"""A page as rules want to see it: elements in document order, with role, name, value, states and surroundings.

Read from an observation's accessibility tree; nothing else of the page is known. Text without an element of its own
(`StaticText`) has no bid: it can be read, not clicked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from harness.axtree import Tree, parse

FIELD_ROLES = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})
CHOICE_ROLES = frozenset({"checkbox", "radio", "option", "switch", "menuitemcheckbox", "menuitemradio"})
CLICK_ROLES = frozenset({
    "button", "link", "tab", "menuitem", "checkbox", "radio", "option", "switch", "menuitemcheckbox", "menuitemradio",
    "treeitem", "gridcell",
})  # fmt: skip
INTERACTIVE_ROLES = FIELD_ROLES | CLICK_ROLES


@dataclass(frozen=True)
class Element:
    """One line of the tree. `index` is its place in document order, `parent` the index of its parent (-1: none)."""

    index: int
    parent: int
    depth: int
    bid: str
    role: str
    name: str
    value: str = ""
    states: dict[str, str] = field(default_factory=dict)

    def is_on(self, state: str) -> bool:
        return self.states.get(state) == "true"

    @property
    def enabled(self) -> bool:
        return not self.is_on("disabled")

    @property
    def clickable(self) -> bool:
        """Has an element of its own, and a role or a mark that says it reacts to clicks."""
        return bool(self.bid) and self.enabled and (self.role in CLICK_ROLES or "clickable" in self.states)


@dataclass(frozen=True)
class Page:
    elements: tuple[Element, ...]

    def role(self, *roles: str) -> list[Element]:
        """Elements of these roles that can be acted on, in document order."""
        return [e for e in self.elements if e.role in roles and e.bid]

    def clickable(self) -> list[Element]:
        return [e for e in self.elements if e.clickable]

    def fields(self) -> list[Element]:
        """Enabled text inputs, in document order; parts of a date or time input are not fields of their own."""
        parts = {e.index for e in self.elements if e.role in ("Date", "InputTime", "DateTime")}
        return [e for e in self.role("textbox", "searchbox", "spinbutton") if e.enabled and e.parent not in parts]

    def below(self, element: Element) -> list[Element]:
        """All descendants of `element`, in document order."""
        found = []
        for other in self.elements[element.index + 1 :]:
            if other.depth <= element.depth:
                break
            found.append(other)
        return found

    def text(self, element: Element) -> str:
        """The element's name, else the text below it."""
        if element.name:
            return element.name
        return " ".join(e.name for e in self.below(element) if e.name).strip()

    def texts(self) -> list[Element]:
        """Visible pieces of text, in document order."""
        return [e for e in self.elements if e.role == "StaticText" and e.name]

    def label(self, element: Element) -> str:
        """What names a field for a reader: its own name, else the nearest text before it that is no field's value."""
        if element.name:
            return element.name
        around = self._ancestors(element)
        for other in reversed(self.elements[: element.index]):
            if other.index in around:  # its name is made of what it holds, the field's value included
                continue
            if other.role in FIELD_ROLES:
                return ""
            if text := self._own_text(other):
                return text.strip().rstrip(":").strip()
        return ""

    def _ancestors(self, element: Element) -> set[int]:
        found = set()
        while element.parent >= 0:
            found.add(element.parent)
            element = self.elements[element.parent]
        return found

    def _own_text(self, element: Element) -> str:
        if element.role in CLICK_ROLES or element.role == "RootWebArea":
            return ""
        return element.name

    @cached_property
    def all_text(self) -> str:
        return " ".join(e.name for e in self.elements if e.name)


def read_page(axtree: str) -> Page:
    """Parse an observation's `axtree`. Lines that cannot be parsed are left out: page text is hostile."""
    tree = parse(axtree)
    return Page(tuple(_element(tree, index) for index in range(len(tree))))


def _element(tree: Tree, index: int) -> Element:
    node = tree.nodes[index]
    return Element(
        index=index,
        parent=tree.parents[index],
        depth=tree.depths[index],
        bid=node.bid or "",
        role=node.role,
        name=node.name,
        value="" if node.value is None else str(node.value),
        states={key: str(value).lower() for key, value in node.properties},
    )


def normal(text: str) -> str:
    """Case, spacing and punctuation at the ends do not matter when names are compared."""
    return re.sub(r"\s+", " ", text).strip().strip(".,:;!").casefold().strip()


def whole_number(text: str) -> int | None:
    """The integer that `text` is; None if it is anything else. Up to nine digits: longer ones are no numbers to us."""
    return int(text) if re.fullmatch(r"-?\d{1,9}", text.strip()) else None


def dollars(text: str) -> float | None:
    """The first amount like `$1,450` or `$54.30` in `text`."""
    match = re.search(r"\$\s*(\d{1,3}(?:,\d{3})+|\d{1,9})(\.\d{1,9})?(?![\d.]*\d)", text)
    return float(match[1].replace(",", "") + (match[2] or "")) if match else None
