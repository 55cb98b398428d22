"""Page → Observation: mark, read Chrome's accessibility tree, unmark, photograph."""

from __future__ import annotations

import base64
from typing import Any

from playwright.sync_api import Error as PlaywrightError

from harness.envs.axtext import AxText, axtree_text
from harness.envs.config import BrowserConfig
from harness.envs.marking import BID_ATTRIBUTE, mark, pop_bid, unmark
from harness.envs.pages import Pages, title_of
from harness.errors import EnvError, first_line
from harness.types import ChatMessage, Observation

MAX_TRIES = 8

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
    "Target closed",
    "has been closed",
)


def observe(
    pages: Pages,
    config: BrowserConfig,
    *,
    last_action_error: str = "",
    chat_messages: tuple[ChatMessage, ...] = (),
    slow: bool = False,
    screenshot: bool = True,
) -> Observation:
    """What the agent sees of the active page. Raises EnvError if the page cannot be read after `MAX_TRIES` tries."""
    for tries_left in reversed(range(MAX_TRIES)):
        page = pages.active
        try:
            tree, focused, dropped = _axtree(pages, page, config)
            image = _screenshot(pages, page) if screenshot else None
            open_pages, active_index = pages.listing()
            return Observation(
                url=page.url,
                title=title_of(page),
                axtree=tree.text,
                open_pages=open_pages,
                active_page_index=active_index,
                focused_bid=focused,
                last_action_error=last_action_error,
                chat_messages=chat_messages,
                screenshot=image,
                slow=slow,
                total_nodes=tree.lines + dropped,
                truncated=dropped > 0,
                dropped_nodes=dropped,
            )
        except PlaywrightError as error:
            if not tries_left or not any(words in str(error) for words in _TRANSIENT):
                raise EnvError(f"cannot read the page: {first_line(error)}", kind="observation_failed") from error
            pages.active.wait_for_timeout(100 * (MAX_TRIES - tries_left))
    raise AssertionError("unreachable: the last try returns or raises")


def _axtree(pages: Pages, page: Any, config: BrowserConfig) -> tuple[AxText, str, int]:
    """(tree, bid of the focused element, elements left out)."""
    dropped = mark(page, config.max_elements)
    try:
        nodes = _merged_nodes(pages.cdp(page), single_frame=len(page.frames) == 1)
        clickable = _clickable(pages.cdp(page)) if config.clickable else frozenset()
    finally:
        focused = unmark(page)
    for node in nodes:
        if bid := pop_bid(node):
            node["browsergym_id"] = bid
    return axtree_text(nodes, clickable), focused, dropped


def _merged_nodes(cdp: Any, *, single_frame: bool) -> list[dict[str, Any]]:
    """AXNodes of all frames in one list, each frame's root hung below its Iframe node (as BrowserGym merges them)."""
    if single_frame:
        nodes: list[dict[str, Any]] = cdp.send("Accessibility.getFullAXTree")["nodes"]
        return nodes
    trees = {frame_id: cdp.send("Accessibility.getFullAXTree", {"frameId": frame_id})["nodes"] for frame_id in _frame_ids(cdp)}
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
    answer = pages.cdp(page).send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
    return base64.b64decode(answer["data"])
