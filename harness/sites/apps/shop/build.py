"""Makes a shop's files from its world: `python build.py --world WORLD.json --out DIR`. Runs in the sites' environment only.

    DIR/shop.sqlite3   everything Oscar keeps       DIR/media/   a small picture per shelf and colour
    DIR/index/         Whoosh's search index        DIR/clock.txt   what time it is in the shop

The same world gives the same rows with the same keys, so that a reference query written once holds on every machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
from pathlib import Path

import clock


def build(world: dict, out: Path) -> None:
    """`world` is harness.sites.worlds.shop.ShopWorld as JSON. `out` is emptied first."""
    shutil.rmtree(out, ignore_errors=True)
    (out / "media").mkdir(parents=True)
    (out / clock.FILE).write_text(world["now"] + "\n", encoding="utf-8")
    os.environ["SHOP_DATA"] = str(out)
    os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
    clock.freeze(out)
    import django

    django.setup()
    from django.contrib.sites.models import Site
    from django.core.management import call_command
    from django.db import connection, transaction

    call_command("migrate", run_syncdb=True, verbosity=0)
    import load_catalogue
    import load_people

    random.seed(world["seed"])  # Oscar draws wish lists' keys and basket references from here
    with transaction.atomic():
        Site.objects.update_or_create(pk=1, defaults={"domain": "shop.localhost", "name": "Lantern & Loom"})
        products = load_catalogue.load(world, out / "media")
        load_people.load(world, products)
    call_command("rebuild_index", interactive=False, verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    build(json.loads(arguments.world.read_text(encoding="utf-8")), arguments.out.resolve())


if __name__ == "__main__":
    main()
