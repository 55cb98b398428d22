"""`Link`: what an action on an element led to in training, spelt so that it can be read on another page.

An answer names the acted element `it` and the typed text `{typed}`, so what one product link did is told for all of
them. Which link is most like a question is a matter of four things, in this order of weight:

    the same element by role and name    the same kind of page    the same page    the same place on it

Where no element of that name is known, and none of its role on such a page, one of its role anywhere on the site answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from harness.predictions import WorldModelQuery
from harness.types import Action, Record
from training.world_model.memory.addresses import document, pattern, route, shelf

MAX_ANSWER_CHARS: Final = 400
"""A longer answer is cut after its last whole line."""


class Spot(Record):
    """Where an action happened, as far as other pages and episodes share it."""

    shelf: str
    pattern: str
    route: str
    action: str
    role: str = ""
    name: str = ""
    place: str = ""
    """Landmark and roles of the nearest ancestors."""


class Link(Record):
    spot: Spot
    answer: str
    """The taught edits, as their format spells them."""
    episode: str = ""
    template: str = ""


def spot_of(query: WorldModelQuery) -> Spot:
    target, url = query.action.target, query.observation.url
    page = document(route(url))
    roles = [part.partition(" ")[0] for part in target.path[-3:]] if target else []
    return Spot(
        shelf=shelf(url, query.site),
        pattern=pattern(page),
        route=page,
        action=f"{query.action.name} enter" if presses_enter(query.action) else query.action.name,
        role=target.role if target else "",
        name=target.name if target else "",
        place=" ".join([target.landmark.partition(" ")[0], *roles]) if target else "",
    )


def keys_of(spot: Spot) -> tuple[tuple[str, ...], ...]:
    """Under what a link is found: its element by name anywhere on the site; its role on this kind of page; its role."""
    shared = (spot.shelf, spot.action, spot.role)
    return (*shared, "name", spot.name), (*shared, "kind", spot.pattern), (*shared, "role")


def presses_enter(action: Action) -> bool:
    """Does it type and then press Enter? What follows is another page, not a filled field."""
    return action.name == "type" and action.arguments.get("press_enter", True) is not False


def most_alike(spot: Spot, links: Iterable[Link], count: int) -> list[Link]:
    """Up to `count` links with different answers, most alike first; among equals the later."""
    order = {id(link): number for number, link in enumerate(links)}
    ranked = sorted(
        {id(link): link for link in links}.values(),
        key=lambda link: (
            link.spot.name == spot.name,
            link.spot.pattern == spot.pattern,
            link.spot.route == spot.route,
            link.spot.place == spot.place,
            order[id(link)],
        ),
        reverse=True,
    )
    found: list[Link] = []
    for link in ranked:
        if all(link.answer != other.answer for other in found):
            found.append(link)
        if len(found) == count:
            break
    return found


def make_room(kept: list[Link], count: int) -> None:
    """Drop links beyond `count`: the oldest of the template that has most, so that many templates stay."""
    while len(kept) > count:
        crowd, _ = Counter(link.template for link in kept).most_common(1)[0]
        kept.remove(next(link for link in kept if link.template == crowd))


def cut(answer: str) -> str:
    """An answer as it is kept."""
    if len(answer) <= MAX_ANSWER_CHARS:
        return answer
    return answer[:MAX_ANSWER_CHARS].rpartition("\n")[0] or answer[:MAX_ANSWER_CHARS]
