"""A small shop, as pages and transitions: enough of a site for every branch of the formats. No network, no browser."""

from __future__ import annotations

from harness.axtree import describe, parse
from harness.predictions import PastStep, WorldModelQuery
from harness.types import Action, Observation, OpenPage
from training.world_model.transitions import WorldModelExample

TAIL = " | Lamps & More"


def page(path: str, title: str, body: str, *, basket: str = "£0.00", port: int = 8100, search: str = "") -> Observation:
    """A page of the shop: header with the basket, search form, breadcrumb, `body` (lines below `main`)."""
    url = f"http://shop.localhost:{port}{path}"
    full = title + TAIL
    field = f"\t\t[6] textbox 'Search' value={search!r}\n\t\t\tStaticText {search!r}" if search else "\t\t[6] textbox 'Search'"
    lines = [
        f"RootWebArea {full!r}, focused",
        "\t[2] banner ''",
        "\t\t[3] link 'Home'",
        "\t\tStaticText 'Basket total:'",
        f"\t\tStaticText {basket!r}",
        "\t\t[5] button 'Menu', hasPopup='menu', expanded=False",
        field,
        "\t\t[7] button 'Search'",
        "\t[10] main ''",
        f"\t\t[11] heading {title!r}",
        *("\t\t" + line for line in body.splitlines()),
    ]
    return Observation(url=url, title=full, axtree="\n".join(lines), open_pages=(OpenPage(url=url, title=full),))


def home(**options: object) -> Observation:
    return page(
        "/", "Home", "[20] link 'Brass Lamp'\n[21] link 'Clay Lamp'\n[22] checkbox 'In stock', checked='false'", **options
    )  # type: ignore[arg-type]


def product(name: str, number: int, price: str, **options: object) -> Observation:
    slug = name.lower().replace(" ", "-")
    body = f"StaticText {price!r}\n[30] button 'Add to basket'\n[31] link 'Write a review'\nStaticText 'A fine {name}.'"
    return page(f"/catalogue/{slug}_{number}/", name, body, **options)  # type: ignore[arg-type]


def act(observation: Observation, name: str, bid: str = "", **arguments: object) -> Action:
    """An action with the descriptor that a rollout gives it."""
    target = describe(parse(observation.axtree), bid) if bid else None
    given = {"bid": bid, **arguments} if bid else arguments
    return Action(name=name, arguments=given, target=target)  # type: ignore[arg-type]


def query(observation: Observation, action: Action, *history: PastStep, goal: str = "Buy a lamp") -> WorldModelQuery:
    return WorldModelQuery(goal=goal, observation=observation, action=action, history=history, site="shop")


def example(
    observation: Observation, action: Action, after: Observation, *history: PastStep, episode: str = "e1", **provenance: object
) -> WorldModelExample:
    where = {
        "run": "r",
        "episode": episode,
        "step": len(history),
        "site": "shop",
        "split": "train",
        "terminated": False,
        **provenance,
    }
    return WorldModelExample(query=query(observation, action, *history), next_observation=after, provenance=where)  # type: ignore[arg-type]


def edited(observation: Observation, *swaps: tuple[str, str]) -> Observation:
    """The page with parts of its text replaced."""
    text = observation.axtree
    for old, new in swaps:
        assert old in text
        text = text.replace(old, new)
    return observation.model_copy(update={"axtree": text})
