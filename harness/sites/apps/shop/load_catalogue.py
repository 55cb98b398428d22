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
    ProductAttributeValue.objects.bulk_create(rows)
