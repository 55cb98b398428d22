"""What oracles do in the shop's dashboard again and again, and draws from the world that several templates share.

open_list      a page of the dashboard from its menu          find_order, find_customer, edit_product    by the list's search
choose         an option of a Select2 box: open it, click the option
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from random import Random

from harness.benchmarks.arena.hands import Hands, Steps
from harness.benchmarks.arena.shop_moves import world
from harness.sites.worlds.shop import NOW, Customer, Order

ORDERS = ("Fulfilment", "Orders")
STATISTICS = ("Fulfilment", "Statistics")
PRODUCTS = ("Catalogue", "Products")
CATEGORIES = ("Catalogue", "Categories")
CUSTOMERS = ("Customers", "Customers")
VOUCHERS = ("Offers", "Vouchers")
REVIEWS = ("Content", "Reviews")


def open_list(o: Hands, menu: tuple[str, str]) -> Steps:
    """Open a page of the dashboard from its menu."""
    yield from o.click("button", menu[0], within="navigation")
    yield from o.click("link", menu[1], within="navigation")


def choose(o: Hands, name: str | re.Pattern[str], option: str | re.Pattern[str], *, nth: int = 0) -> Steps:
    """Choose in a Select2 box, which is no drop-down list of the browser's."""
    yield from o.click("combobox", name, nth=nth)
    yield from o.click("option", option)


def find_order(o: Hands, number: str) -> Steps:
    """Open an order: by its number (a single match opens by itself) or from the list, if it is on the first page."""
    yield from open_list(o, ORDERS)
    if o.has("link", number) and o.maybe(0.5):
        yield from o.click("link", number)
        return
    yield from o.search("textbox", "Order number:", number)
    if o.has("link", number, within="table"):
        yield from o.click("link", number, within="table")


def list_customer(o: Hands, name: str) -> Steps:
    """Search the list of customers for a name."""
    yield from open_list(o, CUSTOMERS)
    if o.maybe(0.5):
        yield from o.search("textbox", "Name:", name)
    else:
        yield from o.fill("textbox", "Name:", name)
        yield from o.click("button", "Search")


def edit_product(o: Hands, title: str) -> Steps:
    """Open a product's form."""
    yield from open_list(o, PRODUCTS)
    yield from o.search("textbox", "Product title:", title)
    yield from o.click("link", title, within="table")


def stock_form(o: Hands, title: str) -> Steps:
    """The section of a product's form with its stock and price."""
    yield from edit_product(o, title)
    yield from o.click("link", "Stock and pricing")


def orders_with(status: str) -> list[Order]:
    return [order for order in world().orders if order.status == status]


def orders_between(first: datetime, last: datetime) -> list[Order]:
    """Placed from the beginning of the first day to the end of the last, UTC."""
    end = last + timedelta(days=1)
    return [order for order in world().orders if first <= datetime.fromisoformat(order.placed) < end]


def period(rng: Random, days: int) -> tuple[datetime, datetime]:
    """First and last day of so many days in the last two years."""
    first = NOW.replace(hour=0) - timedelta(days=rng.randint(days, 700))
    return first, first + timedelta(days=days - 1)


def buyers(rng: Random) -> list[Customer]:
    """Customers with orders, shuffled."""
    found = [customer for customer in world().customers if world().orders_of(customer.email)]
    return rng.sample(found, len(found))


def spoken(day: datetime) -> str:
    """As goals say it: `2 March 2026`."""
    return f"{day.day} {day:%B %Y}"


def typed(day: str) -> str:
    """A spoken day as the dashboard's date boxes want it: `02/03/2026`."""
    return f"{datetime.strptime(day, '%d %B %Y'):%d/%m/%Y}"
