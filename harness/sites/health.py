"""Is a site there, and is it the right one? Asked as a browser would: on loopback, under the site's own name."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import httpx

from harness.sites.definition import AppDefinition

ANSWER_SECONDS = 10.0
POLL_SECONDS = 0.05


def problem(app: AppDefinition, port: int) -> str:
    """Why the application is not healthy on `port`; empty if it is."""
    try:
        # trust_env: a proxy of the machine must not be asked for loopback.
        answer = httpx.get(
            f"http://127.0.0.1:{port}{app.health_path}",
            headers={"Host": f"{app.hostname}:{port}"},
            timeout=ANSWER_SECONDS,
            trust_env=False,
        )
    except httpx.HTTPError as error:
        return f"port {port} does not answer ({type(error).__name__})"
    if answer.status_code != 200:
        return f"{app.health_path} answers {answer.status_code}"
    if app.health_text not in answer.text:
        return f"port {port} answers, but it is not the {app.name}"
    return ""


def wait(app: AppDefinition, port: int, seconds: float, still_there: Callable[[], bool]) -> str:
    """Wait until it is healthy. Returns why not, when `seconds` are over or the server is gone."""
    deadline = time.monotonic() + seconds
    while why := problem(app, port):
        if not still_there():
            return "the server ended while starting"
        if time.monotonic() > deadline:
            return f"{why} after {seconds:g} s"
        time.sleep(POLL_SECONDS)
    # A server that could not bind has ended by now; what answered is somebody else's.
    return "" if still_there() else "the server ended while starting"


def is_free(port: int) -> bool:
    """Could a server listen on this loopback port now?"""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            return False
        return True
