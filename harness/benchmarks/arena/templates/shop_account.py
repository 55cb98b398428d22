"""Tasks of a customer about the own account and opinions. See `harness.benchmarks.arena.api`."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, changes, expect, rows
from harness.benchmarks.arena.shop_moves import CUSTOMER, account, find_product, world
from harness.sites.worlds import names
from harness.types import JsonDict


class WriteReview(Template):
    id = "shop-write-review"
    sites = ("shop",)
    kind = "content"
    phrasings = (
        'Review the {product}: {score} out of 5 stars, title "{title}", text "{body}"',
        'Write a review of the {product} with the title "{title}" and the text "{body}". I give it {score} of 5 stars.',
        'Leave a {score}-star review for the {product}, headed "{title}", that says "{body}"',
        'Please post my opinion of the {product}. Score: {score} of 5. Title: "{title}". Text: "{body}"',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        openings = ("Good for the price", "Better than my old one", "Not quite what I wanted", "A sound choice", "Mixed feelings")
        bodies = (
            "I have used it for two weeks and would choose it again.",
            "It feels solid, but the packaging was far too big.",
            "The colour fits the room and it is easy to clean.",
            "It took me a while to get used to it.",
        )
        for product in rng.sample(world().products, 12):
            score, wrong = rng.sample(range(1, 6), 2)
            yield {
                "product": product.title,
                "path": list(product.category),
                "upc": product.upc,
                "score": score,
                "title": rng.choice(openings),
                "body": rng.choice(bodies),
                "wrong": wrong,
            }

    def expected(self, v: Values) -> JsonDict:
        review = f"""
            SELECT p.upc, r.score, r.title, trim(r.body) FROM reviews_productreview r
            JOIN catalogue_product p ON p.id = r.product_id WHERE r.user_id = ({CUSTOMER})
        """
        return expect(
            rows("shop", review, [], [[v["upc"], v["score"], v["title"], v["body"]]]),
            changes("shop", "reviews_productreview +1"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "score": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from find_product(o, v["product"], v["path"])
        yield from o.click("link", "Write a review")
        yield from o.fill("textbox", "Title *", v["title"])
        yield from o.click("button", f"{v['score']} out of 5 stars")
        yield from o.fill("textbox", "Body *", v["body"])
        yield from o.click("button", "Save review")
        yield from o.stop()


class ChangeName(Template):
    id = "shop-change-name"
    sites = ("shop",)
    kind = "configuration"
    phrasings = (
        "Change the last name in my profile to {last}.",
        "I married: my surname is {last} now. Update my profile.",
        "Set my last name to {last} in my account.",
        "My account should say {last} as my last name. Leave the rest as it is.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for right, wrong in zip(names.people(rng, 20)[:10], names.people(rng, 20)[10:], strict=True):
            if right.last != wrong.last:
                yield {"last": right.last, "wrong": wrong.last}

    def expected(self, v: Values) -> JsonDict:
        user = f"SELECT first_name, last_name, email FROM auth_user WHERE id = ({CUSTOMER})"
        return expect(
            rows("shop", user, [], [["Morgan", v["last"], world().customer.email]]),
            changes("shop", "auth_user ~1"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "last": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from account(o, "Profile")
        yield from o.click("link", "Edit profile")
        yield from o.fill("textbox", "Last name", v["last"])
        yield from o.click("button", "Save")
        yield from o.stop()


class AddAddress(Template):
    id = "shop-add-address"
    sites = ("shop",)
    kind = "configuration"
    phrasings = (
        "Add an address to my address book: {first} {last}, {line1}, {town}, {postcode}, United Kingdom.",
        "I send parcels to {first} {last}, {line1}, {town} {postcode} (United Kingdom). Save that address.",
        "Save this in my address book. {first} {last}; first line: {line1}; city: {town}; postcode: {postcode}; United Kingdom.",
        "My address book lacks {first} {last} of {line1}, {town}, {postcode}, United Kingdom. Add the entry.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for person in names.people(rng, 10):
            right, wrong = names.address(rng), names.address(rng)
            yield {
                "first": person.first,
                "last": person.last,
                "line1": right.line1,
                "town": right.town,
                "postcode": right.postcode,
                "wrong": wrong.postcode,
            }

    def expected(self, v: Values) -> JsonDict:
        address = f"""
            SELECT first_name, last_name, line1, line4, upper(postcode) FROM address_useraddress
            WHERE user_id = ({CUSTOMER}) AND line1 = ?
        """
        expected = [[v["first"], v["last"], v["line1"], v["town"], v["postcode"]]]
        return expect(rows("shop", address, [v["line1"]], expected), changes("shop", "address_useraddress +1"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "postcode": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from account(o, "Address Book")
        yield from o.click("link", "Add a new address")
        for label, value in (
            ("First name *", "first"),
            ("Last name *", "last"),
            ("First line of address *", "line1"),
            ("City *", "town"),
            ("Post/Zip-code *", "postcode"),
        ):
            yield from o.fill("textbox", label, v[value])
        yield from o.select("Country *", "United Kingdom")
        yield from o.click("button", "Save")
        yield from o.stop()


class DefaultAddress(Template):
    id = "shop-default-address"
    sites = ("shop",)
    kind = "configuration"
    count = 2
    phrasings = (
        "Make my address in {town} the default for shipping.",
        "From now on my parcels go to {town}: set that address as the default shipping address.",
        "The {town} entry of my address book should be my default shipping address.",
        "Set the default shipping address of my account to the one in {town}.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        towns = [address.town for address in world().customer.addresses]
        for town in towns[1:]:
            yield {"town": town, "wrong": next(other for other in towns[1:] if other != town)}

    def expected(self, v: Values) -> JsonDict:
        default = f"SELECT line4 FROM address_useraddress WHERE user_id = ({CUSTOMER}) AND is_default_for_shipping"
        return expect(rows("shop", default, [], [[v["town"]]]), changes("shop", "address_useraddress ~2"))

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "town": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from account(o, "Address Book")
        yield from o.click("button", "", near=v["town"], within="row")
        yield from o.click("link", "Set as default shipping address")
        yield from o.stop()


TEMPLATES = (
    WriteReview(),
    ChangeName(),
    AddAddress(),
    DefaultAddress(),
)
