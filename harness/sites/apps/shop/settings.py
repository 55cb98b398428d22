"""Django settings of the shop: django-oscar on one SQLite file, offline, with a clock that stands still.

Read by build.py and serve.py, which set SHOP_DATA (the directory with the database, the search index and the pictures) first.
"""

from __future__ import annotations

import os
from pathlib import Path

import oscar.defaults

globals().update({name: value for name, value in vars(oscar.defaults).items() if name.isupper()})

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ["SHOP_DATA"]).resolve()

SECRET_KEY = "loopback only: protects nothing"
DEBUG = False
ALLOWED_HOSTS = [".localhost", "127.0.0.1"]
SITE_ID = 1
ROOT_URLCONF = "urls"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # a login per episode; the passwords are public
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
SILENCED_SYSTEM_CHECKS = ["haystack.W001"]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATA / "shop.sqlite3",
        "ATOMIC_REQUESTS": True,
        # Two requests of one page must queue for the write lock, not fail; a scratch database need not survive a power cut.
        "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE", "init_command": "PRAGMA synchronous=OFF"},
    }
}


class _NoMigrations:
    """Every app's tables are made from its models: 1 s instead of the 40 s that its migrations take."""

    def __contains__(self, app: str) -> bool:
        return True

    def __getitem__(self, app: str) -> None:
        return None


MIGRATION_MODULES = _NoMigrations()

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English")]  # the footer's language list is 100 lines of every page otherwise

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.sites",
    "django.contrib.flatpages",
    "oscar.config.Shop",
    *(
        f"oscar.apps.{path}.apps.{name}Config"
        for path, name in (
            ("analytics", "Analytics"),
            ("checkout", "Checkout"),
            ("address", "Address"),
            ("shipping", "Shipping"),
            ("catalogue", "Catalogue"),
            ("catalogue.reviews", "CatalogueReviews"),
            ("communication", "Communication"),
            ("partner", "Partner"),
            ("basket", "Basket"),
            ("payment", "Payment"),
            ("offer", "Offer"),
            ("order", "Order"),
            ("customer", "Customer"),
            ("search", "Search"),
            ("voucher", "Voucher"),
            ("wishlists", "Wishlists"),
            ("dashboard", "Dashboard"),
            ("dashboard.reports", "ReportsDashboard"),
            ("dashboard.users", "UsersDashboard"),
            ("dashboard.orders", "OrdersDashboard"),
            ("dashboard.catalogue", "CatalogueDashboard"),
            ("dashboard.offers", "OffersDashboard"),
            ("dashboard.partners", "PartnersDashboard"),
            ("dashboard.pages", "PagesDashboard"),
            ("dashboard.ranges", "RangesDashboard"),
            ("dashboard.reviews", "ReviewsDashboard"),
            ("dashboard.vouchers", "VouchersDashboard"),
            ("dashboard.communications", "CommunicationsDashboard"),
            ("dashboard.shipping", "ShippingDashboard"),
        )
    ),
    "widget_tweaks",
    "haystack",
    "treebeard",
    "django_tables2",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
]
AUTHENTICATION_BACKENDS = ["oscar.apps.customer.auth_backends.EmailBackend", "django.contrib.auth.backends.ModelBackend"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [HERE / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.i18n",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ]
        },
    }
]

STATIC_URL = "/static/"
MEDIA_URL = "/media/"
MEDIA_ROOT = DATA / "media"

HAYSTACK_CONNECTIONS = {
    "default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": str(DATA / "index"), "INCLUDE_SPELLING": False}
}
# The index is read-only while the shop runs: a reset then restores one file. Prices and stock on pages come from the database.
HAYSTACK_SIGNAL_PROCESSOR = "haystack.signals.BaseSignalProcessor"

OSCAR_SHOP_NAME = "Lantern & Loom"
OSCAR_SHOP_TAGLINE = "Things for every day"
OSCAR_FROM_EMAIL = "shop@example.com"
OSCAR_SAVE_SENT_EMAILS_TO_DB = False
OSCAR_SEND_REGISTRATION_EMAIL = False
OSCAR_THUMBNAILER = "thumbnails.OriginalPicture"
OSCAR_MODERATE_REVIEWS = True
OSCAR_ALLOW_ANON_REVIEWS = False
OSCAR_SEARCH_FACETS = {"fields": {}, "queries": {}}  # Whoosh has no facets
OSCAR_INITIAL_ORDER_STATUS = "Pending"
OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = {
    "Pending": ("Being processed", "Cancelled"),
    "Being processed": ("Shipped", "Cancelled"),
    "Shipped": ("Complete",),
    "Complete": (),
    "Cancelled": (),
}
OSCAR_LINE_STATUS_PIPELINE = OSCAR_ORDER_STATUS_PIPELINE

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {"oscar": {"level": "WARNING"}, "django.request": {"level": "ERROR"}, "waitress.queue": {"level": "ERROR"}},
}
