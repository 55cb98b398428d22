"""The observation of a foretold page: made of o_t and of what was foretold, of nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from harness.axtree import Tree
from harness.predictions import WorldModelQuery
from harness.types import Observation, OpenPage


def observed(
    query: WorldModelQuery,
    tree: Tree,
    *,
    url: str,
    title: str,
    open_pages: Sequence[OpenPage] | None = None,
    active: int | None = None,
) -> Observation:
    """The page `tree` at `url`. Tabs are those of o_t, with this page in the active one, unless they are given."""
    now = query.observation
    pages = list(now.open_pages if open_pages is None else open_pages)
    index = now.active_page_index if active is None else active
    if index < len(pages):
        pages[index] = OpenPage(url=url, title=title)
    changed = {
        "url": url,
        "title": title,
        "axtree": tree.to_text(),
        "open_pages": tuple(pages),
        "active_page_index": index,
        "focused_bid": next((node.bid for node in reversed(tree.nodes) if node.bid and node.get("focused") is True), ""),
        "total_nodes": len(tree),
    }
    return unchanged(query).model_copy(update=changed)


def unchanged(query: WorldModelQuery) -> Observation:
    """o_t again, without what belongs to the moment at which it was recorded."""
    moment = {"last_action_error": "", "screenshot_ref": "", "screenshot": None, "slow": False}
    return query.observation.model_copy(update={**moment, "truncated": False, "dropped_nodes": 0})
