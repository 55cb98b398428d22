"""Tasks of the shop's staff with customers: vouchers, reviews, accounts. See `harness.benchmarks.arena.api`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

from harness.benchmarks.arena.api import Hands, Steps, Template, Values, changes, expect, rows
from harness.benchmarks.arena.shop_desk import REVIEWS, VOUCHERS, choose, list_customer, open_list
from harness.benchmarks.arena.shop_moves import world
from harness.sites.worlds import names
from harness.sites.worlds.shop import PENDING, Review
from harness.types import JsonDict

REVIEW = """
    SELECT r.status, p.upc FROM reviews_productreview r JOIN catalogue_product p ON p.id = r.product_id
    JOIN auth_user u ON u.id = r.user_id WHERE p.upc = ? AND u.email = ?
"""
APPROVED_KEY, REJECTED_KEY = 1, 2


class CreateVoucher(Template):
    id = "shop_admin-create-voucher"
    sites = ("shop_admin",)
    kind = "content"
    phrasings = (
        'Create the voucher "{name}" with the code {code}, valid until the end of 2026, for the offer of the voucher "{offer}".',
        'Add a voucher named "{name}", code {code}. It runs until 31 December 2026 and uses the same offer as "{offer}".',
        'We need a new voucher: "{name}", code {code}, ending on 31 December 2026, with the offer that "{offer}" has.',
        'Set up voucher code {code} under the name "{name}" until 31 December 2026; offer: the one for voucher "{offer}".',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for person, voucher in zip(names.people(rng, 12), rng.choices(world().vouchers, k=12), strict=True):
            number, wrong = rng.sample(range(10, 99), 2)
            stem = person.last.upper()[:6]
            yield {
                "name": f"Thanks to {person.full}",
                "code": f"{stem}{number}",
                "offer": voucher.name,
                "wrong": f"{stem}{wrong}",
            }

    def expected(self, v: Values) -> JsonDict:
        voucher = """
            SELECT v.name, v.code, f.name, date(v.end_datetime) FROM voucher_voucher v
            JOIN voucher_voucher_offers j ON j.voucher_id = v.id
            JOIN offer_conditionaloffer f ON f.id = j.conditionaloffer_id WHERE v.name = ?
        """
        expected = [[v["name"], v["code"], f"Offer for voucher '{v['offer']}'", "2026-12-31"]]
        return expect(
            rows("shop_admin", voucher, [v["name"]], expected),
            changes("shop_admin", "voucher_voucher +1", "voucher_voucher_offers +1"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "code": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_list(o, VOUCHERS)
        yield from o.click("link", "Create new voucher")
        yield from o.fill("textbox", "Name *", v["name"])
        yield from o.fill("textbox", "Code *", v["code"])
        yield from o.fill("textbox", "End datetime *", "2026-12-31 23:00:00")
        yield from choose(o, "", f"Offer for voucher '{v['offer']}'")
        yield from o.click("button", "Save")
        yield from o.stop()


class DeleteVoucher(Template):
    id = "shop_admin-delete-voucher"
    sites = ("shop_admin",)
    kind = "configuration"
    count = 5
    phrasings = (
        'Delete the voucher "{voucher}".',
        'The voucher "{voucher}" is no longer needed. Remove it.',
        'Take the voucher "{voucher}" out of the shop for good.',
        'Please delete "{voucher}" from the vouchers.',
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for right, wrong in pairwise(rng.sample(world().vouchers, 6)):
            yield {"voucher": right.name, "wrong": wrong.name}

    def expected(self, v: Values) -> JsonDict:
        return expect(
            rows("shop_admin", "SELECT count(*) FROM voucher_voucher WHERE name = ?", [v["voucher"]], [[0]]),
            changes("shop_admin", "voucher_voucher -1", "voucher_voucher_offers -1", "offer_*"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "voucher": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from open_list(o, VOUCHERS)
        yield from o.click("button", "Actions", near=v["voucher"], within="row")
        yield from o.click("link", "Delete")
        yield from o.click("button", "Delete")
        yield from o.stop()


class _Moderate(Template):
    """Approves or rejects a review that waits for it."""

    sites = ("shop_admin",)
    kind = "configuration"

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        fullnames = {customer.email: customer.full for customer in world().customers}
        waiting = _waiting()
        for review, wrong in pairwise(rng.sample(waiting, len(waiting))):
            yield {
                "product": world().product(review.upc).title,
                "customer": fullnames[review.email],
                "upc": review.upc,
                "email": review.email,
                "wrong_product": world().product(wrong.upc).title,
                "wrong_customer": fullnames[wrong.email],
            }

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "product": v["wrong_product"], "customer": v["wrong_customer"]}

    def _find(self, o: Hands, v: Values) -> Steps:
        """The list of the customer's reviews that wait."""
        yield from open_list(o, REVIEWS)
        yield from o.fill("textbox", "Customer name:", v["customer"].split()[-1])
        yield from o.select("Status:", "Requires moderation")
        yield from o.click("button", "Search")


class ApproveReview(_Moderate):
    id = "shop_admin-approve-review"
    phrasings = (
        "Approve the review of the {product} by {customer}, which waits for moderation.",
        "{customer} has reviewed the {product}. Let the review appear in the shop: approve it.",
        "Set the waiting review by {customer} about the {product} to approved.",
        "Moderate the review that {customer} wrote of the {product}: it is fine, so approve it.",
    )

    def expected(self, v: Values) -> JsonDict:
        return expect(
            rows("shop_admin", REVIEW, [v["upc"], v["email"]], [[APPROVED_KEY, v["upc"]]]),
            changes("shop_admin", "reviews_productreview ~1", "catalogue_product"),
        )

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from self._find(o, v)
        yield from o.check("", near=v["product"], within="row")
        yield from o.click("button", "Update")
        yield from o.stop()


class RejectReview(_Moderate):
    id = "shop_admin-reject-review"
    phrasings = (
        "Reject the review of the {product} by {customer}, which waits for moderation.",
        "The review of the {product} that {customer} wrote must not appear. Set it to rejected.",
        "Set the waiting review by {customer} about the {product} to rejected.",
        "Moderate what {customer} wrote about the {product}: reject the review.",
    )

    def expected(self, v: Values) -> JsonDict:
        return expect(
            rows("shop_admin", REVIEW, [v["upc"], v["email"]], [[REJECTED_KEY, v["upc"]]]),
            changes("shop_admin", "reviews_productreview ~1", "catalogue_product"),
        )

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from self._find(o, v)
        yield from o.click("button", "Actions", near=v["product"], within="row")
        yield from o.click("link", "Edit")
        yield from choose(o, "Approved", "Rejected")
        yield from o.click("button", "Save")
        yield from o.stop()


class Deactivate(Template):
    id = "shop_admin-deactivate-customer"
    sites = ("shop_admin",)
    kind = "configuration"
    phrasings = (
        "Make the account of {customer} inactive.",
        "{customer} should no longer be able to log in: deactivate the account.",
        "Deactivate the customer {customer}.",
        "Set the customer account of {customer} to inactive.",
    )

    def instances(self, rng: Random) -> Iterator[JsonDict]:
        for customer, wrong in pairwise(rng.sample(world().customers[1:], 12)):
            yield {"customer": customer.full, "email": customer.email, "wrong": wrong.full}

    def expected(self, v: Values) -> JsonDict:
        return expect(
            rows("shop_admin", "SELECT email FROM auth_user WHERE NOT is_active", [], [[v["email"]]]),
            changes("shop_admin", "auth_user ~1"),
        )

    def nearly(self, v: Values) -> JsonDict:
        return {**v, "customer": v["wrong"]}

    def oracle(self, o: Hands, v: Values) -> Steps:
        yield from list_customer(o, v["customer"])
        yield from o.check("", near=v["customer"], within="row")
        yield from o.check("Make inactive")
        yield from o.click("button", "Go!")
        yield from o.stop()


def _waiting() -> list[Review]:
    """Reviews for moderation whose author has no other one waiting for the same product."""
    return [review for review in world().reviews if review.status == PENDING]


TEMPLATES = (
    CreateVoucher(),
    DeleteVoucher(),
    ApproveReview(),
    RejectReview(),
    Deactivate(),
)
