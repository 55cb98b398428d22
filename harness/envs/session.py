"""One Playwright driver and one browser, kept across episodes. Each episode gets a fresh context: no cookie survives."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Callable
from typing import Any

import psutil
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

from harness.envs.call_stacks import make_call_stacks_cheap
from harness.envs.chromium import Chromium
from harness.envs.config import BrowserConfig
from harness.errors import EnvError, first_line

# Chromium must neither phone home (a closed network refuses it, an open one makes results differ) nor throttle
# background tabs; overlay scrollbars are off because screenshots do not show them (as in BrowserGym).
ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--disable-features=OverlayScrollbars,ExtendedOverlayScrollbars,Translate,OptimizationHints,MediaRouter",
)


class BrowserSession:
    """Owns the browser of a worker. `context()` starts or recycles it as needed; not thread-safe, one per process."""

    def __init__(self, config: BrowserConfig, chromium: Chromium, on_driver_death: Callable[[], None] | None = None) -> None:
        """`on_driver_death` is called in a thread when Playwright's driver process dies by itself (Linux only): the sync API
        then spins for ever inside the call that it is in, so that nothing else gets to know."""
        self.config = config
        self.chromium = chromium
        self._on_driver_death = on_driver_death
        self._driver: Any = None
        self._browser: Any = None
        self._contexts_opened = 0

    def context(self, options: dict[str, Any]) -> Any:
        """A new browser context. `options` are a task's own; what they leave open comes from the config."""
        if self._browser is not None and (not self._browser.is_connected() or self._contexts_opened >= self.config.recycle_every):
            self.restart()
        if self._browser is None:
            self._start()
        self._contexts_opened += 1
        defaults = {
            "viewport": {"width": self.config.viewport_width, "height": self.config.viewport_height},
            "device_scale_factor": self.config.device_scale_factor,
            "locale": self.config.locale,
            "timezone_id": self.config.timezone_id,
            "accept_downloads": True,
        }
        try:
            context = self._browser.new_context(**(defaults | options))
        except PlaywrightError as error:
            raise EnvError(f"the browser opens no context: {first_line(error)}", kind="browser_lost") from error
        context.set_default_timeout(self.config.action_timeout_seconds * 1000)
        context.set_default_navigation_timeout(self.config.navigation_timeout_seconds * 1000)
        return context

    def restart(self) -> None:
        """Close the browser; the next context starts another. The driver stays unless it died."""
        browser, self._browser = self._browser, None
        if browser is not None:
            try:
                browser.close()
            except Exception:  # noqa: BLE001  a dead driver raises plain Exceptions; what matters is that it is gone
                self._stop_driver()

    def close(self) -> None:
        self.restart()
        self._stop_driver()

    def _start(self) -> None:
        try:
            if self._driver is None:
                self._start_driver()
            self._browser = self._driver.chromium.launch(
                executable_path=self.chromium.path,
                args=list(ARGUMENTS),
                ignore_default_args=["--hide-scrollbars"],
                handle_sigint=False,  # Ctrl-C is the parent's business
            )
        except PlaywrightError as error:
            raise EnvError(f"{self.chromium.path} does not start: {first_line(error)}", kind="browser_start") from error
        self._contexts_opened = 0

    def _start_driver(self) -> None:
        make_call_stacks_cheap()
        before = set(psutil.Process().children())
        self._driver = sync_playwright().start()
        if self._on_driver_death is None:
            return
        for process in set(psutil.Process().children()) - before:
            with contextlib.suppress(OSError, AttributeError):  # no pidfd here: the clock of the step ends it, later
                watch = (os.pidfd_open(process.pid), self._driver, self._on_driver_death)
                threading.Thread(target=self._wait_for_death, args=watch, daemon=True).start()

    def _wait_for_death(self, process: int, driver: Any, tell: Callable[[], None]) -> None:
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.poll()
        os.close(process)
        if self._driver is driver:
            tell()

    def _stop_driver(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            try:
                driver.stop()
            except Exception:  # noqa: BLE001  see restart()
                return
