"""The `edits` format: a pruned view in, a few short lines out (grammar: `applying` and `opening`).

    because typing fills the field       r, one line
    set it "{typed}"                     Δ, one line an edit; or `same`
    end                                  only where the episode ends here

Δ is applied to o_t, or to a remembered page that opens. read(target) gives back o_t+1's normalised tree, states in
Chromium's order, where `max_lines` cuts nothing.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from harness.axtree import CountTokens, Tree, approximate_tokens
from harness.predictions import WorldModelQuery
from harness.types import Observation, OpenPage
from training.world_model.formats.applying import Applier
from training.world_model.formats.asking import Asked, ask
from training.world_model.formats.exceptions import Edit, choose, words_of
from training.world_model.formats.grammar import BECAUSE, END, SAME, Grammar
from training.world_model.formats.hinting import SPARE, hints
from training.world_model.formats.observed import observed, unchanged
from training.world_model.formats.opening import abstract, kept_url, last_parts, open_page, parts_of, tail_of, titled
from training.world_model.formats.protocol import Reading
from training.world_model.formats.quoting import Slots, Unreadable, quote, tokens_of
from training.world_model.formats.view import View, view
from training.world_model.formats.writing import Writer
from training.world_model.labels.records import Label
from training.world_model.memory import PageMemory
from training.world_model.memory.addresses import document, route, shelf
from training.world_model.memory.trees import page_tree

OPEN, KEEP, BACK, TAB = "open", "keep", "back", "tab"
_TAIL = re.compile(r"~[1-9]")
MAX_PROMPT_TOKENS: Final = 400
EXCEPTION_TOKENS: Final = 40
MAX_KEPT_LINES: Final = 40
MAX_KEPT_TOKENS: Final = 200
"""Edits up to which an address that changes on the present page is told so."""
MAX_LINES: Final = 400
"""Of a text that is read; a looping model must not cost memory."""


@dataclass(frozen=True, slots=True)
class Destination:
    """The page that lines of edits start from, and its address."""

    tree: Tree
    url: str
    title: str
    it: int | None
    open_pages: tuple[OpenPage, ...]
    active: int
    retrieved: str = ""


@dataclass(frozen=True, slots=True)
class EditsFormat:
    memory: PageMemory
    count_tokens: CountTokens = approximate_tokens
    max_prompt_tokens: int = MAX_PROMPT_TOKENS
    exception_tokens: int = EXCEPTION_TOKENS
    """Budget of a target for edits of a page that opens (`exceptions`). Edits of the present page are all taught."""
    goal: bool = True
    hints: int = 2
    """What so many similar actions of the train split led to stands in the prompt; 0 for none."""
    rationale: bool = True
    name: str = "edits"

    def with_memory(self, memory: PageMemory) -> EditsFormat:
        return replace(self, memory=memory)

    def prompt(self, query: WorldModelQuery) -> str:
        return self.view(query).text

    def view(self, query: WorldModelQuery) -> View:
        """The prompt, and how many lines of the page are not in it."""
        known = [link.answer for link in self.memory.links(query, self.hints + SPARE)] if self.hints else []
        told = hints(known, ask(query), self.hints)
        return view(query, count_tokens=self.count_tokens, max_tokens=self.max_prompt_tokens, goal=self.goal, hints=told)

    def target(self, query: WorldModelQuery, next_observation: Observation, label: Label) -> str:
        asked = ask(query)
        after = page_tree(next_observation.axtree)
        choices: list[tuple[list[str], Destination, list[Edit]]] = []
        for head in self._heads(query, asked, next_observation):
            with suppress(Unreadable):  # nothing like that page is remembered
                place = self._go(query, asked, head)[0]
                choices.append((head, place, Writer(place.tree, place.it, asked.slots).edits(after)))
        head, place, edits = min(choices, key=self._length)
        lines = [line for edit in edits for line in edit.lines][:MAX_LINES]
        if head and (place.retrieved or self._too_long(lines)):
            lines = choose(edits, lambda: self._known(query, asked), self.count_tokens, self.exception_tokens)
        first = [f"{BECAUSE} {label.rationale}"] if self.rationale and label.rationale else []
        return "\n".join([*first, *([*head, *lines] or [SAME]), *([END] if label.terminal else [])])

    def _length(self, choice: tuple[list[str], Destination, list[Edit]]) -> tuple[bool, int]:
        """What the shortest choice has least of. A present page that keeps little of itself is no page that is kept."""
        head, place, edits = choice
        lines = [line for edit in edits for line in edit.lines]
        return bool(head) and not place.retrieved and self._too_long(lines), sum(len(line) + 1 for line in [*head, *lines])

    def _too_long(self, lines: list[str]) -> bool:
        return len(lines) > MAX_KEPT_LINES or self.count_tokens("\n".join(lines)) > MAX_KEPT_TOKENS

    def _known(self, query: WorldModelQuery, asked: Asked) -> set[str]:
        """Words that a model may know: those of the prompt and of the present page, and the names of slots."""
        words = words_of(replace(self, hints=0).prompt(query)).union(asked.slots.texts)
        return words.union(*(words_of(node.name) for node in asked.tree.nodes))

    def _heads(self, query: WorldModelQuery, asked: Asked, after: Observation) -> list[list[str]]:
        """First lines that lead to the right address; one of them is taught, the one with the shorter rest."""
        now = query.observation
        tabs = _tabs(now, after)
        if (
            tabs
            and tabs[0].split()[1].isdigit()
            and now.open_pages[after.active_page_index] == OpenPage(url=after.url, title=after.title)
        ):
            return [tabs]
        before = next((step.observation for step in reversed(query.history) if step.observation.url != now.url), None)
        if before is not None and (after.url, after.title) == (before.url, before.title) and query.action.name == "go_back":
            return [[*tabs, BACK]]
        place, path = shelf(after.url, query.site), route(after.url)
        host = "" if place == shelf(now.url, query.site) else f"//{place}"
        if (after.url, after.title) == (now.url, now.title):
            return [tabs]
        tail = tail_of(after.title, now.title)
        title = quote(asked.slots.put(after.title.removesuffix(tail))) + (f" ~{parts_of(tail)}" if tail else "")
        address = host + abstract(asked.slots.put_address(path))
        keep, opening = [*tabs, f"{KEEP} {address} {title}"], [*tabs, f"{OPEN} {address} {title}"]
        same_document = not host and document(path) == document(route(now.url))
        return [keep] if same_document else [opening, keep]

    def delta(self, text: str) -> str:
        return "\n".join(_said(text)[1])

    def read(self, query: WorldModelQuery, text: str) -> Reading:
        rationale, delta, terminal = _said(text)
        said = Reading(rationale=rationale, delta="\n".join(delta), terminal=terminal)
        if not delta:
            return said.model_copy(update={"malformed": "says nothing of the page; no change is `same`"})
        if delta == [SAME]:
            return said.model_copy(update={"next_observation": unchanged(query)})
        asked = ask(query)
        try:
            place, rest = self._go(query, asked, [line for line in delta if line != SAME])
        except Unreadable as error:
            return said.model_copy(update={"malformed": str(error)})
        applier = Applier(place.tree, place.it, asked.slots)
        tree = applier.apply(rest)
        malformed = "; ".join(applier.skipped[:3]) + (f" and {len(applier.skipped) - 3} more" if len(applier.skipped) > 3 else "")
        if applier.skipped and not applier.applied and len(rest) == len(delta):
            return said.model_copy(update={"malformed": malformed})
        page = observed(query, tree, url=place.url, title=place.title, open_pages=place.open_pages, active=place.active)
        return said.model_copy(update={"next_observation": page, "malformed": malformed, "retrieved": place.retrieved})

    def grammar(self, query: WorldModelQuery) -> Grammar:
        asked = ask(query)

        def start(head: list[str]) -> Tree | None:
            try:
                return self._go(query, asked, head)[0].tree
            except Unreadable:
                return None

        return Grammar(lambda text: self.read(query, text).malformed, start, asked.slots, rationale=self.rationale)

    def _go(self, query: WorldModelQuery, asked: Asked, lines: list[str]) -> tuple[Destination, list[str]]:
        """Follow the first lines to the page that the others edit. Raises Unreadable."""
        now = query.observation
        place = Destination(asked.tree, now.url, now.title, asked.it, now.open_pages, now.active_page_index)
        rest = list(lines)
        switched = bool(rest) and rest[0].split()[0] == TAB
        if switched:
            place = _switch(place, rest.pop(0))
        verb = rest[0].split()[0] if rest else ""
        if verb == BACK and rest[0].strip() == BACK:
            rest.pop(0)
            before = next((step.observation for step in reversed(query.history) if step.observation.url != now.url), None)
            if before is None:
                raise Unreadable("there is no page to go back to")
            return self._open(query, asked, place, before.url, before.title), rest
        if verb in (OPEN, KEEP):
            address, title = _address(rest.pop(0), asked.slots, now.title)
            if verb == KEEP:
                return replace(place, url=kept_url(query, address, title), title=title, tree=titled(place.tree, title)), rest
            return self._open(query, asked, place, address, title), rest
        return (self._open(query, asked, place, place.url, place.title) if switched else place), rest

    def _open(self, query: WorldModelQuery, asked: Asked, place: Destination, address: str, title: str) -> Destination:
        opened = open_page(query, self.memory, address, title, asked.tree)
        if opened is None or opened.found is None:
            raise Unreadable(f"no page like {address[:80]} is remembered")
        return replace(place, tree=opened.tree, url=opened.url, title=opened.title, it=None, retrieved=opened.found.key)


def _switch(place: Destination, line: str) -> Destination:
    which = line.split()[1:]
    pages = place.open_pages
    if which == ["new"]:
        return replace(
            place, open_pages=(*pages, OpenPage(url="about:blank", title="")), active=len(pages), url="about:blank", title=""
        )
    if which and which[0] == "close" and len(pages) > 1:
        pages = tuple(page for index, page in enumerate(pages) if index != place.active)
        which = which[1:] or [str(len(pages) - 1)]
    if len(which) != 1 or not which[0].isdecimal() or int(which[0]) >= len(pages):
        raise Unreadable("no such tab")
    active = int(which[0])
    return replace(place, open_pages=pages, active=active, url=pages[active].url, title=pages[active].title)


def _said(text: str) -> tuple[str, list[str], bool]:
    """(r, lines of Δ, whether the episode ends) of an answer."""
    lines = [line.rstrip() for line in text.split("\n") if line.strip()][:MAX_LINES]
    rationale = ""
    if lines and lines[0].startswith(f"{BECAUSE} "):
        rationale = lines.pop(0).removeprefix(f"{BECAUSE} ")
    return rationale, [line for line in lines if line != END], END in lines


def _tabs(now: Observation, after: Observation) -> list[str]:
    more = len(after.open_pages) - len(now.open_pages)
    if more == 1:
        return [f"{TAB} new"]
    if more == -1:
        return [f"{TAB} close {after.active_page_index}"]
    if more == 0 and now.active_page_index != after.active_page_index:
        return [f"{TAB} {after.active_page_index}"]
    return []


def _address(line: str, slots: Slots, title_now: str) -> tuple[str, str]:
    tokens = tokens_of(line)
    if (
        len(tokens) not in (3, 4)
        or tokens[1].quoted
        or not tokens[2].quoted
        or (len(tokens) == 4 and not _TAIL.fullmatch(tokens[3].text))
    ):
        raise Unreadable("an address and a quoted title are expected")
    title = slots.fill(tokens[2].text)
    if len(tokens) == 4:
        title += last_parts(title_now, int(tokens[3].text[1:]))
    return slots.fill_address(tokens[1].text), title
