"""Navigation in the `edits` spelling: which page opens, named instead of written out.

    open ROUTE "title" ~2       a page that the memory holds, or one of its kind; `~2` stands for the last two
                               parts of the present title (` | Lantern & Loom - Things`); parts of ROUTE that nobody can
                               know are `*` and `N`
    keep ROUTE "title" ~2       the address changes and the present page stays, but for the edits that follow
    back                       the page before the present one, from the episode's history
    tab K | tab new | tab close    before one of these, or alone: the K-th tab (from 0) is now in front

Lines after the first are edits of that page. What is known without the model is done without it:

    the focus                  starts at the page itself
    an unknown kind of page    only what the nearest known page shares with the present one is shown
    a page of the same kind    the remembered title and query values are replaced by the new ones wherever they stand
    header and navigation      keep the present page's texts (basket total, who is logged in)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from harness.axtree import Node, Tree, match
from harness.predictions import WorldModelQuery
from harness.types import Observation
from training.world_model.memory import Found, PageMemory
from training.world_model.memory.addresses import pattern, route, shelf, slug
from training.world_model.memory.trees import page_tree

SEPARATORS: Final = (" | ", " - ", " – ", " — ", " · ", " :: ")
_SEPARATOR = re.compile("|".join(map(re.escape, SEPARATORS)))
MIN_SWAP_CHARS: Final = 3
SHARED_ROLES: Final = frozenset({"banner", "navigation", "contentinfo"})
"""Landmarks that pages of one site share."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A page as it opens, before edits."""

    tree: Tree
    url: str
    title: str
    found: Found | None


def tail_of(title: str, other: str) -> str:
    """The longest common ending of two titles that starts with a separator; empty if none."""
    best = ""
    for separator in SEPARATORS:
        position = title.find(separator)
        while position >= 0:
            tail = title[position:]
            if other.endswith(tail) and len(tail) > len(best):
                best = tail
            position = title.find(separator, position + 1)
    return best


def parts_of(tail: str) -> int:
    """How many parts a tail has: each begins with a separator."""
    return len(_SEPARATOR.findall(tail))


def last_parts(title: str, count: int) -> str:
    """The last `count` parts of a title with their separators; fewer where it has fewer."""
    starts = [match.start() for match in _SEPARATOR.finditer(title)]
    return title[starts[-count:][0] :] if starts else ""


def abstract(path: str) -> str:
    """A route whose path is a pattern and whose query is kept: what a model is asked to know of an address."""
    head, mark, query = path.partition("?")
    head, _, fragment = head.partition("#")
    return pattern(head) + mark + query + (f"#{fragment}" if fragment else "")


def open_page(query: WorldModelQuery, memory: PageMemory, address: str, title: str, before: Tree) -> Opened | None:
    """The page that `address` (a route, a pattern of one, `//host/route`, a URL) opens; None if nothing is like it."""
    now = query.observation
    known = [step.observation for step in query.history if step.observation.axtree] + [now]
    url = _absolute(address, now, known)
    found = memory.with_history(known, query.site).lookup(query.site, url, title)
    if found is None:
        return None
    page = found.page
    place = shelf(url, query.site)
    exact = found.kind in ("exact", "title")
    final = page.route + _fragment(route(url)) if exact else concrete(route(url), title)
    tree = _unfocused(page_tree(page.axtree))
    if not exact:
        tree = frame_of(tree, before) if found.kind == "frame" else tree
        tree = _swapped(tree, _swaps(page.title, title, page.route, final))
    tree = titled(tree, title)
    if place == shelf(now.url, query.site):
        tree = with_shared_parts(tree, before)
    return Opened(tree, _join(url, final), title, found)


def _fragment(path: str) -> str:
    _, mark, fragment = path.partition("#")
    return mark + fragment


def kept_url(query: WorldModelQuery, address: str, title: str) -> str:
    """The URL of `address` where no remembered page tells the parts that a pattern leaves open."""
    known = [step.observation for step in query.history] + [query.observation]
    url = _absolute(address, query.observation, known)
    return _join(url, concrete(route(url), title)) if address.startswith("/") else url


def concrete(path: str, title: str) -> str:
    """A route for a page that was never seen: slugs made from the title, numbers 0."""
    head, mark, query = path.partition("?")
    name = slug(_SEPARATOR.split(title, maxsplit=1)[0]) or "page"
    parts = [{"*": name, "N": "0", "*_N": f"{name}_0"}.get(part, part) for part in head.split("/")]
    return "/".join(parts) + mark + query


def frame_of(tree: Tree, before: Tree) -> Tree:
    """What `tree` shares with `before`, with the nodes around it: nothing is claimed about a page that was never seen."""
    known = {(node.role, node.name) for node in before.nodes if node.name}
    kept = [False] * len(tree)
    for index in range(len(tree) - 1, -1, -1):
        shared = (tree.nodes[index].role, tree.nodes[index].name) in known
        kept[index] = index == 0 or shared or any(kept[child] for child in tree.children[index])
    place = {-1: -1}
    parents: list[int] = []
    for index, parent in enumerate(tree.parents):
        if kept[index]:
            place[index] = len(parents)
            parents.append(place[parent])
    return Tree(tuple(node for index, node in enumerate(tree.nodes) if kept[index]), tuple(parents))


def with_shared_parts(tree: Tree, before: Tree) -> Tree:
    """`tree` with the names and values that `before` has in the header, navigation and footer that both share."""
    matching = match(before, tree)
    shared = _below_landmarks(tree)
    nodes = list(tree.nodes)
    for i, j in enumerate(matching.b_of):
        if j in shared and before.nodes[i][:2] != nodes[j][:2]:
            nodes[j] = nodes[j]._replace(name=before.nodes[i].name)
    return Tree(tuple(nodes), tree.parents)


def _below_landmarks(tree: Tree) -> set[int]:
    found: set[int] = set()
    for index, node in enumerate(tree.nodes):
        if node.role in SHARED_ROLES and node.name != "breadcrumb":
            found.update(range(index, tree.ends[index]))
    return found


def _unfocused(tree: Tree) -> Tree:
    nodes = [
        node._replace(properties=tuple(item for item in node.properties if item[0] != "focused")) if index else node
        for index, node in enumerate(tree.nodes)
    ]
    return Tree(tuple(nodes), tree.parents)


def titled(tree: Tree, title: str) -> Tree:
    if not tree.nodes or tree.nodes[0].role != "RootWebArea" or not title:
        return tree
    return Tree((tree.nodes[0]._replace(name=" ".join(title.split())), *tree.nodes[1:]), tree.parents)


def _swaps(old_title: str, new_title: str, old_route: str, new_route: str) -> dict[str, str]:
    """Texts of a page of the same kind that stand for this one: what the titles do not share, and query values."""
    tail = tail_of(old_title, new_title)
    pairs = [(old_title.removesuffix(tail), new_title.removesuffix(tail))]
    one, other = pairs[0]
    for separator in SEPARATORS:
        if separator in one and separator in other and one.count(separator) == other.count(separator):
            pairs.extend(zip(one.split(separator), other.split(separator), strict=True))
    old_values = dict(parse_qsl(urlsplit(old_route).query))
    new_values = dict(parse_qsl(urlsplit(new_route).query))
    pairs.extend((value, new_values[key]) for key, value in old_values.items() if key in new_values)
    return {old.strip(): new.strip() for old, new in pairs if len(old.strip()) >= MIN_SWAP_CHARS and old != new}


def _swapped(tree: Tree, swaps: dict[str, str]) -> Tree:
    if not swaps:
        return tree
    long_first = sorted(swaps, key=len, reverse=True)
    found = re.compile("|".join(rf"(?<!\w){re.escape(text)}(?!\w)" for text in long_first))

    def swap(text: str) -> str:
        return found.sub(lambda hit: swaps[hit[0]], text)

    nodes = [
        Node(
            node.role, swap(node.name), node.bid, swap(node.value) if isinstance(node.value, str) else node.value, node.properties
        )
        for node in tree.nodes
    ]
    return Tree(tuple(nodes), tree.parents)


def _absolute(address: str, now: Observation, known: Sequence[Observation]) -> str:
    if address.startswith("//"):
        host, _, rest = address[2:].partition("/")
        pages = [*(page.url for page in now.open_pages), *(page.url for page in known)]
        origin = next((_origin(url) for url in pages if shelf(url) == host), f"http://{host}")
        return f"{origin}/{rest}"
    if address.startswith("/"):
        return _origin(now.url) + address
    return address


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


def _join(url: str, path: str) -> str:
    return _origin(url) + path if path.startswith("/") else path
