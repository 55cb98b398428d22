"""Puts categories, products, prices, stock and pictures into the database, through Oscar's models."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pictures
from django.utils.text import slugify
from oscar.core.loading import get_model

Category = get_model("catalogue", "Category")
Product = get_model("catalogue", "Product")
ProductAttribute = get_model("catalogue", "ProductAttribute")
ProductAttributeValue = get_model("catalogue", "ProductAttributeValue")
ProductCategory = get_model("catalogue", "ProductCategory")
ProductClass = get_model("catalogue", "ProductClass")
ProductImage = get_model("catalogue", "ProductImage")
Partner = get_model("partner", "Partner")
StockRecord = get_model("partner", "StockRecord")

_HOUR = timedelta(hours=1)
ATTRIBUTES = (
    ("brand", "Brand", "text"),
    ("colour", "Colour", "text"),
    ("material", "Material", "text"),
    ("weight_g", "Weight (g)", "integer"),
)


def load(world: dict, media: Path) -> dict[str, Product]:
    """Returns the products by UPC."""
    categories = _categories(world["categories"])
    kinds = {name: _product_class(name) for name in dict.fromkeys(product["category"][0] for product in world["products"])}
    partner = Partner.objects.create(name="Lantern & Loom warehouse", code="warehouse")
    rows = [
        Product(
            structure=Product.STANDALONE,
            upc=product["upc"],
            title=product["title"],
            slug=slugify(product["title"]),
            description=product["description"],
            product_class=kinds[product["category"][0]],
            is_public=True,
        )
        for product in world["products"]
    ]
    Product.objects.bulk_create(rows)
    products = {row.upc: row for row in Product.objects.all()}
    # auto_now_add would make all of them equally new
    total = len(products)
    for index, row in enumerate(products.values()):
        row.date_created = row.date_created - (total - index) * _HOUR
    Product.objects.bulk_update(products.values(), ["date_created"])

    ProductCategory.objects.bulk_create(
        ProductCategory(product=products[product["upc"]], category=categories[tuple(product["category"])])
        for product in world["products"]
    )
    StockRecord.objects.bulk_create(
        StockRecord(
            product=products[product["upc"]],
            partner=partner,
            partner_sku=product["upc"],
            price_currency="GBP",
            price=Decimal(product["price"]) / 100,
            num_in_stock=product["stock"],
            num_allocated=0,
            low_stock_threshold=3,
        )
        for product in world["products"]
    )
    ProductImage.objects.bulk_create(
        ProductImage(
            product=products[product["upc"]],
            original=pictures.draw(media, product["category"][1], product["colour"]),
            display_order=0,
        )
        for product in world["products"]
    )
    _attribute_values(world["products"], products)
    return products


def _categories(categories: list[dict]) -> dict[tuple[str, ...], Category]:
    found: dict[tuple[str, ...], Category] = {}
    for entry in categories:
        path = tuple(entry["path"])
        fields = {"name": path[-1], "slug": slugify(path[-1]), "is_public": True}
        parent = found.get(path[:-1])
        found[path] = Category.objects.get(pk=parent.pk).add_child(**fields) if parent else Category.add_root(**fields)
    return found


def _product_class(name: str) -> ProductClass:
    kind = ProductClass.objects.create(name=f"{name} goods", requires_shipping=True, track_stock=True)
    ProductAttribute.objects.bulk_create(
        ProductAttribute(product_class=kind, code=code, name=label, type=type_, required=False)
        for code, label, type_ in ATTRIBUTES
    )
    return kind


def _attribute_values(entries: list[dict], products: dict[str, Product]) -> None:
    attributes = {(row.product_class_id, row.code): row for row in ProductAttribute.objects.all()}
    rows = []
    for entry in entries:
        product = products[entry["upc"]]
        for code, _, type_ in ATTRIBUTES:
            attribute = attributes[product.product_class_id, code]
            rows.append(ProductAttributeValue(product=product, attribute=attribute, **{f"value_{type_}": entry[code]}))
    ProductAttributeValue.objects.bulk_create(rows)
