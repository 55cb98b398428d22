"""Tasks of a customer who wants to know or to find something. See `harness.benchmarks.arena.api`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, answer, at_url, exact_answer, expect
from harness.benchmarks.arena.shop_moves import (
    account,
    browse,
    cells,
    find_product,
    first_product,
    in_stock,
    other,
    price_shown,
    shown,
    slug,
    sort_by,
    world,
)
from harness.sites.worlds.shop import Order, Product
from harness.types import JsonDict


class Price(Template):
    id = "shop-price"
    sites = ("shop",)
    kind = "information"
    phrasings = (
        "What does the {product} cost?",
        "Tell me the price of the {product}.",
        "How much would I pay for one {product}?",
        "Look up the price of the {product} in the shop.",
        "I am thinking of buying the {product}. What is its price?",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for product in rng.sample(world().products, 20):
            wrong = other(rng, world().products, product)
            yield {"product": product.title, "path": list(product.category), "price": shown(product.price), "wrong": wrong.title}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["price"].removeprefix("£")))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong"], "path": []}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_product(o, v["product"], v["path"])
        yield from o.stop(price_shown(o))


class Cheapest(Template):
    id = "shop-cheapest-in-category"
    sites = ("shop",)
    kind = "information"
    phrasings = (
        "Which product in the category {category} ({department}) is the cheapest?",
        "Find the cheapest thing under {department} > {category}. What is it called?",
        "Name the least expensive product of the {category} section in {department}.",
        "I want to spend as little as possible on something from {category} in {department}: which product is it?",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        sections = [category.path for category in world().categories if len(category.path) == 2]
        chosen = rng.sample(sections, 12)
        for path, wrong in pairwise(chosen):
            cheapest = min(world().on_shelf(path), key=lambda product: product.price)
            yield {"department": path[0], "category": path[1], "title": cheapest.title, "wrong": list(wrong)}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["title"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "department": v["wrong"][0], "category": v["wrong"][1]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from browse(o, (v["department"], v["category"]))
        yield from sort_by(o, "Price low to high")
        yield from o.stop(first_product(o))


class DearestOfSearch(Template):
    id = "shop-dearest-of-search"
    sites = ("shop",)
    kind = "information"
    phrasings = (
        "Search the shop for {word}. Which result is the most expensive?",
        "Of everything the shop's search finds for {word}, which product costs most?",
        "What is the dearest product that a search for {word} brings up?",
        "Look for {word} in the shop and tell me the name of the highest-priced match.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        words = ("Kettle", "Lantern", "Notebook", "Rucksack", "Teapot", "Turntable", "Puzzle", "Scarf", "Gloves", "Saucepan")
        found = {word: _titled(word) for word in words}
        for word, wrong in pairwise(rng.sample(words, len(words))):
            dearest = max(found[word], key=lambda product: product.price)
            yield {"word": word.lower(), "title": dearest.title, "wrong": wrong.lower()}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["title"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "word": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from o.search("textbox", "Search", v["word"])
        yield from sort_by(o, "Price high to low")
        yield from o.stop(first_product(o))


class ReviewsWithScore(Template):
    id = "shop-reviews-with-score"
    sites = ("shop",)
    kind = "information"
    phrasings = (
        "How many reviews give the {product} {score} out of 5 stars? Answer with a number only.",
        "Count the {score}-star reviews of the {product}. Reply with just the number.",
        "How many customers rated the {product} with exactly {score} stars? Give only the number.",
        "I need the number of reviews of the {product} whose score is {score}; answer with the number alone.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for product in rng.sample(world().products, len(world().products)):
            scores = [review.score for review in world().reviews_of(product.upc)]
            counts = {score: scores.count(score) for score in range(1, 6)}
            score, wrong = rng.sample(range(1, 6), 2)
            if len(scores) >= 5 and counts[score] and counts[wrong] != counts[score]:
                yield {
                    "product": product.title,
                    "path": list(product.category),
                    "score": score,
                    "count": counts[score],
                    "wrong": wrong,
                }

    def expected(self, v: Values) -> JsonDict:
        return expect(exact_answer(str(v["count"])))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "score": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_product(o, v["product"], v["path"])
        yield from o.click("link", re.compile(r"customer review"))
        rated = o.find("heading", re.compile(rf"^Rated {v['score']} out of 5"))
        yield from o.stop(str(len(rated)))


class Reviewer(Template):
    id = "shop-reviewer"
    sites = ("shop",)
    kind = "information"
    phrasings = (
        'Who wrote the review "{title}" of the {product}?',
        'The {product} has a review with the title "{title}". What is its author\'s name?',
        'Find the customer who reviewed the {product} under the heading "{title}".',
        'Tell me the name of the person behind the review "{title}" on the page of the {product}.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        names = {customer.email: customer.full for customer in world().customers}
        for product in rng.sample(world().products, len(world().products)):
            reviews = world().reviews_of(product.upc)
            titles = [review.title for review in reviews]
            single = [review for review in reviews if titles.count(review.title) == 1]
            if len(single) >= 2:
                right, wrong = rng.sample(single, 2)
                yield {
                    "product": product.title,
                    "path": list(product.category),
                    "title": right.title,
                    "author": names[right.email],
                    "wrong": wrong.title,
                }

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["author"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "title": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_product(o, v["product"], v["path"])
        yield from o.click("link", re.compile(r"customer review"))
        link = o.find("link", v["title"])[0]
        article = next(e for e in reversed(o.page.elements[: link.index]) if e.role == "article")
        below = [e.name for e in o.page.below(article) if e.role == "StaticText"]
        yield from o.stop(below[below.index("Reviewed by") + 1])


class Attribute(Template):
    id = "shop-attribute"
    sites = ("shop",)
    kind = "information"
    phrasings = (
        "What does the product page of the {product} give as its {attribute}?",
        "Look up the {attribute} of the {product}.",
        "I need to know the {attribute} of the {product}.",
        "Check the product information of the {product}: what is the {attribute}?",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for product in rng.sample(world().products, 40):
            attribute = rng.choice(("material", "colour", "weight"))
            value = _attribute(product, attribute)
            wrong = rng.choice([item for item in world().products if value not in _attribute(item, attribute)])
            yield {
                "product": product.title,
                "path": list(product.category),
                "attribute": attribute,
                "value": value,
                "wrong": wrong.title,
            }

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["value"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong"], "path": []}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_product(o, v["product"], v["path"])
        if o.maybe(0.5):
            yield from o.scroll()
        header = o.find("rowheader", re.compile(rf"^{v['attribute']}", re.IGNORECASE))[0]
        cell = next(e for e in o.page.elements[header.index :] if e.role == "cell")
        yield from o.stop(o.page.text(cell))


class Cheaper(Template):
    id = "shop-cheaper-of-two"
    sites = ("shop",)
    kind = "information"
    phrasings = (
        "Which is cheaper, the {first} or the {second}? Answer with the name of the product.",
        "Compare the prices of the {first} and the {second} and name the cheaper one.",
        "Between the {first} and the {second}, which one costs less?",
        "I can only afford the cheaper of these two: {first}, {second}. Which is it?",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for _ in range(12):
            low, high, higher = sorted(rng.sample(world().products, 3), key=lambda product: product.price)
            pair = [low.title, high.title]
            rng.shuffle(pair)
            yield {"first": pair[0], "second": pair[1], "title": low.title, "wrong": higher.title}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["title"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "first" if v["first"] == v["title"] else "second": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        prices = {}
        for title in (v["first"], v["second"]):
            yield from find_product(o, title)
            prices[title] = float(price_shown(o).removeprefix("£").replace(",", ""))
        yield from o.stop(f"The {min(prices, key=lambda title: prices[title])}.")


class OrderTotal(Template):
    id = "shop-order-total"
    sites = ("shop",)
    kind = "information"
    phrasings = (
        "What was the total of my order {number}?",
        "How much did I pay for order {number}?",
        "Look in my order history: what did order {number} come to?",
        "Tell me the order total of my order no. {number}.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        orders = [order for order in _own_orders() if order.total < 100_000]
        for order in rng.sample(orders, min(len(orders), 9)):
            wrong = rng.choice([item for item in orders if item.total != order.total])
            yield {"number": order.number, "total": shown(order.total), "wrong": wrong.number}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["total"].removeprefix("£")))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "number": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from account(o, "Order History")
        if o.maybe(0.5):
            yield from o.click("link", v["number"])
            yield from o.stop(cells(o, "Order total")[-1])
        else:
            yield from o.stop(cells(o, v["number"])[2])


class OrderWithProduct(Template):
    id = "shop-order-with-product"
    sites = ("shop",)
    kind = "information"
    phrasings = (
        "In which order did I buy the {product}? Give the order number.",
        "I once ordered a {product}. What is the number of that order?",
        "Find the number of my order that contains the {product}.",
        "Which of my orders has the {product} in it? Tell me its number.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        bought = [(line.upc, order.number) for order in _own_orders() for line in order.lines]
        upcs = [upc for upc, _ in bought]
        single = [(upc, number) for upc, number in bought if upcs.count(upc) == 1]
        for upc, number in rng.sample(single, len(single)):
            wrong = rng.choice([item for item, place in single if place != number])
            yield {"product": world().product(upc).title, "number": number, "wrong": world().product(wrong).title}

    def expected(self, v: Values) -> JsonDict:
        return expect(answer(v["number"]))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from account(o, "Order History")
        numbers = [o.page.text(link) for link in o.find("link", re.compile(r"^1\d{5}$"))]
        for number in numbers:
            yield from o.click("link", number)
            if o.has("link", v["product"]):
                yield from o.stop(number)
                return
            yield from o.back()


class OpenProduct(Template):
    id = "shop-open-product"
    sites = ("shop",)
    kind = "navigation"
    phrasings = (
        "Open the page of the {product}.",
        "Take me to the {product}.",
        "Show me the product page of the {product}.",
        "Go to the {product} and leave its page open.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        products = in_stock(rng, 20)
        for product, wrong in zip(products[:10], products[10:], strict=True):
            yield {"product": product.title, "path": list(product.category), "slug": slug(product), "wrong": wrong.title}

    def expected(self, v: Values) -> JsonDict:
        return expect(at_url(f"__SHOP__/catalogue/{v['slug']}/"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong"], "path": []}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_product(o, v["product"], v["path"])
        yield from o.stop("It is open.")


def _titled(word: str) -> list[Product]:
    """What a search for the word finds: singular or plural, in titles and descriptions."""
    found = re.compile(rf"\b{word.rstrip('s')}s?\b", re.IGNORECASE)
    return [product for product in world().products if found.search(f"{product.title} {product.description}")]


def _attribute(product: Product, attribute: str) -> str:
    return {"material": product.material, "colour": product.colour, "weight": str(product.weight_g)}[attribute]


def _own_orders() -> tuple[Order, ...]:
    return world().orders_of(world().customer.email)


TEMPLATES = (
    Price(),
    Cheapest(),
    DearestOfSearch(),
    ReviewsWithScore(),
    Reviewer(),
    Attribute(),
    Cheaper(),
    OrderTotal(),
    OrderWithProduct(),
    OpenProduct(),
)
