"""Page → Observation: mark, read Chrome's accessibility tree, unmark, photograph."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Coroutine, Iterator
from typing import Any, NamedTuple

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from harness.envs.axtext import AxText, axtree_text
from harness.envs.config import BrowserConfig
from harness.envs.marking import BID_ATTRIBUTE, keep_if_same, mark, pop_bid, unmark
from harness.envs.pages import MAX_TITLE, Pages
from harness.errors import EnvError, first_line
from harness.types import ChatMessage, Observation, OpenPage

MAX_TRIES = 5
LAST_TRIES = 2
"""In these a page that navigated away from all others is held still, else it could not be read at all."""
SCRIPTS_OFF_MS = 100
"""For a navigation that has begun already to come to its end."""
SCREENSHOT_SECONDS = 3.0
NO_SCREENSHOT = f"no screenshot within {SCREENSHOT_SECONDS:g} s"

# What Playwright and Chrome say when a page moved under our feet; looking again is right, failing is not.
_TRANSIENT = (
    "was detached",
    "been detached",
    "with the given frameId is not found",
    "context was destroyed",
    "because of a navigation",
    "Cannot find context",
    "Cannot read properties of",
    "No node with given id",
    "Not attached to an active page",
    "Target closed",
    "has been closed",
    NO_SCREENSHOT,
)


class Look(NamedTuple):
    """What was seen of a page, and the state it was in (marking.Marked; empty if that cannot be told)."""

    page: Any
    version: str
    url: str
    title: str
    tree: AxText
    focused: str
    dropped: int
    screenshot: bytes | None
    open_pages: tuple[OpenPage, ...]
    active_index: int

    def still_true(self, pages: Pages) -> bool:
        """Would another look see the same? Then this one is kept."""
        if not self.version or pages.active is not self.page or self.page.url != self.url or pages.count != len(self.open_pages):
            return False
        try:
            return keep_if_same(self.page, self.version)
        except PlaywrightError:  # it is navigating
            return False

    def observation(self, *, last_action_error: str, chat_messages: tuple[ChatMessage, ...], slow: bool) -> Observation:
        return Observation(
            url=self.url,
            title=self.title,
            axtree=self.tree.text,
            open_pages=self.open_pages,
            active_page_index=self.active_index,
            focused_bid=self.focused,
            last_action_error=last_action_error,
            chat_messages=chat_messages,
            screenshot=self.screenshot,
            slow=slow,
            total_nodes=self.tree.lines + self.dropped,
            truncated=self.dropped > 0,
            dropped_nodes=self.dropped,
        )


def look(pages: Pages, config: BrowserConfig) -> Look:
    """What the agent sees of the active page. Raises EnvError if the page cannot be read after `MAX_TRIES` tries."""
    for tries_left in reversed(range(MAX_TRIES)):
        if not tries_left:
            config = config.model_copy(update={"screenshots": "none"})  # better than no observation at all
        try:
            with _scripts_off(pages) if tries_left < LAST_TRIES else contextlib.nullcontext():
                seen = _look_once(pages, config)
            assert seen is not None
            return seen
        except PlaywrightError as error:
            if not tries_left or not _is_transient(error):
                raise EnvError(f"cannot read the page: {first_line(error)}", kind="observation_failed") from error
            pages.active.wait_for_timeout(100 * (MAX_TRIES - tries_left))
    raise AssertionError("unreachable: the last try returns or raises")


def glance(pages: Pages, config: BrowserConfig) -> Look | None:
    """A look at a page that may not have settled, worth keeping if it is `still_true` afterwards: waiting and looking then
    happen side by side. None where it would be a waste."""
    try:
        return None if pages.busy() else _look_once(pages, config, only_if_watched=True)
    except PlaywrightError:  # the look after settling will tell
        return None


def _is_transient(error: PlaywrightError) -> bool:
    return any(words in str(error) for words in _TRANSIENT)


@contextlib.contextmanager
def _scripts_off(pages: Pages) -> Iterator[None]:
    """No script of the page runs meanwhile, no timer of it fires; ours still run."""
    page = pages.active
    pages.cdp(page).send("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.wait_for_timeout(SCRIPTS_OFF_MS)
        page.wait_for_load_state("domcontentloaded")
        yield
    finally:
        with contextlib.suppress(PlaywrightError):
            pages.cdp(page).send("Emulation.setScriptExecutionDisabled", {"value": False})


def _look_once(pages: Pages, config: BrowserConfig, *, only_if_watched: bool = False) -> Look | None:
    page = pages.active
    marked = mark(page, config.max_elements)
    kept = False
    try:
        if only_if_watched and not marked.version:
            return None
        nodes = _merged_nodes(pages.cdp(page), single_frame=len(page.frames) == 1)
        clickable = _clickable(pages.cdp(page)) if config.clickable else frozenset()
        kept = not only_if_watched
    finally:
        focused, title = unmark(page, kept=kept)
    for node in nodes:
        if bid := pop_bid(node):
            node["browsergym_id"] = bid
    title = title[:MAX_TITLE]
    screenshot = None if config.screenshots == "none" else _screenshot(pages, page)
    open_pages, active_index = pages.listing(page, title)
    tree = axtree_text(nodes, clickable)
    return Look(page, marked.version, page.url, title, tree, focused, marked.dropped, screenshot, open_pages, active_index)


def _merged_nodes(cdp: Any, *, single_frame: bool) -> list[dict[str, Any]]:
    """AXNodes of all frames in one list, each frame's root hung below its Iframe node (as BrowserGym merges them)."""
    if single_frame:
        return _full_tree(cdp, {})
    trees = {frame_id: _full_tree(cdp, {"frameId": frame_id}) for frame_id in _frame_ids(cdp)}
    merged: list[dict[str, Any]] = []
    for nodes in trees.values():
        for node in nodes:
            if node.get("role", {}).get("value") != "Iframe" or "backendDOMNodeId" not in node:
                continue
            described = cdp.send("DOM.describeNode", {"backendNodeId": node["backendDOMNodeId"]})
            inner = trees.get(described.get("node", {}).get("frameId", ""))
            if inner:
                node["childIds"] = [*node.get("childIds", ()), inner[0]["nodeId"]]
        merged.extend(nodes)
    return merged


def _full_tree(cdp: Any, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """Chrome's answer as it came. Playwright's public call walks all of it again, for its own objects, of which there are none:
    a third of the time on a large page."""
    nodes: list[dict[str, Any]] = cdp._sync(cdp._impl_obj.send("Accessibility.getFullAXTree", parameters))["nodes"]
    return nodes


def _clickable(cdp: Any) -> frozenset[str]:
    """Bids of elements with a click handler of their own, as Chrome's DOM snapshot tells them."""
    snapshot = cdp.send("DOMSnapshot.captureSnapshot", {"computedStyles": []})
    strings: list[str] = snapshot["strings"]
    found: set[str] = set()
    for document in snapshot["documents"]:
        attributes = document["nodes"]["attributes"]
        for index in document["nodes"]["isClickable"]["index"]:
            pairs = zip(attributes[index][::2], attributes[index][1::2], strict=False)
            found.update(strings[value] for name, value in pairs if strings[name] == BID_ATTRIBUTE)
    return frozenset(found)


def _frame_ids(cdp: Any) -> list[str]:
    """Frame ids, the main frame first. Frames of other processes are not listed; they stay opaque, as in BrowserGym."""
    found, stack = [], [cdp.send("Page.getFrameTree")["frameTree"]]
    while stack:
        frame = stack.pop()
        found.append(frame["frame"]["id"])
        stack.extend(frame.get("childFrames", ()))
    return found


def _screenshot(pages: Pages, page: Any) -> bytes:
    """PNG of the viewport, straight from DevTools: Playwright's own waits for fonts and hides the caret, BrowserGym's resets the
    device metrics, after which Chromium 156 keeps an 800×600 window."""
    cdp = pages.cdp(page)
    call = cdp._impl_obj.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
    answer = cdp._sync(_answer_within(SCREENSHOT_SECONDS, call))  # Playwright's public call has no timeout
    if answer is None:  # Chromium sometimes never answers on a page that navigates
        pages.forget_cdp(page)
        raise PlaywrightTimeoutError(NO_SCREENSHOT)
    return base64.b64decode(answer["data"])


async def _answer_within(seconds: float, call: Coroutine[Any, Any, Any]) -> Any:
    task = asyncio.create_task(call)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if done:
        return task.result()
    task.add_done_callback(lambda late: late.cancelled() or late.exception())  # asked for, or asyncio complains
    return None
