"""Tasks of the shop's staff who want to know something. See `harness.benchmarks.arena.api`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, answer, at_url, exact_answer, expect
from harness.benchmarks.arena.shop_desk import (
    CATEGORIES,
    STATISTICS,
    VOUCHERS,
    buyers,
    find_order,
    list_customer,
    open_list,
    orders_between,
    period,
    spoken,
    stock_form,
    typed,
)
from harness.benchmarks.arena.shop_moves import cells, shown, world
from harness.types import JsonDict


class OrderStatus(Template):
    id = "shop_admin-order-status"
    sites = ("shop_admin",)
    kind = "information"
    phrasings = (
        "What is the status of order {number}?",
        "Look up order {number} and tell me its status.",
        "A customer asks about order {number}. Which status does it have?",
        "How far along is order {number}? Answer with its status.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        recent = world().orders[-60:]
        for order in rng.sample(recent, 12):
            wrong = rng.choice([item for item in recent if item.status != order.status])
            yield {"number": order.number, "status": order.status, "wrong": wrong.number}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["status"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "number": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_order(o, v["number"])
        header = next(e for e in o.page.role("columnheader") if o.page.text(e) == "Time of purchase")
        row = [e for e in o.page.elements[header.index :] if e.role == "cell"][:4]
        yield from o.stop(o.page.text(row[3]))


class CountOrders(Template):
    id = "shop_admin-orders-of-customer"
    sites = ("shop_admin",)
    kind = "information"
    phrasings = (
        "How many orders has {customer} placed? Answer with the number only.",
        "Give me the number of orders by the customer {customer}, as a plain number.",
        "Count the orders of {customer}. Reply with just the number.",
        "How often has {customer} ordered from us? Only the number, please.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        counts = {customer.full: len(world().orders_of(customer.email)) for customer in buyers(rng)}
        for name, count in counts.items():
            wrong = rng.choice([other for other, number in counts.items() if number != count])
            yield {"customer": name, "count": count, "wrong": wrong}

    def expected(self, v: Values) -> JsonDict:
        return expect(exact_answer(str(v["count"])))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "customer": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from list_customer(o, v["customer"])
        yield from o.stop(cells(o, v["customer"])[6])


class CustomerEmail(Template):
    id = "shop_admin-customer-email"
    sites = ("shop_admin",)
    kind = "information"
    phrasings = (
        "What is the e-mail address of the customer {customer}?",
        "Find {customer} among the customers and give me the e-mail address.",
        "I have to write to {customer}. Which e-mail address do we have?",
        "Look up the e-mail address under which {customer} is registered.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for customer, wrong in pairwise(rng.sample(world().customers, 14)):
            yield {"customer": customer.full, "email": customer.email, "wrong": wrong.full}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["email"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "customer": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from list_customer(o, v["customer"])
        yield from o.stop(cells(o, v["customer"])[1])


class LatestOrder(Template):
    id = "shop_admin-latest-order"
    sites = ("shop_admin",)
    kind = "information"
    phrasings = (
        "What is the number of the latest order by {customer}?",
        "Find the most recent order of {customer} and give me its number.",
        "{customer} is on the phone about the last order. Which order number is that?",
        "Which order did {customer} place last? Answer with the order number.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for customer, wrong in pairwise(buyers(rng)):
            orders = world().orders_of(customer.email)
            if len(orders) > 1:
                yield {"customer": customer.full, "number": orders[-1].number, "wrong": wrong.full}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["number"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "customer": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from list_customer(o, v["customer"])
        yield from o.click("link", "View", near=v["customer"])
        numbers = [o.page.text(e) for e in o.find("link") if o.page.text(e).isdecimal()]
        yield from o.stop(max(numbers))


class OrdersInPeriod(Template):
    id = "shop_admin-orders-in-period"
    sites = ("shop_admin",)
    kind = "information"
    phrasings = (
        "How many orders were placed from {first} to {last}? Answer with the number only.",
        "Use the order statistics: how many orders came in between {first} and {last}, both days included? Just the number.",
        "Give me the number of orders from {first} up to and including {last}, as a plain number.",
        "Count the orders of the days from {first} to {last}. Reply with the number alone.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        while True:
            first, last = period(rng, 31)
            wrong_last = last + timedelta(days=30)
            count, wrong = len(orders_between(first, last)), len(orders_between(first, wrong_last))
            if count and count != wrong:
                yield {
                    "first": spoken(first),
                    "last": spoken(last),
                    "count": count,
                    "wrong": spoken(wrong_last),
                }

    def expected(self, v: Values) -> JsonDict:
        return expect(exact_answer(str(v["count"])))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "last": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_list(o, STATISTICS)
        yield from o.fill("textbox", "From:", typed(v["first"]))
        yield from o.fill("textbox", "To:", typed(v["last"]))
        yield from o.click("button", "Filter result")
        yield from o.stop(cells(o, "Total orders")[1])


class RevenueInPeriod(Template):
    id = "shop_admin-revenue-in-period"
    sites = ("shop_admin",)
    kind = "information"
    phrasings = (
        "What total revenue do the order statistics show for {first} to {last}?",
        "How much revenue did we make from {first} to {last}, according to the order statistics?",
        "Find the total revenue of the orders placed between {first} and {last}, both days included.",
        "I need the revenue for the days from {first} through {last} from the statistics page.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        while True:
            (first, last), (_, other) = period(rng, 10), period(rng, 10)
            total = sum(order.total for order in orders_between(first, last))
            wrong = sum(order.total for order in orders_between(first, other))
            if 2_000 < total < 100_000 and other > first and wrong % 100_000 != total:
                yield {
                    "first": spoken(first),
                    "last": spoken(last),
                    "total": shown(total),
                    "wrong": spoken(other),
                }

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["total"].removeprefix("£")))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "last": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_list(o, STATISTICS)
        yield from o.fill("textbox", "From:", typed(v["first"]))
        yield from o.fill("textbox", "To:", typed(v["last"]))
        yield from o.click("button", "Filter result")
        yield from o.stop(cells(o, "Total revenue")[1])


class StockLevel(Template):
    id = "shop_admin-stock-level"
    sites = ("shop_admin",)
    kind = "information"
    phrasings = (
        "How many units of the {product} are in stock? Answer with the number only.",
        "Check the stock level of the {product} and reply with just the number.",
        "What does the dashboard give as the number in stock of the {product}? Only the number.",
        "How many of the {product} could we still sell? Give the stock as a plain number.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for product in rng.sample(world().products, 12):
            wrong = rng.choice([item for item in world().products if item.stock != product.stock])
            yield {"product": product.title, "count": product.stock, "wrong": wrong.title}

    def expected(self, v: Values) -> JsonDict:
        return expect(exact_answer(str(v["count"])))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from stock_form(o, v["product"])
        yield from o.stop(o.find("spinbutton")[0].value)


class VoucherCode(Template):
    id = "shop_admin-voucher-code"
    sites = ("shop_admin",)
    kind = "information"
    count = 5
    phrasings = (
        'What is the code of the voucher "{voucher}"?',
        'Which code do customers have to enter for the voucher "{voucher}"?',
        'Look up the voucher "{voucher}" and tell me its code.',
        'I need the code that belongs to our voucher "{voucher}".',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for right, wrong in pairwise(rng.sample(world().vouchers, 6)):
            yield {"voucher": right.name, "code": right.code, "wrong": wrong.name}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["code"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "voucher": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_list(o, VOUCHERS)
        if o.maybe(0.5):
            yield from o.search("textbox", "Name:", v["voucher"])
        yield from o.stop(cells(o, v["voucher"])[1])


class OpenOrder(Template):
    id = "shop_admin-open-order"
    sites = ("shop_admin",)
    kind = "navigation"
    phrasings = (
        "Open the dashboard page of order {number}.",
        "Show me order {number} in the dashboard.",
        "Take me to the details of order {number}.",
        "Go to order {number} and leave its page open.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for order, wrong in pairwise(rng.sample(world().orders, 12)):
            yield {"number": order.number, "wrong": wrong.number}

    def expected(self, v: Values) -> JsonDict:
        return expect(at_url(f"__SHOP__/dashboard/orders/{v['number']}/"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "number": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_order(o, v["number"])
        yield from o.stop("It is open.")


class SubCategories(Template):
    id = "shop_admin-sub-categories"
    sites = ("shop_admin",)
    kind = "information"
    phrasings = (
        "Name all categories directly below {section} in the catalogue ({department}).",
        "Which categories does {department} > {section} contain? List them all.",
        "List the child categories of {section}, which is part of {department}.",
        "What are the sub-categories of the category {section} in {department}?",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        paths = [category.path for category in world().categories]
        sections = rng.sample([path for path in paths if len(path) == 2], 12)
        for right, wrong in pairwise(sections):
            yield {
                "department": right[0],
                "section": right[1],
                "names": [path[2] for path in paths if len(path) == 3 and path[:2] == right],
                "wrong": list(wrong),
            }

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(*v["names"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "department": v["wrong"][0], "section": v["wrong"][1]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_list(o, CATEGORIES)
        for name in (v["department"], v["section"]):
            yield from o.click("link", None, near=name, within="row", nth=1)
        links = ([e for e in o.page.below(row) if e.role == "link"] for row in o.page.role("row"))
        yield from o.stop(", ".join(o.page.text(found[0]) for found in links if found and o.page.text(found[0]) != "Name"))


TEMPLATES = (
    OrderStatus(),
    CountOrders(),
    CustomerEmail(),
    LatestOrder(),
    OrdersInPeriod(),
    RevenueInPeriod(),
    StockLevel(),
    VoucherCode(),
    OpenOrder(),
    SubCategories(),
)
