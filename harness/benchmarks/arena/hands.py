"""Hands: how an oracle acts. It sees what any policy sees, an accessibility tree, and yields one action at a time.

policy.act(observation) ─► hands.see(observation) ─► next(oracle) ─► Action
                           the oracle finds its target by role and name on the page that is shown now
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from random import Random

from harness.actions import make_action
from harness.errors import PolicyError
from harness.policies.page import Element, Page, normal, read_page
from harness.types import Action, Observation

Steps = Generator[Action, None, None]
Name = str | re.Pattern[str] | None
Within = str | tuple[str, Name] | None

PATIENCE = 3
"""Observations that an oracle waits for a target which is not there yet."""
WAIT_MS = 300
SHOWN = 12


class OracleLost(PolicyError):
    """The page is not what the oracle expected: a broken site, or a broken template."""

    default_kind = "oracle_lost"


class Hands:
    """Given to `Template.oracle`. `rng` is seeded by the episode's seed."""

    def __init__(self, rng: Random, start_url: str, homes: Mapping[str, str]) -> None:
        """`homes`: site → the URL where it begins."""
        self.rng = rng
        self.start_url = start_url
        self.homes = homes
        self._observation: Observation | None = None
        self._page: Page | None = None

    def see(self, observation: Observation) -> None:
        """A new observation."""
        self._observation, self._page = observation, None

    # ------------------------------------------------------------------ reading

    @property
    def observation(self) -> Observation:
        assert self._observation is not None, "an oracle reads the page before it saw one"
        return self._observation

    @property
    def page(self) -> Page:
        """The page that is shown now."""
        if self._page is None:
            self._page = read_page(self.observation.axtree)
        return self._page

    @property
    def url(self) -> str:
        return self.observation.url

    def find(
        self, role: str | tuple[str, ...], name: Name = None, *, within: Within = None, near: str | None = None
    ) -> list[Element]:
        """Elements of this role and name, in document order; with `near`, the closest to that text first."""
        roles = (role,) if isinstance(role, str) else role
        found = [e for e in self.page.elements if e.role in roles and _named(self._text(e), name)]
        if within is not None:
            found = [e for e in found if self._is_within(e, within)]
        if near is not None:
            sizes = {e.index: self._size_with(e, near) for e in found}
            found = sorted((e for e in found if sizes[e.index]), key=lambda e: (sizes[e.index], e.index))
        return found

    def has(self, role: str | tuple[str, ...], name: Name = None, *, within: Within = None, near: str | None = None) -> bool:
        return bool(self.find(role, name, within=within, near=near))

    def texts(self, *, within: Within = None) -> list[str]:
        """The pieces of text of the page, in document order."""
        return [e.name for e in self.page.texts() if within is None or self._is_within(e, within)]

    def line(self, pattern: str) -> str | None:
        """The first piece of text in which the pattern is found."""
        return next((text for text in self.texts() if re.search(pattern, text)), None)

    def match(self, pattern: str) -> re.Match[str] | None:
        """The pattern in all the text of the page, pieces joined by line breaks."""
        return re.search(pattern, "\n".join(self.texts()))

    def row(self, text: str, *, roles: tuple[str, ...] = ("row",)) -> list[str]:
        """Texts of the cells of the first table row that shows `text`; empty if there is none."""
        for element in self.page.role(*roles):
            if normal(text) in normal(self._all_text(element)):
                cells = [c for c in self.page.below(element) if c.role in ("cell", "gridcell", "rowheader", "columnheader")]
                return [self._all_text(cell) for cell in cells]
        return []

    def read(self, pattern: str) -> Generator[Action, None, str]:
        """What the pattern (its first group, if it has one) finds in the text of the page; waited for like a target."""
        for _ in range(PATIENCE):
            if found := self.match(pattern):
                return str(found[1] if found.re.groups else found[0])
            yield _action("noop", wait_ms=WAIT_MS)
        raise OracleLost(f"no text like {pattern!r} on {self.url}; it begins with {self.texts()[:SHOWN]}")

    def maybe(self, chance: float = 0.5) -> bool:
        """A choice of manner: true with this chance."""
        return self.rng.random() < chance

    # ------------------------------------------------------------------ acting

    def click(
        self, role: str | tuple[str, ...], name: Name = None, *, within: Within = None, near: str | None = None, nth: int = 0
    ) -> Steps:
        element = yield from self._target(role, name, within, near, nth)
        yield _action("click", bid=element.bid)

    def fill(
        self, role: str | tuple[str, ...], name: Name, text: str, *, within: Within = None, near: str | None = None, nth: int = 0
    ) -> Steps:
        """Replace the contents of a field. (`type` is in every action space of ours, DynaWeb's too; `fill` is not.)"""
        element = yield from self._target(role, name, within, near, nth)
        yield _action("type", bid=element.bid, text=text, press_enter=False)

    def search(
        self, role: str | tuple[str, ...], name: Name, text: str, *, within: Within = None, near: str | None = None, nth: int = 0
    ) -> Steps:
        """Fill a field and press Enter in it: one action."""
        element = yield from self._target(role, name, within, near, nth)
        yield _action("type", bid=element.bid, text=text, press_enter=True)

    def select(self, name: Name, option: str, *, within: Within = None, near: str | None = None, nth: int = 0) -> Steps:
        """Choose an option of a drop-down list by its text."""
        element = yield from self._target(("combobox", "listbox"), name, within, near, nth)
        yield _action("select_option", bid=element.bid, options=option)

    def check(self, name: Name, *, within: Within = None, near: str | None = None, nth: int = 0) -> Steps:
        """Tick a check box or choose a radio button."""
        element = yield from self._target(("checkbox", "radio"), name, within, near, nth)
        yield _action("check", bid=element.bid)

    def uncheck(self, name: Name, *, within: Within = None, near: str | None = None, nth: int = 0) -> Steps:
        element = yield from self._target(("checkbox",), name, within, near, nth)
        yield _action("uncheck", bid=element.bid)

    def press(self, key: str) -> Steps:
        yield _action("keyboard_press", key=key)

    def scroll(self, pixels: int = 400) -> Steps:
        """Look further down: nothing is hidden from an oracle, but a person would."""
        yield _action("scroll", delta_x=0, delta_y=pixels)

    def back(self) -> Steps:
        yield _action("go_back")

    def wait(self) -> Steps:
        yield _action("noop", wait_ms=WAIT_MS)

    def goto_start(self) -> Steps:
        """Open the start page again."""
        yield _action("goto", url=self.start_url)

    def open(self, site: str) -> Steps:
        """Go to a site of a multi-site task: its tab if it has one, else its address."""
        tabs = self.observation.open_pages
        if (number := next((i for i, tab in enumerate(tabs) if self._site_of(tab.url) == site), None)) is None:
            yield _action("goto", url=self.homes[site])
        elif number != self.observation.active_page_index:
            yield _action("tab_focus", index=number)

    def stop(self, answer: str = "Done.") -> Steps:
        """Tell the user the answer: the end of the episode."""
        yield _action("send_msg_to_user", text=answer)

    def give_up(self, reason: str) -> Steps:
        """Say that the task cannot be done: the end of the episode."""
        yield _action("report_infeasible", reason=reason)

    # ------------------------------------------------------------------ inside

    def _target(
        self, role: str | tuple[str, ...], name: Name, within: Within, near: str | None, nth: int
    ) -> Generator[Action, None, Element]:
        for _ in range(PATIENCE):
            found = [e for e in self.find(role, name, within=within, near=near) if e.bid]
            if len(found) > nth:
                return found[nth]
            yield _action("noop", wait_ms=WAIT_MS)
        roles = (role,) if isinstance(role, str) else role
        there = [self._text(e) for e in self.page.elements if e.role in roles and e.bid]
        wanted = name.pattern if isinstance(name, re.Pattern) else name
        limits = "".join(f", {key} {value!r}" for key, value in (("within", within), ("near", near)) if value is not None)
        raise OracleLost(
            f"no {'/'.join(roles)} {wanted!r}{limits} (number {nth}) on {self.url}; there are {len(there)}: {there[:SHOWN]}"
        )

    def _site_of(self, url: str) -> str:
        """The site whose home is the longest beginning of `url`: `shop_admin` lies below `shop`."""
        return max((s for s, home in self.homes.items() if url.startswith(home)), key=lambda s: len(self.homes[s]), default="")

    def _text(self, element: Element) -> str:
        return self.page.text(element)

    def _all_text(self, element: Element) -> str:
        texts = [e.name for e in self.page.below(element) if e.role == "StaticText"]
        return " ".join(texts) or element.name

    def _is_within(self, element: Element, within: str | tuple[str, Name]) -> bool:
        role, name = (within, None) if isinstance(within, str) else within
        while element.parent >= 0:
            element = self.page.elements[element.parent]
            if element.role == role and _named(self._text(element), name):
                return True
        return False

    def _size_with(self, element: Element, text: str) -> int:
        """Nodes in the smallest part of the page that holds both the element and the text; 0 if the page lacks it."""
        wanted = normal(text)
        while True:
            below = self.page.below(element)
            if wanted in normal(" ".join(e.name for e in (element, *below) if e.name)):
                return 1 + len(below)
            if element.parent < 0:
                return 0
            element = self.page.elements[element.parent]


def _named(text: str, name: Name) -> bool:
    if name is None:
        return True
    return bool(name.search(text)) if isinstance(name, re.Pattern) else normal(text) == normal(name)


def _action(verb: str, **arguments: object) -> Action:
    action = make_action(verb, arguments)
    if action.error:
        raise OracleLost(f"an oracle made an action that cannot be: {action.error}")
    return action
