"""A small web application on SQLite: reads, writes, breaks and dies on request. One connection per thread, kept open."""

import argparse
import os
import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--data", type=Path)
parser.add_argument("--port", type=int)
parser.add_argument("--host")
arguments = parser.parse_args()
if (arguments.data / "refuse").exists():
    print("settings are wrong", file=sys.stderr)
    sys.exit(1)
local, broken = threading.local(), threading.Event()


def notes(*new: str) -> list[str]:
    if not hasattr(local, "connection"):
        local.connection = sqlite3.connect(arguments.data / "shop.sqlite3", timeout=5, isolation_level=None)
    for text in new:
        local.connection.execute("INSERT INTO note (text) VALUES (?)", (text,))
        (arguments.data / "index" / f"segment-{len(text)}-{os.urandom(4).hex()}").write_text(text)
    return [text for (text,) in local.connection.execute("SELECT text FROM note ORDER BY id")]


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        word = self.path.rpartition("/")[2]
        if word == "die":
            os._exit(1)
        if word == "break":
            broken.set()
        status, body = 200, "csrfmiddlewaretoken"
        if not self.headers["Host"].startswith("shop.localhost:") or broken.is_set():
            status = 500
        elif self.path.startswith("/add/"):
            body = "\n".join(notes(word))
        elif self.path == "/notes":
            body = "\n".join(notes())
        content = body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


print("serving", file=sys.stderr, flush=True)
ThreadingHTTPServer(("127.0.0.1", arguments.port), Page).serve_forever()
