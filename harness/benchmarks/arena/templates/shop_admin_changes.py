"""Tasks of the shop's staff who change orders and the catalogue. See `harness.benchmarks.arena.api`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, changes, expect, impossible, rows
from harness.benchmarks.arena.shop_desk import (
    CATEGORIES,
    PRODUCTS,
    choose,
    edit_product,
    find_order,
    open_list,
    orders_with,
    stock_form,
)
from harness.benchmarks.arena.shop_moves import world
from harness.sites.worlds import names
from harness.sites.worlds.shop import pounds
from harness.types import JsonDict

ORDER_STATUS = "SELECT number, status FROM order_order WHERE number = ?"
STOCK = """
    SELECT CAST(s.price * 100 + 0.5 AS INTEGER), s.num_in_stock, s.low_stock_threshold FROM partner_stockrecord s
    JOIN catalogue_product p ON p.id = s.product_id WHERE p.upc = ?
"""
SAVED_PRODUCT = ("catalogue_product ~1", "partner_stockrecord ~1", "partner_stockalert", "catalogue_productattributevalue")
SAVED_TITLE = ("catalogue_product ~1", "partner_stockrecord", "partner_stockalert", "catalogue_productattributevalue")
"""What saving a product's form writes beside what was changed: dates, the description as the editor keeps it, alerts."""


class SetOrderStatus(Template):
    id = "shop_admin-set-order-status"
    sites = ("shop_admin",)
    kind = "configuration"
    phrasings = (
        'Set the status of order {number} to "{status}".',
        'Order {number} is "{status}" now. Update it.',
        'Change order {number} to the status "{status}".',
        'Please mark order {number} as "{status}".',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        following = {"Pending": ("Being processed", "Cancelled"), "Being processed": ("Shipped", "Cancelled")}
        orders = orders_with("Pending") + orders_with("Being processed")
        for order in rng.sample(orders, len(orders)):
            status, wrong = rng.sample(following[order.status], 2)
            yield {"number": order.number, "status": status, "wrong": wrong}

    def expected(self, v: Values) -> JsonDict:
        return expect(
            rows("shop_admin", ORDER_STATUS, [v["number"]], [[v["number"], v["status"]]]),
            changes("shop_admin", "order_order ~1", "order_orderstatuschange +1", "order_ordernote"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "status": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_order(o, v["number"])
        yield from choose(o, re.compile(r"^(Being processed|Shipped|Cancelled)$"), v["status"])
        yield from o.click("button", "Change status")
        yield from o.stop()


class CancelComplete(Template):
    id = "shop_admin-cancel-complete-order"
    sites = ("shop_admin",)
    kind = "configuration"
    unachievable = True
    phrasings = (
        "Set the status of order {number} to Cancelled.",
        "Cancel order {number} in the dashboard.",
        "The customer changed their mind: mark order {number} as Cancelled.",
        "Order {number} must get the status Cancelled.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        still_open = orders_with("Pending") + orders_with("Being processed")
        for order in rng.sample(orders_with("Complete"), 10):
            yield {"number": order.number, "wrong": rng.choice(still_open).number}

    def expected(self, v: Values) -> JsonDict:
        return expect(impossible(), rows("shop_admin", ORDER_STATUS, [v["number"]], [[v["number"], "Complete"]]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "number": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_order(o, v["number"])
        if not o.has("button", "Change status"):
            yield from o.give_up(f"Order {v['number']} is complete and can no longer change its status.")
            return
        yield from choose(o, re.compile(r"^(Being processed|Shipped|Cancelled)$"), "Cancelled")
        yield from o.click("button", "Change status")
        yield from o.stop()


class OrderNote(Template):
    id = "shop_admin-order-note"
    sites = ("shop_admin",)
    kind = "content"
    phrasings = (
        'Add the note "{note}" to order {number}.',
        'Leave a note on order {number} that says "{note}"',
        'Order {number} needs a note: "{note}"',
        'Write "{note}" into the notes of order {number}.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        notes = (
            "Customer asked for gift wrapping.",
            "Leave the parcel with the neighbour.",
            "Call before delivery.",
            "Invoice was sent again.",
            "Replacement promised by Friday.",
        )
        for order, wrong in pairwise(rng.sample(world().orders, 12)):
            yield {"number": order.number, "note": rng.choice(notes), "wrong": wrong.number}

    def expected(self, v: Values) -> JsonDict:
        note = "SELECT o.number, n.message FROM order_ordernote n JOIN order_order o ON o.id = n.order_id"
        return expect(
            rows("shop_admin", note, [], [[v["number"], v["note"]]]),
            changes("shop_admin", "order_ordernote +1"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "number": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_order(o, v["number"])
        yield from o.click("link", "Notes")
        yield from o.fill("textbox", "Message *", v["note"])
        yield from o.click("button", "Save note")
        yield from o.stop()


class SetPrice(Template):
    id = "shop_admin-set-price"
    sites = ("shop_admin",)
    kind = "configuration"
    phrasings = (
        "Change the price of the {product} to £{price}.",
        "The {product} should cost {price} pounds from now on.",
        "Set the price of the {product} to {price} GBP.",
        "Reprice the {product}: the new price is £{price}.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for product in rng.sample(world().products, 12):
            price = product.price + rng.choice((-100, 150, 200, 325))
            yield {
                "product": product.title,
                "upc": product.upc,
                "stock": product.stock,
                "price": pounds(price),
                "pence": price,
                "wrong": pounds(price + 10),
            }

    def expected(self, v: Values) -> JsonDict:
        return expect(rows("shop_admin", STOCK, [v["upc"]], [[v["pence"], v["stock"], 3]]), changes("shop_admin", *SAVED_PRODUCT))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "price": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from stock_form(o, v["product"])
        yield from o.fill("spinbutton", None, v["price"], nth=2)
        yield from o.click("button", "Save")
        yield from o.stop()


class SetStock(Template):
    id = "shop_admin-set-stock"
    sites = ("shop_admin",)
    kind = "configuration"
    phrasings = (
        "We counted {count} pieces of the {product}. Correct the number in stock.",
        "Set the stock of the {product} to {count}.",
        "There are {count} of the {product} in the warehouse: update the number in stock.",
        "Change the number in stock of the {product} to {count}.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for product in rng.sample(world().products, 12):
            count = product.stock + rng.randint(4, 30)
            yield {
                "product": product.title,
                "upc": product.upc,
                "price": product.price,
                "count": count,
                "wrong": count + 1,
            }

    def expected(self, v: Values) -> JsonDict:
        return expect(rows("shop_admin", STOCK, [v["upc"]], [[v["price"], v["count"], 3]]), changes("shop_admin", *SAVED_PRODUCT))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "count": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from stock_form(o, v["product"])
        yield from o.fill("spinbutton", None, str(v["count"]), nth=0)
        yield from o.click("button", "Save")
        yield from o.stop()


class RenameProduct(Template):
    id = "shop_admin-rename-product"
    sites = ("shop_admin",)
    kind = "configuration"
    phrasings = (
        'Rename the {product} to "{title}".',
        'The {product} gets a new title: "{title}". Change it.',
        'Change the title of the {product} to "{title}".',
        'From now on the {product} is sold as "{title}". Update its title.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for product in rng.sample(world().products, 12):
            brand, _, noun = product.title.split(" ", 2)
            word, wrong = rng.sample([item for item in names.ADJECTIVES if item not in product.title], 2)
            yield {
                "product": product.title,
                "upc": product.upc,
                "title": f"{brand} {word} {noun}",
                "wrong": f"{brand} {wrong} {noun}",
            }

    def expected(self, v: Values) -> JsonDict:
        title = "SELECT title FROM catalogue_product WHERE upc = ?"
        return expect(rows("shop_admin", title, [v["upc"]], [[v["title"]]]), changes("shop_admin", *SAVED_TITLE))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "title": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from edit_product(o, v["product"])
        yield from o.fill("textbox", "Title", v["title"])
        yield from o.click("button", "Save")
        yield from o.stop()


class CreateProduct(Template):
    id = "shop_admin-create-product"
    sites = ("shop_admin",)
    kind = "content"
    phrasings = (
        'Create a product of the type "{type}" in the category "{category}": title "{title}", UPC {upc}. No stock record yet.',
        'Add "{title}" (UPC {upc}) to the catalogue as a new "{type}" product in the category "{category}".',
        'We have a new article, "{title}", UPC {upc}. Enter it under the type "{type}" and the category "{category}".',
        'Enter a new "{type}" product: UPC {upc}, title "{title}", category "{category}". Stock and price come later.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        shelves = [category.path for category in world().categories if len(category.path) == 3]
        for number in rng.sample(range(20_000, 30_000), 12):
            path = rng.choice(shelves)
            noun = rng.choice(("Gift Box", "Sample Set", "Starter Kit"))
            yield {
                "type": f"{path[0]} goods",
                "category": " > ".join(path),
                "title": f"{rng.choice(names.BRANDS)} {rng.choice(names.ADJECTIVES)} {noun}",
                "upc": f"SKU-{number}",
                "wrong": f"SKU-{number + 7}",
            }

    def expected(self, v: Values) -> JsonDict:
        product = """
            SELECT p.title, c.name, p.is_public, g.name FROM catalogue_product p
            JOIN catalogue_productclass c ON c.id = p.product_class_id
            JOIN catalogue_productcategory j ON j.product_id = p.id
            JOIN catalogue_category g ON g.id = j.category_id WHERE p.upc = ?
        """
        return expect(
            rows("shop_admin", product, [v["upc"]], [[v["title"], v["type"], 1, v["category"].split(" > ")[-1]]]),
            changes("shop_admin", "catalogue_product +1", "catalogue_productcategory +1", "catalogue_productattributevalue"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "upc": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_list(o, PRODUCTS)
        yield from choose(o, "-- Choose type --", v["type"])
        yield from o.click("button", "New Product")
        yield from o.fill("textbox", "Title", v["title"])
        yield from o.fill("textbox", "UPC", v["upc"])
        yield from o.click("link", "Categories", within="form")
        yield from choose(o, "---------", v["category"])
        yield from o.click("button", "Save")
        yield from o.stop()


class CreateCategory(Template):
    id = "shop_admin-create-category"
    sites = ("shop_admin",)
    kind = "content"
    phrasings = (
        'Create a new top-level category called "{name}".',
        'Add the category "{name}" to the catalogue, at the top level.',
        'The catalogue needs another department: "{name}". Create it as a root category.',
        'Make a category with the name "{name}" that has no parent.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        words = ("Sale", "Gifts", "Pets", "Travel", "Music", "Sport", "Craft", "Bath", "Sewing", "Seasonal", "Clearance")
        for right, wrong in pairwise(rng.sample(words, 11)):
            yield {"name": right, "wrong": wrong}

    def expected(self, v: Values) -> JsonDict:
        category = "SELECT depth, is_public, count(*) FROM catalogue_category WHERE name = ?"
        return expect(
            rows("shop_admin", category, [v["name"]], [[1, 1, 1]]),
            rows("shop_admin", "SELECT count(*) FROM catalogue_category", [], [[len(world().categories) + 1]]),
            changes("shop_admin", "catalogue_category"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "name": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_list(o, CATEGORIES)
        yield from o.click("link", "Create new category")
        yield from o.fill("textbox", "Name *", v["name"])
        yield from o.click("button", "Save")
        yield from o.stop()


TEMPLATES = (
    SetOrderStatus(),
    CancelComplete(),
    OrderNote(),
    SetPrice(),
    SetStock(),
    RenameProduct(),
    CreateProduct(),
    CreateCategory(),
)
