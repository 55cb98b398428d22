"""Starts Streamlit in this process, on this machine only, with everything imported and the newest run read.

Imports and the first reading cost seconds; a browser that comes after them is answered at once.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dashboards import memory
from harness.errors import NotReadyError, UsageError

HOST = "127.0.0.1"
FIRST_PORT = 8501
PORTS_TRIED = 50
HEALTH = "/_stcore/health"

OPTIONS: dict[str, Any] = {
    "server.address": HOST,
    # A page of another site must not reach the server under a name of its own (DNS rebinding).
    "server.allowedHosts": ["localhost", HOST],
    "server.fileWatcherType": "none",
    "server.enableStaticServing": False,
    "server.maxUploadSize": 1,
    "browser.gatherUsageStats": False,
    # With it goes Streamlit's offer, on every page, to install skills for coding agents: this dashboard writes nothing.
    "logger.hideWelcomeMessage": True,
    "client.toolbarMode": "viewer",
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    # Streamlit's own CSV escapes nothing: dashboards.tables offers every table.
    "client.disableDataExport": True,
    "theme.chartCategoricalColors": ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C8C8C"],
    "theme.metricValueFontSize": "1.9rem",
    "theme.headingFontSizes": ["2rem", "1.6rem", "1.2rem", "1.05rem", "1rem", "0.9rem"],
    "theme.light.primaryColor": "#0072B2",
    "theme.dark.primaryColor": "#2A82BD",
}


def serve(runs: Path, *, port: int | None, open_browser: bool, ready: Callable[[str], None]) -> None:
    """Serve the dashboard of `runs` until interrupted. `ready` is told the address once the server is about to answer."""
    try:
        from streamlit.web import bootstrap
    except ImportError as error:
        raise NotReadyError("the dashboard needs Streamlit", fix="pip install 'dynaweb-harness[dashboard]'") from error
    memory.one_arena()
    chosen = free_port(port)
    options = {**OPTIONS, "server.port": chosen, "server.headless": not open_browser}
    bootstrap.load_config_options(options)
    warm(runs)
    ready(f"http://{HOST}:{chosen}")
    bootstrap.run(str(script()), False, [str(runs)], options)


def script() -> Path:
    """The file that Streamlit runs."""
    return Path(__file__).parent / "entry" / "streamlit_app.py"


def warm(runs: Path) -> None:
    """Import every page and read the newest run."""
    import dashboards.app  # noqa: F401
    from dashboards import loading

    newest = loading.discovery(runs).of("run")
    if newest:
        view = loading.run_view(newest[0])
        if isinstance(view, loading.RunView):
            view.sites  # noqa: B018  (computing it is the point)
            view.overall  # noqa: B018


def free_port(port: int | None) -> int:
    """`port` if it is free, else, where none was asked for, the first free one from 8501. Raises `UsageError`."""
    for candidate in [port] if port is not None else range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, candidate))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    where = f"port {port} is" if port is not None else f"ports {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1} are"
    raise UsageError(f"{where} in use", fix="choose another with --port, or 0 for any free one")
