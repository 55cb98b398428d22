"""Makes a forum's files from its world: `python build.py --world WORLD.json --out DIR`. Runs in the sites' environment only.

    DIR/forum.sqlite3   everything Spirit keeps       DIR/media/      uploads (empty)
    DIR/index/          Whoosh's search index         DIR/clock.txt   what time it is in the forum

The same world gives the same rows with the same keys, so that a reference query written once holds on every machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from pathlib import Path

import clock


def build(world: dict, out: Path) -> None:
    """`world` is harness.sites.worlds.forum.ForumWorld as JSON. `out` is emptied first."""
    shutil.rmtree(out, ignore_errors=True)
    (out / "media").mkdir(parents=True)
    (out / clock.FILE).write_text(world["now"] + "\n", encoding="utf-8")
    os.environ["FORUM_DATA"] = str(out)
    os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
    clock.freeze(out)
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection, transaction

    call_command("migrate", run_syncdb=True, verbosity=0)
    import load

    with transaction.atomic():
        load.load(world)
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
