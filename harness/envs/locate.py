"""bid → element of the active page, through frames; or an ActionError that says why there is none."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Error as PlaywrightError

from harness.envs.marking import BID_ATTRIBUTE
from harness.types import ActionError, ActionErrorKind

_BID = re.compile(r"(?:[a-z][A-Z]*)*[0-9]+|(?:[a-z][A-Z]*)+")
_SEVERAL = re.compile(r"strict mode violation.* resolved to (\d+) elements")
_FRAME_STEP = re.compile(r"[a-z][A-Z]*")


class ActionFailed(Exception):
    """An action had no effect, for a reason worth counting. Not a HarnessError: the episode goes on."""

    def __init__(self, kind: ActionErrorKind, message: str) -> None:
        super().__init__(message)
        self.error = ActionError(kind=kind, message=message)


def find_element(page: Any, bid: str) -> Any:
    """The element handle. Raises ActionFailed: bad_argument (not a bid), stale (not on this page), ambiguous (copies of it)."""
    if not _BID.fullmatch(bid):
        raise ActionFailed("bad_argument", f"{bid!r} is not a bid")
    frame = page.main_frame
    prefix = ""
    for step in _FRAME_STEP.findall(bid):
        prefix += step
        if prefix == bid:
            break  # the frame element itself is meant
        inner = _only(frame, prefix).content_frame()
        if inner is None:
            raise ActionFailed("stale", f'the frame of element "{bid}" is gone')
        frame = inner
    return _only(frame, bid)


def _only(frame: Any, bid: str) -> Any:
    try:
        found = frame.query_selector(f'[{BID_ATTRIBUTE}="{bid}"]', strict=True)
    except PlaywrightError as error:
        if several := _SEVERAL.search(str(error)):
            message = f'{several.group(1)} elements share bid "{bid}" (the page copied them)'
            raise ActionFailed("ambiguous", message) from None
        raise
    if found is None:
        raise ActionFailed("stale", f'no element with bid "{bid}" on this page')
    return found


# What Playwright's call log says while it waits for an element to become actionable; the last match is the reason.
_REASONS: tuple[tuple[str, ActionErrorKind, str], ...] = (
    ("intercepts pointer events", "covered", "is covered by another element"),
    ("element is not enabled", "disabled", "is disabled"),
    ("element is not visible", "hidden", "is not visible"),
    ("outside of the viewport", "hidden", "is outside of the viewport and cannot be scrolled into it"),
    ("element is not editable", "not_editable", "is not editable"),
    ("did not find some options", "no_option", "has no such option"),
    ("element is not stable", "timeout", "keeps moving"),
    ("not attached to the DOM", "stale", "was removed from the page"),
)
_IMMEDIATE: tuple[tuple[str, ActionErrorKind], ...] = (
    ("is not an <input>, <textarea>", "not_editable"),
    ("cannot be filled", "not_editable"),
    ("Cannot type text into", "not_editable"),
    ("Malformed value", "bad_argument"),
    ("Not a checkbox or radio button", "bad_argument"),
    ("not a <select> element", "bad_argument"),
    ("Clicking the checkbox did not change its state", "other"),
    ("Unknown key", "bad_argument"),
    ("not attached to the DOM", "stale"),
    ("has been closed", "page_closed"),
    ("Target closed", "page_closed"),
    ("net::ERR", "navigation"),
    ("Cannot navigate to invalid URL", "bad_argument"),
)


def explain(error: PlaywrightError, bid: str = "") -> ActionError:
    """Playwright's error as a countable reason with a one-line message."""
    text = str(error)
    what = f'element "{bid}"' if bid else "the page"
    if "Timeout" in text:
        last = max(((text.rfind(words), kind, phrase) for words, kind, phrase in _REASONS), key=lambda found: found[0])
        if last[0] >= 0:
            return ActionError(kind=last[1], message=f"{what} {last[2]}")
        return ActionError(kind="timeout", message=f"{what} did not become ready in time")
    for words, kind in _IMMEDIATE:
        if words in text:
            return ActionError(kind=kind, message=f"{what}: {_first_line(text)}")
    return ActionError(kind="other", message=f"{what}: {_first_line(text)}")


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]
