"""Serves a tracker: `python serve.py --data DIR --port P [--host H]`. Runs in the sites' environment only.

The database may be replaced while this runs (a reset): every request opens it anew and starts with empty caches.
The time of tickets, wiki versions and overdue milestones is `clock.MOMENT`; cookies live in real time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import clock

clock.freeze()  # before anything of Trac's takes the clock by name

import waitress  # noqa: E402
from trac.cache import CacheManager  # noqa: E402
from trac.db.sqlite_backend import SQLiteConnection  # noqa: E402
from trac.env import open_environment  # noqa: E402
from trac.perm import DefaultPermissionPolicy, PermissionSystem  # noqa: E402
from trac.web.main import dispatch_request  # noqa: E402


def forget() -> None:
    """Nothing of the database outlives a request: connections, and permissions that Trac would keep for five seconds."""
    SQLiteConnection.poolable = False
    DefaultPermissionPolicy.CACHE_EXPIRY = PermissionSystem.CACHE_EXPIRY = -1


def application(project: Path) -> Callable[..., Iterable[bytes]]:
    """The WSGI application on a Trac environment."""
    path = str(project)

    def serve(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["trac.env_path"] = path
        if environ["PATH_INFO"].startswith("/chrome/"):
            start_response = _kept_by_browsers(start_response)
        # A reset sets the generations of Trac's caches back: a number that fits proves nothing.
        CacheManager(open_environment(path, use_cache=True))._cache.clear()
        return dispatch_request(environ, start_response)

    return serve


def _kept_by_browsers(start_response: Any) -> Any:
    """Style sheets and scripts: a browser asks for them once in an episode, not on every page."""

    def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
        return start_response(status, [*headers, ("Cache-Control", "max-age=86400")], *more)

    return start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    arguments = parser.parse_args()
    project = arguments.data.resolve() / "project"
    if not (project / "db" / "trac.db").is_file():
        sys.exit(f"{arguments.data} holds no tracker: make it with build.py")
    forget()
    app = application(project)
    open_environment(str(project), use_cache=True)  # a broken one should fail now, not at the first request
    sys.stderr.write(f"Tracker on {arguments.host}:{arguments.port}\n")
    waitress.serve(app, host=arguments.host, port=arguments.port, threads=8, ident=None)


if __name__ == "__main__":
    main()
