"""The shop's world: large enough, the same every time, and without the ties that would make an answer ambiguous."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from datetime import datetime
from itertools import pairwise
from random import Random

import pytest

from harness.benchmarks.arena.shop_moves import slug
from harness.benchmarks.arena.templates import shop, shop_account, shop_admin, shop_admin_changes, shop_admin_people, shop_buying
from harness.sites.catalog import SHOPPER
from harness.sites.worlds import names
from harness.sites.worlds.shop import APPROVED, NOW, PENDING, build, pounds

WORLD = build()
TEMPLATES = [
    template
    for module in (shop, shop_account, shop_buying, shop_admin, shop_admin_changes, shop_admin_people)
    for template in module.TEMPLATES
]


def test_world_is_large_enough_to_need_search_and_pages() -> None:
    assert len(WORLD.products) >= 500
    assert len(WORLD.customers) >= 60
    assert len(WORLD.orders) >= 60
    assert len(WORLD.reviews) >= 1_200
    assert {len(category.path) for category in WORLD.categories} == {1, 2, 3}


def test_one_seed_makes_one_world() -> None:
    def as_text(seed: int) -> str:
        return json.dumps(dataclasses.asdict(build.__wrapped__(seed)))

    assert as_text(1) == as_text(1)
    assert as_text(1) != as_text(2)


def test_titles_and_addresses_of_products_are_unique() -> None:
    assert len({product.title for product in WORLD.products}) == len(WORLD.products)
    assert len({slug(product) for product in WORLD.products}) == len(WORLD.products)


def test_titles_are_shown_whole() -> None:
    """Listings cut a title after four words."""
    assert all(len(product.title.split()) <= 4 for product in WORLD.products)


def test_the_cheapest_of_a_section_is_one_product() -> None:
    for section in {product.category[:2] for product in WORLD.products}:
        prices = Counter(product.price for product in WORLD.on_shelf(section))
        assert max(prices.values()) == 1, section


def test_customers_have_different_surnames() -> None:
    assert len({customer.last for customer in WORLD.customers}) == len(WORLD.customers)
    assert WORLD.customer.email == SHOPPER.email


def test_orders_are_numbered_in_the_order_of_their_dates() -> None:
    for earlier, later in pairwise(WORLD.orders):
        assert int(earlier.number) + 1 == int(later.number)
        assert earlier.placed < later.placed
    assert datetime.fromisoformat(WORLD.orders[-1].placed) < NOW


def test_every_status_occurs() -> None:
    assert len({order.status for order in WORLD.orders}) == 5
    assert {review.status for review in WORLD.reviews} == {APPROVED, PENDING, "rejected"}
    assert any(not product.stock for product in WORLD.products)


def test_nobody_reviews_a_product_twice() -> None:
    assert len({(review.upc, review.email) for review in WORLD.reviews}) == len(WORLD.reviews)


@pytest.mark.parametrize(("pence", "text"), [(5, "0.05"), (1250, "12.50"), (123456, "1234.56")])
def test_pounds(pence: int, text: str) -> None:
    assert pounds(pence) == text


def test_more_people_than_surnames_are_refused() -> None:
    with pytest.raises(ValueError, match="surnames"):
        names.people(Random(1), 10_000)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.id)
def test_a_nearly_right_task_expects_something_else_or_asks_for_something_else(template: shop.Price) -> None:
    """One value is wrong, and it is one that the oracle reads: else `nearly` would do the right thing."""
    instances = template.instances(Random(template.id))
    for _ in range(template.count):
        values = next(instances)
        wrong = template.nearly(values)
        differing = {key for key in values if wrong[key] != values[key]}
        assert differing
        assert set(wrong) == set(values)
