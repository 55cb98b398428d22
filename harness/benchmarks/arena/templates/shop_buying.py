"""Tasks of a customer who changes something: basket, orders, wish lists. See `harness.benchmarks.arena.api`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, changes, expect, impossible, rows
from harness.benchmarks.arena.shop_moves import (
    CUSTOMER,
    account,
    click_after,
    find_product,
    in_stock,
    put_in_basket,
    world,
)
from harness.sites.worlds.shop import NOW
from harness.types import JsonDict

BASKET = f"""
    SELECT p.upc, l.quantity FROM basket_line l
    JOIN basket_basket b ON b.id = l.basket_id JOIN catalogue_product p ON p.id = l.product_id
    WHERE b.owner_id = ({CUSTOMER}) AND b.status = 'Open' ORDER BY p.upc
"""


class AddToBasket(Template):
    id = "shop-add-to-basket"
    sites = ("shop",)
    kind = "content"
    phrasings = (
        "Put {quantity} of the {product} into my basket.",
        "Add {quantity} × {product} to the basket. Do not check out.",
        "I want {quantity} of the {product}: please have them in my basket, and nothing else.",
        "Fill my basket with {quantity} pieces of the {product}.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for product in in_stock(rng, 12, at_least=8):
            quantity = rng.randint(2, 6)
            yield {"product": product.title, "path": list(product.category), "upc": product.upc, "quantity": quantity}

    def expected(self, v: Values) -> JsonDict:
        return expect(rows("shop", BASKET, [], [[v["upc"], v["quantity"]]]), changes("shop", "basket_line +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "quantity": v["quantity"] + 1}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from put_in_basket(o, v["product"], v["path"], v["quantity"])
        yield from o.stop()


class OutOfStock(Template):
    id = "shop-buy-out-of-stock"
    sites = ("shop",)
    kind = "content"
    unachievable = True
    phrasings = (
        "Put one {product} into my basket.",
        "I would like a {product}. Please add it to the basket.",
        "Add the {product} to my basket.",
        "Get me one {product}: into the basket with it.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        gone = [product for product in world().products if not product.stock]
        for product, wrong in zip(rng.sample(gone, 10), in_stock(rng, 10), strict=True):
            yield {"product": product.title, "path": list(product.category), "wrong": wrong.title}

    def expected(self, v: Values) -> JsonDict:
        return expect(impossible(), rows("shop", BASKET, [], []))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong"], "path": []}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_product(o, v["product"], v["path"])
        if o.line(r"^Unavailable") and not o.has("button", "Add to basket", within="article"):
            yield from o.give_up(f"The {v['product']} is not available.")
            return
        yield from o.click("button", "Add to basket", within="article")
        yield from o.stop()


class UseVoucher(Template):
    id = "shop-use-voucher"
    sites = ("shop",)
    kind = "content"
    phrasings = (
        "Put one {product} into my basket and use the voucher code {code}.",
        "Add the {product} to the basket and redeem {code} there.",
        "I have a voucher, {code}. Apply it to a basket with one {product} in it.",
        "Prepare a basket with one {product}, then enter my promo code {code}. Do not order yet.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        valid = [v.code for v in world().vouchers if v.start <= NOW.isoformat() <= v.end]
        for product in in_stock(rng, 12):
            code, wrong = rng.sample(valid, 2)
            yield {
                "product": product.title,
                "path": list(product.category),
                "upc": product.upc,
                "code": code,
                "wrong": wrong,
            }

    def expected(self, v: Values) -> JsonDict:
        code = "SELECT v.code FROM basket_basket_vouchers j JOIN voucher_voucher v ON v.id = j.voucher_id"
        return expect(
            rows("shop", BASKET, [], [[v["upc"], 1]]),
            rows("shop", code, [], [[v["code"]]]),
            changes("shop", "basket_line +1", "basket_basket_vouchers +1", "voucher_voucher ~1"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "code": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from put_in_basket(o, v["product"], v["path"], 1)
        yield from o.click("link", "I have a voucher code...")
        yield from o.fill("textbox", "Code *", v["code"])
        yield from o.click("button", "Add voucher")
        yield from o.stop()


class Checkout(Template):
    id = "shop-checkout"
    sites = ("shop",)
    kind = "content"
    count = 8
    phrasings = (
        "Order {quantity} of the {product} and have the order sent to my address in {town}.",
        "Buy {quantity} × {product}. Deliver to {town} (the address is in my address book).",
        "Place an order for {quantity} pieces of the {product}, shipped to my {town} address.",
        "Please check out {quantity} of the {product}; ship them to me in {town}.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        towns = [address.town for address in world().customer.addresses]
        for product in in_stock(rng, 14, at_least=5):
            town, wrong = rng.sample(towns, 2)
            yield {
                "product": product.title,
                "path": list(product.category),
                "upc": product.upc,
                "quantity": rng.randint(1, 3),
                "town": town,
                "wrong": wrong,
            }

    def expected(self, v: Values) -> JsonDict:
        order = f"""
            SELECT l.upc, l.quantity, a.line4, o.status FROM order_order o
            JOIN order_line l ON l.order_id = o.id JOIN order_shippingaddress a ON a.id = o.shipping_address_id
            WHERE o.user_id = ({CUSTOMER}) AND o.number > '{world().orders[-1].number}'
        """
        return expect(
            rows("shop", order, [], [[v["upc"], v["quantity"], v["town"], "Pending"]]),
            changes(
                "shop",
                "order_order +1",
                "order_line +1",
                "order_lineprice +1",
                "order_shippingaddress +1",
                "basket_*",
                "partner_stockrecord ~1",
                "address_useraddress ~1",
                "partner_stockalert",
                "communication_*",
                "customer_*",
            ),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "town": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from put_in_basket(o, v["product"], v["path"], v["quantity"])
        yield from o.click("link", "Proceed to checkout")
        yield from click_after(o, v["town"], "button", re.compile(r"^Ship to"))
        yield from o.click("link", "Continue")
        yield from o.click("button", "Place order")
        yield from o.stop()


class WishAdd(Template):
    id = "shop-wish-add"
    sites = ("shop",)
    kind = "content"
    phrasings = (
        'Add the {product} to my wish list "{list}".',
        'Put the {product} on the list "{list}".',
        'I might want the {product} some day. Note it on my wish list "{list}".',
        'My wish list "{list}" should also have the {product} on it.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        lists = [wish_list.name for wish_list in world().wish_lists]
        listed = {upc for wish_list in world().wish_lists for upc in wish_list.upcs}
        for product in in_stock(rng, 20):
            if product.upc not in listed:
                name, wrong = rng.sample(lists, 2)
                yield {
                    "product": product.title,
                    "path": list(product.category),
                    "upc": product.upc,
                    "list": name,
                    "wrong": wrong,
                }

    def expected(self, v: Values) -> JsonDict:
        line = """
            SELECT w.name, l.quantity FROM wishlists_line l JOIN wishlists_wishlist w ON w.id = l.wishlist_id
            JOIN catalogue_product p ON p.id = l.product_id WHERE p.upc = ?
        """
        return expect(rows("shop", line, [v["upc"]], [[v["list"], 1]]), changes("shop", "wishlists_line +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "list": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_product(o, v["product"], v["path"])
        yield from o.click("link", "Add to wish list")
        yield from o.click("link", f"Add to '{v['list']}' wish list")
        yield from o.stop()


class WishRemove(Template):
    id = "shop-wish-remove"
    sites = ("shop",)
    kind = "content"
    phrasings = (
        'Take the {product} off my wish list "{list}".',
        'I no longer want the {product}: remove it from the wish list "{list}".',
        'Remove the {product} from "{list}", one of my wish lists.',
        'Somebody gave me the {product}, so it can go from my list "{list}".',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        listed = [(wish_list, upc) for wish_list in world().wish_lists for upc in wish_list.upcs]
        for wish_list, upc in rng.sample(listed, len(listed)):
            wrong = rng.choice([item for item in wish_list.upcs if item != upc])
            yield {
                "product": world().product(upc).title,
                "upc": upc,
                "list": wish_list.name,
                "wrong": world().product(wrong).title,
            }

    def expected(self, v: Values) -> JsonDict:
        line = "SELECT count(*) FROM wishlists_line l JOIN catalogue_product p ON p.id = l.product_id WHERE p.upc = ?"
        return expect(rows("shop", line, [v["upc"]], [[0]]), changes("shop", "wishlists_line -1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from account(o, "Wish Lists")
        yield from o.click("link", v["list"])
        yield from o.click("button", "", near=v["product"], within="row")
        yield from o.click("link", "Remove")
        yield from o.click("button", "Remove")
        yield from o.stop()


TEMPLATES = (
    AddToBasket(),
    OutOfStock(),
    UseVoucher(),
    Checkout(),
    WishAdd(),
    WishRemove(),
)
