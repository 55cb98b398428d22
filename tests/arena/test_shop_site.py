"""The shop as it is served: what its pages list is what the world says, and nothing of a request outlives it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from random import Random

import httpx
import pytest

from harness.benchmarks.arena.templates.shop import Cheapest, DearestOfSearch
from harness.sites.catalog import SHOP_MANAGER, SHOPPER
from harness.sites.definition import Account
from harness.sites.instances import reset
from harness.sites.records import InstanceSet
from harness.sites.worlds.shop import build, pounds

pytestmark = pytest.mark.sites

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
SECRET = re.compile(r"\b[A-Za-z0-9]{64}\b")
"""The token of a form: nothing else differs between two visits."""
OUTSIDE = re.compile(r"<(?:script|img|link)\b[^>]*(?:src|href)=.https?://")
TITLE = re.compile(r'<h3[^>]*>\s*<a href="[^"]*"[^>]*title="([^"]*)"')
PAGES = (
    "/catalogue/",
    "/search/?q=kettle",
    "/basket/",
    "/accounts/profile/",
    "/accounts/orders/",
    "/accounts/addresses/",
    "/accounts/wishlists/",
)
DASHBOARD = (
    "", "catalogue/", "catalogue/products/6/", "catalogue/categories/", "orders/", "orders/100170/", "orders/statistics/",
    "users/", "reviews/", "vouchers/", "vouchers/create/", "offers/", "reports/", "ranges/", "partners/",
)  # fmt: skip


@pytest.fixture
def client(instance_set: InstanceSet) -> Iterator[httpx.Client]:
    """On a shop in its first state."""
    reset(instance_set, ["shop"])
    running = instance_set.app("shop")
    headers = {"Host": f"{running.app.hostname}:{running.port}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{running.port}", headers=headers, timeout=60) as found:
        yield found


def sign_in(client: httpx.Client, account: Account) -> None:
    client.cookies.clear()
    token = TOKEN.search(client.get("/accounts/login/").text)
    assert token is not None
    fields = {"login-username": account.username, "login-password": account.password, "login_submit": "Log In"}
    answer = client.post("/accounts/login/", data={"csrfmiddlewaretoken": token[1], **fields})
    assert answer.status_code == 302, "the log-in form came back"
    client.get("/catalogue/")  # the first page says welcome


def titles(client: httpx.Client, path: str) -> list[str]:
    return [html.unescape(title) for title in TITLE.findall(client.get(path, follow_redirects=True).text)]


def test_a_search_lists_what_the_world_says(client: httpx.Client) -> None:
    values = next(DearestOfSearch().instances(Random(1)))
    assert titles(client, f"/search/?q={values['word']}&sort_by=price-desc")[0] == values["title"]


def test_the_cheapest_product_of_every_drawn_section_comes_first(client: httpx.Client) -> None:
    home = client.get("/catalogue/").text
    for values in Cheapest().instances(Random(1)):
        name = f"{values['department']}/{values['category']}".lower().replace(" ", "-")
        link = re.search(rf'href="(/catalogue/category/{name}_\d+/)"', home)
        assert link is not None
        assert titles(client, f"{link[1]}?sort_by=price-asc")[0] == values["title"]


@pytest.mark.parametrize("account", [SHOPPER, SHOP_MANAGER], ids=lambda account: account.name)
def test_every_page_is_whole_and_the_same_twice(client: httpx.Client, account: Account) -> None:
    sign_in(client, account)
    paths = PAGES if account is SHOPPER else tuple(f"/dashboard/{path}" for path in DASHBOARD)
    for path in paths:
        first, second = client.get(path), client.get(path)
        assert first.status_code == 200, path
        assert SECRET.sub("", first.text) == SECRET.sub("", second.text), path
        assert not OUTSIDE.search(first.text), path


def test_a_reset_empties_the_basket_while_the_shop_runs(client: httpx.Client, instance_set: InstanceSet) -> None:
    product = next(product for product in build().products if product.stock)
    sign_in(client, SHOPPER)
    page = client.get(f"/search/?q={product.title}", follow_redirects=True).text
    action = re.search(r'action="(/basket/add/\d+/)"', page)
    token = TOKEN.search(page)
    assert action is not None and token is not None
    client.post(action[1], data={"csrfmiddlewaretoken": token[1], "quantity": "1"}, headers={"Referer": str(client.base_url)})
    assert pounds(product.price) in client.get("/basket/").text
    reset(instance_set, ["shop"])
    sign_in(client, SHOPPER)
    assert "Your basket is empty" in client.get("/basket/").text
