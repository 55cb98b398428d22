"""Puts people and what they did into the database: accounts, addresses, orders, reviews, wish lists and vouchers."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, time
from decimal import Decimal
from hashlib import sha256
from typing import Any

from django.contrib.auth import get_user_model
from oscar.core.loading import get_model

User = get_user_model()
Basket = get_model("basket", "Basket")
Benefit = get_model("offer", "Benefit")
Condition = get_model("offer", "Condition")
ConditionalOffer = get_model("offer", "ConditionalOffer")
Country = get_model("address", "Country")
Line = get_model("order", "Line")
Order = get_model("order", "Order")
ProductRecord = get_model("analytics", "ProductRecord")
ProductReview = get_model("reviews", "ProductReview")
Range = get_model("offer", "Range")
ShippingAddress = get_model("order", "ShippingAddress")
UserAddress = get_model("address", "UserAddress")
UserRecord = get_model("analytics", "UserRecord")
Voucher = get_model("voucher", "Voucher")
WishList = get_model("wishlists", "WishList")

_REVIEW_STATUS = {"approved": 1, "pending": 0, "rejected": 2}


def load(world: dict, products: dict[str, Any]) -> None:
    country = Country.objects.create(
        iso_3166_1_a2="GB",
        iso_3166_1_a3="GBR",
        iso_3166_1_numeric="826",
        printable_name="United Kingdom",
        name="United Kingdom",
        is_shipping_country=True,
    )
    users = _users(world)
    for customer in world["customers"]:
        for index, address in enumerate(customer["addresses"]):
            UserAddress.objects.create(
                user=users[customer["email"]],
                is_default_for_shipping=index == 0,
                is_default_for_billing=index == 0,
                **_address(customer, address, country),
            )
    _orders(world, users, products, country)
    for account in world["accounts"]:  # else the first page after a login makes one, and every visit looks like a change
        Basket.objects.create(owner=users[account["email"]])
    _reviews(world["reviews"], users, products)
    _vouchers(world["vouchers"])
    for entry in world["wish_lists"]:
        wish_list = WishList.objects.create(owner=users[entry["email"]], name=entry["name"])
        # Oscar draws the key of its address at random: two builds would differ
        wish_list.key = sha256(f"{entry['email']} {entry['name']}".encode()).hexdigest()[:6]
        wish_list.save()
        for upc in entry["upcs"]:
            wish_list.add(products[upc])


def _users(world: dict) -> dict[str, Any]:
    logins = {account["email"]: account for account in world["accounts"]}
    people = [*world["customers"], *(account for account in world["accounts"] if account["staff"])]
    for person in people:
        account = logins.get(person["email"])
        user = User(
            username=person["email"].partition("@")[0],
            email=person["email"],
            first_name=person["first"],
            last_name=person["last"],
            is_staff=bool(account and account["staff"]),
            is_superuser=bool(account and account["staff"]),
            date_joined=person.get("joined", world["now"]),
        )
        if account:
            user.set_password(account["password"])
        else:
            user.set_unusable_password()
        user.save()
    return {user.email: user for user in User.objects.all()}


def _address(customer: dict, address: dict, country: Any) -> dict[str, Any]:
    return {
        "first_name": customer["first"],
        "last_name": customer["last"],
        "line1": address["line1"],
        "line4": address["town"],
        "state": address["region"],
        "postcode": address["postcode"],
        "country": country,
    }


def _orders(world: dict, users: dict[str, Any], products: dict[str, Any], country: Any) -> None:
    """As a checkout leaves them: a submitted basket with the order's number, an address, the order and its lines."""
    customers = {customer["email"]: customer for customer in world["customers"]}
    stock = {upc: product.stockrecords.get() for upc, product in products.items()}
    bought: Counter[int] = Counter()
    for entry in world["orders"]:
        user = users[entry["email"]]
        basket = Basket.objects.create(
            pk=int(entry["number"]) - 100_000, owner=user, status=Basket.SUBMITTED, date_submitted=entry["placed"]
        )
        address = ShippingAddress.objects.create(**_address(customers[entry["email"]], entry["address"], country))
        total = sum((_pounds(line["unit_price"]) * line["quantity"] for line in entry["lines"]), Decimal())
        order = Order.objects.create(
            number=entry["number"],
            basket=basket,
            user=user,
            currency="GBP",
            total_incl_tax=total,
            total_excl_tax=total,
            shipping_address=address,
            shipping_method="Free shipping",
            shipping_code="free-shipping",
            status=entry["status"],
            date_placed=datetime.fromisoformat(entry["placed"]),
        )
        for line in entry["lines"]:
            product, price = products[line["upc"]], _pounds(line["unit_price"])
            bought[product.pk] += line["quantity"]
            line_price = price * line["quantity"]
            Line.objects.create(
                order=order,
                partner=stock[line["upc"]].partner,
                partner_name=stock[line["upc"]].partner.name,
                partner_sku=line["upc"],
                stockrecord=stock[line["upc"]],
                product=product,
                title=product.title,
                upc=line["upc"],
                quantity=line["quantity"],
                num_allocated=0,
                line_price_incl_tax=line_price,
                line_price_excl_tax=line_price,
                line_price_before_discounts_incl_tax=line_price,
                line_price_before_discounts_excl_tax=line_price,
                unit_price_incl_tax=price,
                unit_price_excl_tax=price,
                status=entry["status"],
            )
    ProductRecord.objects.all().delete()
    ProductRecord.objects.bulk_create(ProductRecord(product_id=key, num_purchases=count) for key, count in bought.items())
    UserRecord.objects.all().delete()
    for user in users.values():
        orders = list(Order.objects.filter(user=user))
        if orders:
            UserRecord.objects.create(
                user=user,
                num_orders=len(orders),
                num_order_lines=sum(order.num_lines for order in orders),
                num_order_items=sum(order.num_items for order in orders),
                total_spent=sum(order.total_incl_tax for order in orders),
                date_last_order=max(order.date_placed for order in orders),
            )


def _reviews(entries: list[dict], users: dict[str, Any], products: dict[str, Any]) -> None:
    ProductReview.objects.bulk_create(
        ProductReview(
            product=products[entry["upc"]],
            user=users[entry["email"]],
            score=entry["score"],
            title=entry["title"],
            body=entry["body"],
            status=_REVIEW_STATUS[entry["status"]],
        )
        for entry in entries
    )
    rows = list(ProductReview.objects.order_by("pk"))
    for row, entry in zip(rows, entries, strict=True):
        row.date_created = datetime.fromisoformat(entry["date"])
    ProductReview.objects.bulk_update(rows, ["date_created"], batch_size=200)
    for product in products.values():
        product.update_rating()


def _vouchers(entries: list[dict]) -> None:
    everything = Range.objects.create(name="Whole shop", includes_all_products=True, is_public=False)
    for entry in entries:
        voucher = Voucher.objects.create(
            name=entry["name"],
            code=entry["code"],
            usage=Voucher.MULTI_USE,
            start_datetime=_midnight(entry["start"]),
            end_datetime=_midnight(entry["end"], end=True),
        )
        offer = ConditionalOffer.objects.create(
            name=f"Offer for voucher '{entry['name']}'",
            offer_type=ConditionalOffer.VOUCHER,
            condition=Condition.objects.create(range=everything, type=Condition.COUNT, value=1),
            benefit=Benefit.objects.create(range=everything, type=Benefit.PERCENTAGE, value=entry["percent"]),
        )
        voucher.offers.add(offer)


def _midnight(day: str, end: bool = False) -> datetime:
    return datetime.combine(datetime.fromisoformat(day).date(), time(23, 59) if end else time(0), tzinfo=UTC)


def _pounds(pence: int) -> Decimal:
    return Decimal(pence) / 100
