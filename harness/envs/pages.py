"""The open pages of one episode: which is active, which dialogs came up, what is still loading.

Playwright has no notion of an active page. Ours is: the page that an action opened or focused last; when it closes, the most
recent one that is still open; when none is left, a new blank page (as BrowserGym does).
"""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import Error as PlaywrightError

from harness.errors import EnvError, first_line
from harness.types import OpenPage

MAX_TITLE = 500
"""Characters of a title that are kept."""
OPENING_SECONDS = 1.0
"""How long a window that a page said it opens is waited for: a popup blocker, or a window of that name, brings none."""


class Pages:
    """Follows a browser context. Dialogs are dismissed (an alert must not block a page for ever) and kept in `dialogs`."""

    def __init__(self, context: Any, *, max_pages: int, max_dialogs: int) -> None:
        self._context = context
        self._max_pages = max_pages
        self._max_dialogs = max_dialogs
        self._history: list[Any] = []
        self._pending: set[Any] = set()
        self._sessions: dict[Any, Any] = {}
        self._opening: list[float] = []
        """`time.monotonic()` of each window that was announced and has not come."""
        self.last_request_end = 0.0
        """`time.monotonic()` of it, for any page."""
        self.dialogs: list[str] = []
        self.popups_closed = 0
        self.crashed = False
        context.on("page", self._on_page)
        context.on("request", self._on_request)
        context.on("requestfinished", self._on_request_end)
        context.on("requestfailed", self._on_request_end)

    # ---------------------------------------------------------------- events

    def _on_window_open(self, _event: Any) -> None:
        self._opening.append(time.monotonic())

    def _on_page(self, page: Any) -> None:
        del self._opening[:1]
        if len(self._history) >= self._max_pages:
            self.popups_closed += 1
            page.close()
            return
        self._history.append(page)
        page.on("dialog", self._on_dialog)
        page.on("close", self._on_close)
        page.on("crash", self._on_crash)

    def _on_request(self, request: Any) -> None:
        self._pending.add(request)

    def _on_request_end(self, request: Any) -> None:
        self._pending.discard(request)
        self.last_request_end = time.monotonic()

    def _on_close(self, page: Any) -> None:
        if page in self._history:
            self._history.remove(page)
        self._sessions.pop(page, None)
        self._pending = {request for request in self._pending if not _belongs(request, page)}

    def _on_crash(self, _page: Any) -> None:
        self.crashed = True

    def _on_dialog(self, dialog: Any) -> None:
        self.dialogs.append(f"{dialog.type}: {dialog.message[:200]}")
        if len(self.dialogs) > self._max_dialogs:
            dialog.page.close()  # an alert loop holds the page's only thread: nothing else ends it
        else:
            dialog.dismiss()

    # ---------------------------------------------------------------- state

    @property
    def active(self) -> Any:
        """The active page; opens a blank one if all were closed. Raises EnvError after a crash, an alert loop, a lost browser."""
        if self.crashed:
            raise EnvError("the page crashed", kind="page_crash")
        if len(self.dialogs) > self._max_dialogs:
            raise EnvError(f"more than {self._max_dialogs} dialogs: an alert loop", kind="alert_loop")
        while self._history and self._history[-1].is_closed():
            self._history.pop()
        if not self._history:
            try:
                self._context.new_page()
            except PlaywrightError as error:  # not the page but the browser is gone
                raise EnvError(f"the browser is gone: {first_line(error)}", kind="browser_lost") from error
        return self._history[-1]

    def focus(self, page: Any) -> None:
        self._history.remove(page)
        self._history.append(page)
        page.bring_to_front()

    def busy(self) -> bool:
        """Is a request of the active page in flight? Event streams and web sockets do not count: they never end."""
        return any(_belongs(r, self.active) and r.resource_type not in ("eventsource", "websocket") for r in self._pending)

    def opening(self) -> bool:
        """Has a page opened a window that is not here yet? It says so while it is clicked; on a busy machine the window itself
        comes after the page has been quiet, and would be missed."""
        now = time.monotonic()
        self._opening = [at for at in self._opening if now - at < OPENING_SECONDS]
        return bool(self._opening)

    def cdp(self, page: Any) -> Any:
        """One DevTools session per page: opening one costs as much as the call it is for. It also tells of windows."""
        if page not in self._sessions:
            session = self._sessions[page] = self._context.new_cdp_session(page)
            session.on("Page.windowOpen", self._on_window_open)
            session.send("Page.enable")
        return self._sessions[page]

    def forget_cdp(self, page: Any) -> None:
        """For a session that no longer answers."""
        self._sessions.pop(page, None)

    @property
    def count(self) -> int:
        """Open pages, for telling whether one came or went."""
        return len(self._open())

    def _open(self) -> list[Any]:
        return [page for page in self._context.pages if not page.is_closed()]

    def listing(self, active: Any, title: str) -> tuple[tuple[OpenPage, ...], int]:
        """(open pages in tab order, index of the active one). `title` is the active one's, known already."""
        pages = self._open()
        shown = tuple(OpenPage(url=page.url, title=title if page is active else _title_of(page)) for page in pages)
        return shown, (pages.index(active) if active in pages else 0)


def _title_of(page: Any) -> str:
    return str(page.title())[:MAX_TITLE]


def _belongs(request: Any, page: Any) -> bool:
    try:
        return bool(request.frame.page == page)
    except Exception:  # noqa: BLE001  Playwright raises plain Errors for requests of service workers and gone frames
        return False
