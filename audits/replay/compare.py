"""Dreamed page t against real page t, after the mask: where they disagree, and how badly.

    url        address, title, open tabs, dialogs, or who is signed in differ
    crit       an element that this or a later dreamed action uses, or the answer, stands on the dreamed page and is missing or in
               another state on the real one
    agreement  F1 of the two changes of the page, order included: what the dream says changed since the last real page, and what
               did. Below the calibrated threshold: `any`

Agreement takes nodes, and the order of those that occur once, so that a swap counts; `delta_f1`, its order-free sibling, is
audits.fidelity's. Both take the real page before as common ground: an error is counted where it appears.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Final
from urllib.parse import urlsplit

from audits.fidelity.delta import compare as compare_deltas
from audits.fidelity.delta import delta
from audits.fidelity.overlap import strict
from audits.fidelity.pages import Element, Page, read_page
from audits.replay.calibration import Calibration
from audits.replay.script import Cue
from harness.types import Observation, Record

DIALOG_ROLES: Final = frozenset({"dialog", "alertdialog"})
FIELD_ROLES: Final = frozenset(
    {"radio", "checkbox", "switch", "textbox", "searchbox", "combobox", "listbox", "spinbutton", "slider"}
)
_SIGN_IN = re.compile(r"(log|sign)\s?in", re.IGNORECASE)
_SIGN_OUT = re.compile(r"(log|sign)\s?(out|off)", re.IGNORECASE)
_ROOT: Final = "RootWebArea"
SHOWN: Final = 3
"""Differences of a kind that are kept."""


class PageCheck(Record):
    """One pair of pages. Empty reasons and an agreement of 1 mean: nothing differs."""

    number: int
    """1 … T+1."""
    site: str = ""
    """Host of the real page: whose mask and threshold apply."""
    url: tuple[str, ...] = ()
    crit: tuple[str, ...] = ()
    agreement: float
    delta_f1: float | None = None
    only_dreamed: int = 0
    """Nodes that only the dreamed page has."""
    only_real: int = 0
    same_order: bool = True
    """With equal nodes: in the same order too."""
    masked: int = 0
    """Nodes of the real page that the mask took out."""
    differences: tuple[str, ...] = ()
    """The first nodes that differ, `+` only dreamed, `-` only real."""

    @property
    def equal(self) -> bool:
        return not (self.url or self.only_dreamed or self.only_real) and self.same_order


def compare_pages(
    number: int,
    dreamed: Observation,
    real: Observation,
    before: Observation | None,
    calibration: Calibration,
    *,
    cues: Iterable[Cue] = (),
    answer: str | None = None,
) -> PageCheck:
    """Compare page `number`. `before`: the last real page, None for the first; `cues`: the actions from this page on."""
    full_ours, full_theirs = read_page(dreamed), read_page(real)
    ours, theirs = masked(full_ours, site_of(real), calibration), masked(full_theirs, site_of(real), calibration)
    last = masked(read_page(before), site_of(before), calibration) if before is not None else None
    extra, missing = ours.elements - theirs.elements, theirs.elements - ours.elements
    return PageCheck(
        number=number,
        site=site_of(real),
        url=tuple(_place(ours, theirs, calibration, site_of(real))),
        crit=tuple(_critical(full_ours, full_theirs, cues, answer))[:SHOWN],
        agreement=agreement(ours, theirs, last),
        delta_f1=compare_deltas(delta(last, ours), delta(last, theirs)).f1 if last else None,
        only_dreamed=extra.total(),
        only_real=missing.total(),
        same_order=bool(extra or missing) or ours.nodes == theirs.nodes,
        masked=len(full_theirs.nodes) - len(theirs.nodes),
        differences=tuple([f"+ {_shown(e)}" for e in extra][:SHOWN] + [f"- {_shown(e)}" for e in missing][:SHOWN]),
    )


def masked(page: Page, site: str, calibration: Calibration) -> Page:
    """`page` without its volatile nodes, and without the text of labels: Chromium shows it beside the field that has it for a
    name, or not, as the moment will have it."""
    labels = {node.name for node in page.nodes if node.role in FIELD_ROLES}
    kept = [
        i
        for i, node in enumerate(page.nodes)
        if not (node.role == "StaticText" and node.name in labels) and not calibration.masks(site, node)
    ]
    return replace(page, nodes=tuple(page.nodes[i] for i in kept), places=tuple(page.places[i] for i in kept))


def agreement(dreamed: Page, real: Page, before: Page | None) -> float:
    """F1 of the signed changes since `before`, order included; of the whole pages where there is no `before`."""
    start = _items(before) if before is not None else Counter()
    found = strict(_signed(start, _items(dreamed)), _signed(start, _items(real))).f1
    return 1.0 if found is None else found


def site_of(observation: Observation) -> str:
    """Whose mask applies: the host, without its port."""
    return urlsplit(observation.url).hostname or "file"


def differing(dreamed: Observation, real: Observation) -> list[Element]:
    """Nodes that one of two pages has and the other has not; what a mask is learned from."""
    ours, theirs = (masked(read_page(page), site_of(real), Calibration()) for page in (dreamed, real))
    return [*(ours.elements - theirs.elements), *(theirs.elements - ours.elements)]


def _items(page: Page) -> Counter[Hashable]:
    """Nodes, and pairs of consecutive named nodes that occur once: wrappers and bullets between rows would hide a swap."""
    found: Counter[Hashable] = Counter(page.nodes)
    found.update(pairwise([node for node in page.nodes if node.name and found[node] == 1]))
    return found


def _signed(before: Counter[Hashable], after: Counter[Hashable]) -> Counter[Hashable]:
    found: Counter[Hashable] = Counter({("+", item): count for item, count in (after - before).items()})
    found.update({("-", item): count for item, count in (before - after).items()})
    return found


def _place(ours: Page, theirs: Page, calibration: Calibration, site: str) -> Iterable[str]:
    if calibration.address(site, ours.url) != calibration.address(site, theirs.url) or _host(ours.url) != _host(theirs.url):
        yield f"address {ours.url[:120]!r}, really {theirs.url[:120]!r}"
    if ours.title != theirs.title and not calibration.masks(site, Element(_ROOT, theirs.title)):
        yield f"title {ours.title[:80]!r}, really {theirs.title[:80]!r}"
    if ours.tabs != theirs.tabs:
        yield f"{ours.tabs[0]} tabs, number {ours.tabs[1]} in front; really {theirs.tabs[0]}, number {theirs.tabs[1]}"
    if (dialogs := _dialogs(ours)) != (real := _dialogs(theirs)):
        yield f"dialogs {sorted(dialogs)}, really {sorted(real)}"
    login = (_signed_in(ours), _signed_in(theirs))
    if None not in login and login[0] != login[1]:
        yield f"signed {'in' if login[0] else 'out'}, really signed {'in' if login[1] else 'out'}"


def _host(url: str) -> str:
    return urlsplit(url).netloc


def _dialogs(page: Page) -> frozenset[str]:
    return frozenset(node.name[:80] for node in page.nodes if node.role in DIALOG_ROLES)


def _signed_in(page: Page) -> bool | None:
    """By the link or button that the page offers; None where it offers neither."""
    names = [node.name for node in page.nodes if node.role in ("link", "button", "menuitem")]
    if any(_SIGN_OUT.fullmatch(name) for name in names):
        return True
    return False if any(_SIGN_IN.fullmatch(name) for name in names) else None


def _critical(ours: Page, theirs: Page, cues: Iterable[Cue], answer: str | None) -> Iterable[str]:
    known: set[tuple[str, str]] = set()
    for cue in cues:
        for target in () if cue.failed else cue.targets:
            if target is None or (key := (target.role, target.name)) in known or key not in ours.named:
                continue
            known.add(key)
            if key not in theirs.named:
                yield f"{_key(key)} is missing"
            elif (dreamed := _only(ours, key)) and (real := _only(theirs, key)) and dreamed != real:
                yield f"{_key(key)} is {_state(dreamed)}, really {_state(real)}"
    if answer and (pattern := _answer(answer)) and _says(ours, pattern) and not _says(theirs, pattern):
        yield f"the answer {answer[:60]!r} is not on the page"


def _only(page: Page, key: tuple[str, str]) -> Element | None:
    same = [node for node in page.nodes if (node.role, node.name) == key]
    return same[0] if len(same) == 1 else None


def _answer(text: str) -> re.Pattern[str] | None:
    words = " ".join(text.split())
    return re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE) if words else None


def _says(page: Page, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(node.name) or pattern.search(node.value) for node in page.nodes)


def _key(key: tuple[str, str]) -> str:
    return f"{key[0]} {key[1][:60]!r}"


def _state(node: Element) -> str:
    return ", ".join([*([f"{node.value[:40]!r}"] if node.value else []), *node.states]) or "plain"


def _shown(node: Element) -> str:
    return (
        f"{node.role} {node.name[:80]!r}"
        + (f" value={node.value[:40]!r}" if node.value else "")
        + "".join(f" {s}" for s in node.states)
    )
