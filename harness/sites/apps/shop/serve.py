"""Serves a shop: `python serve.py --data DIR --port P [--host H]`. Runs in the sites' environment only.

The database may be replaced while this runs (a reset): every request opens it anew and nothing of it is kept in memory.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import clock
from django.conf import settings
from django.contrib.staticfiles.handlers import StaticFilesHandler


class Static(StaticFilesHandler):
    """Style sheets and scripts straight from the packages; a browser keeps them for the length of an episode."""

    def serve(self, request: Any) -> Any:
        response = super().serve(request)
        response["Cache-Control"] = "max-age=86400"
        return response


def application(data: Path) -> Any:
    """The WSGI application on the data directory."""
    os.environ["SHOP_DATA"] = str(data)
    os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
    clock.freeze(data)
    from django.core.wsgi import get_wsgi_application

    app = Static(get_wsgi_application())
    _warm()
    return app


def _warm() -> None:
    """Contents that Django keeps for good (the site's name, content types) are read before anything can change them."""
    from django.contrib.sites.models import Site

    Site.objects.get_current()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    arguments = parser.parse_args()
    if not (arguments.data / "shop.sqlite3").is_file():
        sys.exit(f"{arguments.data} holds no shop: make it with build.py")
    import waitress

    app = application(arguments.data.resolve())
    sys.stderr.write(f"{settings.OSCAR_SHOP_NAME} on {arguments.host}:{arguments.port}\n")
    waitress.serve(app, host=arguments.host, port=arguments.port, threads=8, ident=None)


if __name__ == "__main__":
    main()
