"""The shop's world: catalogue, customers, orders, reviews and vouchers, drawn from one seed. Money is in pence.

    build(seed) → ShopWorld
        .categories   three levels, parents first        .products    9 or 10 per shelf, each with a unique title and UPC
        .customers    64; the first is the one tasks log in as         .reviews   0 … 12 per product
        .orders       two years up to NOW; number = 100000 + position  .vouchers, .wish_lists

Pure data of our own: harness/sites/apps/shop/build.py puts it into an application's database, and the arena's templates compute
their reference answers from it. Change anything here and the arena's task set changes with it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from harness.sites import definition
from harness.sites.catalog import SHOP_MANAGER, SHOPPER
from harness.sites.worlds import names
from harness.sites.worlds.shop_words import GRIPES, MIXED, PRAISE, SELLING_POINTS, TREE, Shelf

NOW = datetime.fromisoformat(definition.NOW)
"""What the site's clock says, always."""

SEED = 20260302
APPROVED, PENDING, REJECTED = "approved", "pending", "rejected"


@dataclass(frozen=True, slots=True)
class Category:
    path: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path[-1]


@dataclass(frozen=True, slots=True)
class Product:
    """`price` in pence; `stock` 0 means it cannot be bought."""

    upc: str
    title: str
    category: tuple[str, ...]
    description: str
    price: int
    stock: int
    brand: str
    colour: str
    material: str
    weight_g: int


@dataclass(frozen=True, slots=True)
class Customer:
    """`addresses`: the first is the default for shipping."""

    first: str
    last: str
    email: str
    joined: str
    addresses: tuple[names.Address, ...]

    @property
    def full(self) -> str:
        return f"{self.first} {self.last}"


@dataclass(frozen=True, slots=True)
class Review:
    """`status`: approved reviews are public; pending ones wait for the staff."""

    upc: str
    email: str
    score: int
    title: str
    body: str
    date: str
    status: str


@dataclass(frozen=True, slots=True)
class OrderLine:
    upc: str
    quantity: int
    unit_price: int


@dataclass(frozen=True, slots=True)
class Order:
    """`placed` is ISO 8601 in UTC."""

    number: str
    email: str
    placed: str
    status: str
    lines: tuple[OrderLine, ...]
    address: names.Address

    @property
    def total(self) -> int:
        return sum(line.quantity * line.unit_price for line in self.lines)


@dataclass(frozen=True, slots=True)
class Voucher:
    """A code worth `percent` off a whole basket, valid from `start` to `end`."""

    name: str
    code: str
    percent: int
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class WishList:
    email: str
    name: str
    upcs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Account:
    email: str
    password: str
    first: str
    last: str
    staff: bool


@dataclass(frozen=True, slots=True)
class ShopWorld:
    seed: int
    now: str
    accounts: tuple[Account, ...]
    categories: tuple[Category, ...]
    products: tuple[Product, ...]
    customers: tuple[Customer, ...]
    reviews: tuple[Review, ...]
    orders: tuple[Order, ...]
    vouchers: tuple[Voucher, ...]
    wish_lists: tuple[WishList, ...]

    @property
    def customer(self) -> Customer:
        """The customer whom tasks log in as."""
        return self.customers[0]

    def product(self, upc: str) -> Product:
        return next(product for product in self.products if product.upc == upc)

    def on_shelf(self, category: tuple[str, ...]) -> tuple[Product, ...]:
        """Products in `category` or below it."""
        return tuple(product for product in self.products if product.category[: len(category)] == category)

    def reviews_of(self, upc: str, status: str = APPROVED) -> tuple[Review, ...]:
        return tuple(review for review in self.reviews if review.upc == upc and review.status == status)

    def orders_of(self, email: str) -> tuple[Order, ...]:
        """Oldest first."""
        return tuple(order for order in self.orders if order.email == email)


def pounds(pence: int) -> str:
    """`"12.50"`: as Oscar stores and prints it, without the currency sign."""
    return f"{pence // 100}.{pence % 100:02d}"


@cache
def build(seed: int = SEED) -> ShopWorld:
    """The whole world. The same seed gives equal records."""
    rng = random.Random(seed)
    categories = _categories()
    products = _products(rng)
    customers = _customers(rng)
    buyable = [product for product in products if product.stock]
    return ShopWorld(
        seed=seed,
        now=NOW.isoformat(),
        accounts=(
            _account(SHOPPER, staff=False),
            _account(SHOP_MANAGER, staff=True),
        ),
        categories=categories,
        products=products,
        customers=customers,
        reviews=_reviews(rng, products, customers),
        orders=_orders(rng, buyable, customers),
        vouchers=_vouchers(),
        wish_lists=_wish_lists(rng, buyable, customers[0]),
    )


def _account(login: definition.Account, staff: bool) -> Account:
    first, last = login.name.split()
    return Account(login.username, login.password, first, last, staff)


def _categories() -> tuple[Category, ...]:
    found: list[Category] = []
    for department, sections in TREE.items():
        found.append(Category((department,)))
        for section, shelves in sections.items():
            found.append(Category((department, section)))
            found.extend(Category((department, section, shelf)) for shelf in shelves)
    return tuple(found)


def _products(rng: random.Random) -> tuple[Product, ...]:
    found: list[Product] = []
    titles: set[str] = set()
    prices: dict[tuple[str, ...], set[int]] = {}
    for department, sections in TREE.items():
        for section, shelves in sections.items():
            for shelf_name, shelf in shelves.items():
                path = (department, section, shelf_name)
                for _ in range(rng.choice((9, 10, 11))):
                    product = _product(rng, len(found), path, shelf, titles, prices.setdefault(path[:2], set()))
                    titles.add(product.title)
                    found.append(product)
    return tuple(found)


def _product(rng: random.Random, index: int, path: tuple[str, ...], shelf: Shelf, titles: set[str], prices: set[int]) -> Product:
    """A product whose title is new, and whose price is new in its section: "the cheapest" is one product."""
    while True:
        brand, colour, material = rng.choice(names.BRANDS), rng.choice(names.COLOURS), rng.choice(shelf.materials)
        noun = rng.choice(shelf.nouns)
        title = f"{brand} {rng.choice(names.ADJECTIVES)} {noun}"
        price = rng.randrange(shelf.low // 50, shelf.high // 50) * 50 + rng.choice((0, 25, 49, 45))
        if title not in titles and price not in prices:
            prices.add(price)
            break
    uses = " or ".join(rng.sample(shelf.uses, k=len(shelf.uses))[:2])
    description = " ".join(
        (f"A {colour} {noun.lower()} in {material}, made for {uses}.", *rng.sample(SELLING_POINTS, k=rng.choice((2, 3))))
    )
    stock = 0 if rng.random() < 0.06 else rng.choice((2, 3, 5, 8, 12, 17, 24, 36, 48, 60))
    weight = rng.randrange(8, 240) * 10
    return Product(f"SKU-{10001 + index}", title, path, description, price, stock, brand, colour, material, weight)


def _customers(rng: random.Random) -> tuple[Customer, ...]:
    found: list[Customer] = []
    shopper = names.Person(*SHOPPER.name.split())
    for index, someone in enumerate((shopper, *names.people(rng, 63))):
        joined = NOW - timedelta(days=rng.randint(740, 1100), minutes=rng.randint(0, 1439))
        addresses = tuple(names.address(rng) for _ in range(3 if index == 0 else rng.choice((1, 1, 2))))
        found.append(Customer(someone.first, someone.last, someone.email, joined.isoformat(), addresses))
    return tuple(found)


def _reviews(rng: random.Random, products: tuple[Product, ...], customers: tuple[Customer, ...]) -> tuple[Review, ...]:
    """The first customer reviews nothing, so that tasks can. One in thirty waits for the staff, one in sixty was rejected."""
    found: list[Review] = []
    for product in products:
        liked = rng.random()
        for customer in rng.sample(customers[1:], k=rng.choice((0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 8, 12))):
            score = min(5, max(1, round(rng.gauss(2.4 + 2.4 * liked, 1.1))))
            title, body = rng.choice(PRAISE if score >= 4 else MIXED if score == 3 else GRIPES)
            body = f"{body} I bought it for {rng.choice(('my flat', 'a friend', 'the workshop', 'our kitchen', 'a holiday'))}."
            date = NOW - timedelta(days=rng.randint(2, 700), minutes=rng.randint(0, 1439))
            drawn = rng.random()
            status = PENDING if drawn < 1 / 30 else REJECTED if drawn < 1 / 20 else APPROVED
            found.append(Review(product.upc, customer.email, score, title, body, date.isoformat(), status))
    return tuple(sorted(found, key=lambda review: review.date))


def _orders(rng: random.Random, buyable: list[Product], customers: tuple[Customer, ...]) -> tuple[Order, ...]:
    """170 orders, 14 of them by the first customer, no two in the same minute; recent ones are still under way."""
    buyers = [customers[0]] * 14 + [rng.choice(customers[1:]) for _ in range(156)]
    rng.shuffle(buyers)
    minutes = sorted(rng.sample(range(60, 720 * 1440), len(buyers)), reverse=True)
    found: list[Order] = []
    for index, (buyer, minute) in enumerate(zip(buyers, minutes, strict=True)):
        lines = tuple(
            OrderLine(product.upc, rng.choice((1, 1, 1, 2, 2, 3)), product.price)
            for product in rng.sample(buyable, k=rng.choice((1, 1, 2, 2, 3, 4)))
        )
        days = minute / 1440
        choices: tuple[str, ...]
        if days < 60:
            choices = ("Pending", "Pending", "Being processed", "Cancelled")
        elif days < 150:
            choices = ("Being processed", "Shipped", "Shipped", "Complete")
        else:
            choices = ("Complete",) * 7 + ("Cancelled",)
        placed = (NOW - timedelta(minutes=minute)).isoformat()
        found.append(Order(str(100001 + index), buyer.email, placed, rng.choice(choices), lines, rng.choice(buyer.addresses)))
    return tuple(found)


def _vouchers() -> tuple[Voucher, ...]:
    return (
        Voucher("Spring welcome", "SPRING10", 10, "2026-02-01", "2026-05-31"),
        Voucher("Newsletter thank-you", "LETTERS5", 5, "2025-06-01", "2026-12-31"),
        Voucher("Garden fair", "FAIR15", 15, "2026-02-15", "2026-04-15"),
        Voucher("Friends of the shop", "FRIENDS20", 20, "2026-01-01", "2026-12-31"),
        Voucher("Winter clearance", "WINTER25", 25, "2025-12-01", "2026-01-31"),
        Voucher("Autumn harvest", "HARVEST12", 12, "2025-09-01", "2025-10-31"),
    )


def _wish_lists(rng: random.Random, buyable: list[Product], owner: Customer) -> tuple[WishList, ...]:
    picks = [product.upc for product in rng.sample(buyable, k=9)]
    return (
        WishList(owner.email, "Birthday ideas", tuple(picks[:4])),
        WishList(owner.email, "New flat", tuple(picks[4:9])),
    )
