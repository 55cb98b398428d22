"""What oracles do in the shop's storefront again and again, in the manner of a person.

    find_product   search for it, or browse to its shelf and turn pages     → the product's page
    browse         open a category from the menu and the side bar            → a listing
    account        open a page of the customer's account

Also draws from the world that several templates share.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from random import Random

from harness.benchmarks.arena.hands import Hands, Steps
from harness.sites.worlds.shop import Product, ShopWorld, build, pounds

CUSTOMER = "SELECT id FROM auth_user WHERE email = 'morgan.hale@example.com'"
MAX_PAGES = 6


@cache
def world() -> ShopWorld:
    return build()


def in_stock(rng: Random, count: int, *, at_least: int = 1) -> list[Product]:
    """`count` different products of which at least so many can be bought."""
    return rng.sample([product for product in world().products if product.stock >= at_least], count)


def shown(pence: int) -> str:
    """A price as an answer: not part of a longer price, as `6.25` is of `56.25`."""
    return f"£{pounds(pence)}"


def slug(product: Product) -> str:
    """The product's address below /catalogue/, as Oscar makes it."""
    words = re.sub(r"[^\w\s-]", "", product.title.lower())
    words = re.sub(r"[-\s]+", "-", words).strip("-")
    return f"{words}_{world().products.index(product) + 1}"


def other(rng: Random, items: Sequence[Product], than: Product) -> Product:
    """Another product whose price is another, too."""
    return rng.choice([item for item in items if item.price != than.price and item.title != than.title])


# ---------------------------------------------------------------------------------------------- moves


def find_product(o: Hands, title: str, path: Sequence[str] = ()) -> Steps:
    """Open a product's page: by searching for it or, if its place (`path`) is known and it pleases, by browsing."""
    if path and o.maybe(0.35):
        yield from browse(o, path)
        yield from turn_to(o, title)
    else:
        yield from o.search("textbox", "Search", title)
    yield from o.click("link", title, within="heading")


def turn_to(o: Hands, title: str) -> Steps:
    """Turn the pages of a listing until the product is on it."""
    for _ in range(MAX_PAGES):
        if o.has("link", title, within="heading") or not o.has("link", "next"):
            return
        yield from o.click("link", "next")


def browse(o: Hands, path: Sequence[str]) -> Steps:
    """Open a category: the department in the menu, then the rest in the side bar, step by step or straight."""
    yield from o.click("button", "Browse store")
    yield from o.click("link", path[0], within="navigation")
    if len(path) > 2 and o.maybe(0.4):
        yield from o.click("link", path[1], within="complementary")
    if len(path) > 1:
        yield from o.click("link", path[-1], within="complementary")


def sort_by(o: Hands, order: str) -> Steps:
    """Sort a listing; the page loads again by itself."""
    yield from o.select("Sort by", order)


def first_product(o: Hands) -> str:
    """Title of the first product of a listing."""
    return o.page.text(o.find("link", re.compile(r"\S"), within="heading")[0])


def price_shown(o: Hands) -> str:
    """The price on a product's page."""
    return next(text for text in o.texts(within="article") if text.startswith("£"))


def account(o: Hands, section: str) -> Steps:
    """Open a page of the account: `Order History`, `Address Book`, `Wish Lists`, `Profile`."""
    yield from o.click("link", "Account", within="navigation")
    if section != "Profile":
        yield from o.click("link", section, within="complementary")


def open_basket(o: Hands) -> Steps:
    yield from o.click("button", "View basket")


def put_in_basket(o: Hands, title: str, path: Sequence[str], quantity: int) -> Steps:
    """Find, add, and set the quantity in the basket, where Oscar's form is."""
    yield from find_product(o, title, path)
    yield from o.click("button", "Add to basket", within="article")
    yield from open_basket(o)
    if quantity != 1:
        yield from o.fill("spinbutton", None, str(quantity))
        yield from o.click("button", "Update")


def cells(o: Hands, text: str) -> list[str]:
    """What the cells of the first table row that shows `text` say; empty if there is none."""
    for row in o.page.role("row"):
        found = [o.page.text(e) for e in o.page.below(row) if e.role in ("cell", "gridcell", "rowheader", "columnheader")]
        if any(text in cell for cell in found):
            return found
    return []


def click_after(o: Hands, text: str, role: str, name: str | re.Pattern[str]) -> Steps:
    """Click the first such element that follows `text` on the page: what belongs together is not always in one part."""
    place = next((e.index for e in o.page.elements if text in e.name), 0)
    before = sum(e.index < place for e in o.find(role, name))
    yield from o.click(role, name, nth=before)
