"""A small local web server for tests of our browser side: pages as strings, and pages that misbehave."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Reply(NamedTuple):
    body: bytes | str
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    location: str = ""


Page = Reply | str | Callable[[str], Reply]


@contextmanager
def serve(pages: dict[str, Page]) -> Iterator[str]:
    """Serve path → page on loopback; yields the base URL without a trailing slash. Unknown paths are 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            page = pages.get(path, Reply("not here", 404))
            reply = page(self.path) if callable(page) else page
            if isinstance(reply, str):
                reply = Reply(reply)
            body = reply.body if isinstance(reply.body, bytes) else reply.body.encode()
            self.send_response(reply.status)
            if reply.location:
                self.send_header("Location", reply.location)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # browsers hang up when a page is closed
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
