"""Action → page. Every action of BrowserGym's high-level space, with our timeouts and a reason for every failure.

BrowserGym compiles the action text to Python and `exec`s it with fixed 500 ms timeouts. Here an action is data: a name looked
up in a table. Coordinates are CSS pixels of the viewport, which is also the size of our screenshots at scale 1.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Error as PlaywrightError

from harness.actions import error_kind, full_arguments
from harness.envs.config import BrowserConfig
from harness.envs.locate import ActionFailed, explain, find_element
from harness.envs.pages import Pages
from harness.types import INVALID_ACTION, Action, ActionError, JsonDict

MAX_NOOP_MS = 10_000
_SCHEMES = ("http", "https")


class ActionExecutor:
    """Executes actions on the active page. Messages to the user are collected by `BrowserEnv`, not here."""

    def __init__(self, pages: Pages, config: BrowserConfig) -> None:
        self._pages = pages
        self._upload_root = Path(config.upload_root).resolve() if config.upload_root else None
        self._timeout = config.action_timeout_seconds * 1000
        self._navigation_timeout = config.navigation_timeout_seconds * 1000

    def execute(self, action: Action) -> ActionError | None:
        """None if the action was carried out. Never raises for a failed action; a broken browser still raises EnvError."""
        if action.name == INVALID_ACTION:
            return ActionError(kind=error_kind(action) or "parse", message=action.error or "no action could be read")
        perform = _TABLE.get(action.name)
        if perform is None:
            return ActionError(kind="unknown_action", message=f"there is no action {action.name!r}")
        try:
            perform(self, full_arguments(action))
        except ActionFailed as failure:
            return failure.error
        except PlaywrightError as error:
            return explain(error, str(action.arguments.get("bid", "")))
        except (KeyError, TypeError, ValueError) as error:
            return ActionError(kind="bad_argument", message=f"{action.name}: {type(error).__name__}: {error}"[:200])
        return None

    # ------------------------------------------------------------------ elements

    def _element(self, arguments: JsonDict, parameter: str = "bid") -> Any:
        return find_element(self._pages.active, str(arguments[parameter]))

    def _click(self, a: JsonDict) -> None:
        self._element(a).click(button=a["button"], modifiers=a["modifiers"], timeout=self._timeout)

    def _dblclick(self, a: JsonDict) -> None:
        self._element(a).dblclick(button=a["button"], modifiers=a["modifiers"], timeout=self._timeout)

    def _fill(self, a: JsonDict) -> None:
        element, value = self._element(a), str(a["value"])
        if a["enable_autocomplete_menu"]:  # all but the last character at once, the last as a key press: menus listen to keys
            element.fill(value[:-1], timeout=self._timeout)
            element.type(value[-1:], timeout=self._timeout)
        else:
            element.fill(value, timeout=self._timeout)

    def _type(self, a: JsonDict) -> None:
        """Ours (WebArena's `type`): fill, then Enter if `press_enter`."""
        element = self._element(a)
        element.fill(str(a["text"]), timeout=self._timeout)
        if a["press_enter"]:
            element.press("Enter", timeout=self._timeout)

    def _drag_and_drop(self, a: JsonDict) -> None:
        source, target = self._element(a, "from_bid"), self._element(a, "to_bid")
        mouse = self._pages.active.mouse
        source.hover(timeout=self._timeout)
        mouse.down()
        try:
            target.hover(timeout=self._timeout)
        finally:
            mouse.up()

    def _upload(self, a: JsonDict) -> None:
        files = self._allowed_files(a["file"])
        page = self._pages.active
        with page.expect_file_chooser(timeout=self._timeout) as chooser:
            if "bid" in a:
                self._element(a).click(timeout=self._timeout)
            else:
                page.mouse.click(_number(a, "x"), _number(a, "y"))
        chooser.value.set_files(files)

    def _allowed_files(self, named: Any) -> list[str]:
        """A model must not be able to send any file of this machine to a web page."""
        if self._upload_root is None:
            raise ActionFailed("blocked_by_policy", "file uploads are off (set [browser] upload_root)")
        names = named if isinstance(named, list) else [named]
        paths = [(self._upload_root / str(name)).resolve() for name in names]
        if not all(path.is_relative_to(self._upload_root) and path.is_file() for path in paths):
            raise ActionFailed("blocked_by_policy", "only files below [browser] upload_root can be uploaded")
        return [str(path) for path in paths]

    # ------------------------------------------------------------------ pages

    def _goto(self, a: JsonDict) -> None:
        page, url = self._pages.active, str(a["url"])
        scheme = urlsplit(url).scheme
        if url != "about:blank" and scheme not in _SCHEMES and not _same_folder(page.url, url):
            raise ActionFailed("blocked_by_policy", f"only http and https pages can be opened, not {scheme or url!r}")
        page.goto(url, timeout=self._navigation_timeout, wait_until="domcontentloaded")

    def _history(self, step: str) -> None:
        page = self._pages.active
        move = page.go_back if step == "back" else page.go_forward
        if move(timeout=self._navigation_timeout, wait_until="domcontentloaded") is None and page.url == "about:blank":
            raise ActionFailed("navigation", f"there is no page to go {step} to")

    def _tab_focus(self, a: JsonDict) -> None:
        pages, index = self._pages.active.context.pages, int(_number(a, "index"))
        if not 0 <= index < len(pages):
            raise ActionFailed("bad_argument", f"there is no tab {index}; {len(pages)} are open")
        self._pages.focus(pages[index])

    def _new_tab(self) -> None:
        self._pages.active.context.new_page()

    def _press_key(self, element: Any, key: str) -> None:
        element.press(key, timeout=self._timeout)

    def _mouse(self, a: JsonDict, method: str) -> None:
        mouse, x, y = self._pages.active.mouse, _number(a, "x"), _number(a, "y")
        if method in ("click", "dblclick"):
            getattr(mouse, method)(x, y, button=a["button"])
            return
        mouse.move(x, y)
        if method != "move":
            getattr(mouse, method)(button=a["button"])

    def _mouse_drag(self, a: JsonDict) -> None:
        mouse = self._pages.active.mouse
        mouse.move(_number(a, "from_x"), _number(a, "from_y"))
        mouse.down()
        try:
            mouse.move(_number(a, "to_x"), _number(a, "to_y"))
        finally:
            mouse.up()

    def _scroll_at(self, a: JsonDict) -> None:
        mouse = self._pages.active.mouse
        mouse.move(_number(a, "x"), _number(a, "y"))
        mouse.wheel(_number(a, "dx"), _number(a, "dy"))

    def _noop(self, a: JsonDict) -> None:
        self._pages.active.wait_for_timeout(min(max(_number(a, "wait_ms"), 0.0), MAX_NOOP_MS))


def _number(arguments: JsonDict, name: str) -> float:
    value = arguments[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number, not {value!r}")
    return float(value)


def _same_folder(current: str, wanted: str) -> bool:
    """MiniWoB++ pages are files: a task may move within its own folder, and nowhere else on this disk."""
    if not (current.startswith("file://") and wanted.startswith("file://")) or ".." in wanted or "%" in wanted:
        return False
    return wanted.rpartition("/")[0] == current.partition("?")[0].partition("#")[0].rpartition("/")[0]


_TABLE: dict[str, Callable[[ActionExecutor, JsonDict], object]] = {
    "noop": ActionExecutor._noop,
    "send_msg_to_user": lambda _self, _a: None,
    "report_infeasible": lambda _self, _a: None,
    "click": ActionExecutor._click,
    "dblclick": ActionExecutor._dblclick,
    "hover": lambda self, a: self._element(a).hover(timeout=self._timeout),
    "fill": ActionExecutor._fill,
    "type": ActionExecutor._type,
    "clear": lambda self, a: self._element(a).fill("", timeout=self._timeout),
    "focus": lambda self, a: self._element(a).focus(),
    "press": lambda self, a: self._press_key(self._element(a), str(a["key_comb"])),
    "check": lambda self, a: self._element(a).check(timeout=self._timeout),
    "uncheck": lambda self, a: self._element(a).uncheck(timeout=self._timeout),
    "select_option": lambda self, a: self._element(a).select_option(a["options"], timeout=self._timeout),
    "drag_and_drop": ActionExecutor._drag_and_drop,
    "upload_file": ActionExecutor._upload,
    "mouse_upload_file": ActionExecutor._upload,
    "scroll": lambda self, a: self._pages.active.mouse.wheel(_number(a, "delta_x"), _number(a, "delta_y")),
    "scroll_at": ActionExecutor._scroll_at,
    "mouse_move": lambda self, a: self._mouse(a, "move"),
    "mouse_down": lambda self, a: self._mouse(a, "down"),
    "mouse_up": lambda self, a: self._mouse(a, "up"),
    "mouse_click": lambda self, a: self._mouse(a, "click"),
    "mouse_dblclick": lambda self, a: self._mouse(a, "dblclick"),
    "mouse_drag_and_drop": ActionExecutor._mouse_drag,
    "keyboard_press": lambda self, a: self._pages.active.keyboard.press(str(a["key"])),
    "keyboard_down": lambda self, a: self._pages.active.keyboard.down(str(a["key"])),
    "keyboard_up": lambda self, a: self._pages.active.keyboard.up(str(a["key"])),
    "keyboard_type": lambda self, a: self._pages.active.keyboard.type(str(a["text"])),
    "keyboard_insert_text": lambda self, a: self._pages.active.keyboard.insert_text(str(a["text"])),
    "goto": ActionExecutor._goto,
    "go_back": lambda self, _a: self._history("back"),
    "go_forward": lambda self, _a: self._history("forward"),
    "new_tab": lambda self, _a: self._new_tab(),
    "tab_close": lambda self, _a: self._pages.active.close(),
    "tab_focus": ActionExecutor._tab_focus,
}
EXECUTABLE = frozenset(_TABLE)
