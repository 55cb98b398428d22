"""Serves a forum: `python serve.py --data DIR --port P [--host H]`. Runs in the sites' environment only.

The database may be replaced while this runs (a reset): every request opens it anew and nothing of it is kept in memory. The
search index is only read.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import clock
from django.contrib.staticfiles.handlers import StaticFilesHandler


class Static(StaticFilesHandler):
    """Style sheets and scripts straight from the package; a browser keeps them for the length of an episode."""

    def serve(self, request: Any) -> Any:
        response = super().serve(request)
        response["Cache-Control"] = "max-age=86400"
        return response


def application(data: Path) -> Any:
    """The WSGI application on the data directory."""
    os.environ["FORUM_DATA"] = str(data)
    os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
    clock.freeze(data)
    from django.core.wsgi import get_wsgi_application

    app = Static(get_wsgi_application())
    clock.say_dates()
    return app


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    arguments = parser.parse_args()
    if not (arguments.data / "forum.sqlite3").is_file():
        sys.exit(f"{arguments.data} holds no forum: make it with build.py")
    import waitress

    app = application(arguments.data.resolve())
    sys.stderr.write(f"Forum on {arguments.host}:{arguments.port}\n")
    waitress.serve(app, host=arguments.host, port=arguments.port, threads=4, ident=None)


if __name__ == "__main__":
    main()
